/* Runs gnuplot as a child: script on its standard input, picture from its standard output.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/output.h"
#include "kit/text/words.h"

void iwi_gnuplot_quote(FILE *script, const char *text)
{
    (void)fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'') { /* doubling it does not always work: two of them at a time end the string */
            (void)fputs("'.\"'\".'", script);
        } else {
            (void)fputc(*text == '\n' || *text == '\r' ? ' ' : *text, script);
        }
    }
    (void)fputc('\'', script);
}

/* ---- the child ---- */

/* What this process ignores is not ignored by the child too. */
static int restore_signals(posix_spawnattr_t *attributes)
{
    sigset_t restored;
    int error;

    (void)sigemptyset(&restored);
    (void)sigaddset(&restored, SIGPIPE);
    (void)sigaddset(&restored, SIGXFSZ);
    error = posix_spawnattr_setsigdefault(attributes, &restored);
    return error == 0 ? posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF) : error;
}

/* Starts it with `script` and `picture` as its standard input and output. Gives errno. */
static int start(FILE *script, int picture, pid_t *child_p)
{
    static char name[] = "gnuplot", without_start_files[] = "-d";
    char *const arguments[] = {name, without_start_files, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = restore_signals(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(child_p, name, &actions, &attributes, arguments, environ);
    }
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* All that comes out of the child. It comes by a pipe: gnuplot does not notice a full disk, we do. */
static iw_status copy(const iw_log *log, int picture, struct iwi_output *output)
{
    char block[1 << 16];
    ssize_t size;

    while ((size = read(picture, block, sizeof block)) > 0 || (size < 0 && errno == EINTR)) {
        if (size > 0) {
            IW_TRY(iwi_output_write(output, block, (size_t)size));
        }
    }
    return size == 0 ? IW_OK : iwi_fail(log, IW_ERR_IO, "cannot read from gnuplot: %s", strerror(errno));
}

static iw_status end(const iw_log *log, pid_t child, const char *path)
{
    int code = 0;

    while (waitpid(child, &code, 0) < 0) {
        if (errno != EINTR) {
            return iwi_fail(log, IW_ERR_IO, "cannot wait for gnuplot: %s", strerror(errno));
        }
    }
    if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot draw '%s': gnuplot failed", path);
    }
    return IW_OK;
}

static iw_status draw(const iw_log *log, FILE *script, struct iwi_output *output)
{
    int ends[2], error;
    iw_status status, ended;
    pid_t child = 0;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot run gnuplot: %s", strerror(errno));
    }
    error = start(script, ends[1], &child);
    (void)close(ends[1]);
    if (error != 0) {
        (void)close(ends[0]);
        return error == ENOENT
                   ? iwi_fail(log, IW_ERR_IO, "cannot draw '%s': there is no gnuplot; install gnuplot",
                              output->path)
                   : iwi_fail(log, IW_ERR_IO, "cannot run gnuplot: %s", strerror(error));
    }
    status = copy(log, ends[0], output);
    (void)close(ends[0]); /* after a failure, gnuplot ends by that */
    ended = end(status == IW_OK ? log : NULL, child, output->path);
    return status == IW_OK ? ended : status;
}

iw_status iwi_gnuplot_run(const iw_log *log, FILE *script, const char *path)
{
    struct iwi_output output;
    iw_status status;

    IW_TRY(iwi_check_written(log, script, "the script for gnuplot"));
    if (lseek(fileno(script), 0, SEEK_SET) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the script for gnuplot: %s", strerror(errno));
    }
    IW_TRY(iwi_output_open(log, path, IWI_OUTPUT_ANY, &output));
    status = draw(log, script, &output);
    if (status == IW_OK) {
        status = iwi_output_commit(&output);
    }
    iwi_output_release(&output);
    return status;
}
