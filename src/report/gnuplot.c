/* Runs gnuplot as a child: script on its standard input, picture from its standard output.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "report/report.h"

static const struct {
    const char *suffix, *terminal;
} terminals[] = {
    {".svg", "set terminal svg size 960,720 dynamic noenhanced background 'white' font 'sans,13'\n"},
    {".png", "set terminal pngcairo size 1440,1080 noenhanced background 'white' font 'sans,18'\n"},
    {".pdf", "set terminal pdfcairo size 20cm,15cm noenhanced font 'sans,10'\n"},
};

const char *iwi_gnuplot_terminal(const char *path)
{
    const char *suffix = strrchr(path, '.');

    for (size_t i = 0; suffix != NULL && i < sizeof terminals / sizeof terminals[0]; i++) {
        if (strcmp(suffix, terminals[i].suffix) == 0) {
            return terminals[i].terminal;
        }
    }
    return NULL;
}

void iwi_gnuplot_quote(FILE *script, const char *text)
{
    (void)fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputc('\'', script);
        }
        (void)fputc(*text == '\n' || *text == '\r' ? ' ' : *text, script);
    }
    (void)fputc('\'', script);
}

/* 0, or an errno; the child's exit status in *exit_p. */
static int run_child(FILE *script, FILE *picture, int *exit_p)
{
    static char name[] = "gnuplot";
    char *const arguments[] = {name, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(&child, name, &actions, NULL, arguments, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    while (error == 0 && waitpid(child, exit_p, 0) < 0) {
        error = errno == EINTR ? 0 : errno;
    }
    return error;
}

static iw_status draw(const iw_log *log, FILE *script, FILE *picture, const char *path)
{
    int code = 0;
    const int error = run_child(script, picture, &code);

    if (error == ENOENT) {
        return iwi_fail(log, IW_ERR_IO, "cannot draw '%s': there is no gnuplot; install gnuplot", path);
    }
    if (error != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot run gnuplot: %s", strerror(error));
    }
    if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot draw '%s': gnuplot failed", path);
    }
    return IW_OK;
}

static iw_status copy(const iw_log *log, FILE *picture, const char *path)
{
    FILE *out = fopen(path, "wbe");
    char block[1 << 16];
    bool is_good;
    size_t size;

    if (out == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create '%s': %s", path, strerror(errno));
    }
    rewind(picture);
    while ((size = fread(block, 1, sizeof block, picture)) > 0 && fwrite(block, 1, size, out) == size) {
    }
    is_good = !ferror(picture) && !ferror(out);
    if (fclose(out) != 0 || !is_good) {
        return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    }
    return IW_OK;
}

iw_status iwi_gnuplot_run(const iw_log *log, FILE *script, const char *path)
{
    FILE *picture;
    iw_status status;

    IW_TRY(iwi_check_written(log, script, "the script for gnuplot"));
    if (lseek(fileno(script), 0, SEEK_SET) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the script for gnuplot: %s", strerror(errno));
    }
    picture = tmpfile();
    if (picture == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create a temporary file: %s", strerror(errno));
    }
    status = draw(log, script, picture, path);
    if (status == IW_OK) {
        status = copy(log, picture, path);
    }
    (void)fclose(picture);
    return status;
}
