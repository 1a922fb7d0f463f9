/* Runs gnuplot as a child: script on its standard input, picture from its standard output.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
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
        return error == ENOENT ? iwi_fail(log, IW_ERR_IO, "cannot draw '%s': install gnuplot", output->path)
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

/* Folders of figures for papers: data and one script for gnuplot. */

/* Writes "DIR/NAME ENDING". */
static iw_status write_file(const iw_log *log, const char *dir, const char *name, const char *ending,
                            iw_write_fn write, void *arg)
{
    const size_t size = strlen(dir) + strlen(name) + strlen(ending) + 2;
    char *path = iwi_new_array(log, size, 1);
    iw_status status;

    if (path == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(path, size, "%s/%s%s", dir, name, ending);
    status = iw_write_file(log, path, write, arg);
    free(path);
    return status;
}

struct data {
    iwi_gnuplot_data_fn write;
    const void *arg;
};

static iw_status write_data(const iw_log *log, void *arg, FILE *out)
{
    const struct data *data = arg;

    (void)log;
    data->write(out, data->arg);
    return IW_OK;
}

iw_status iwi_gnuplot_data(const struct iwi_gnuplot_folder *folder, const char *name,
                           iwi_gnuplot_data_fn write, const void *arg)
{
    struct data data = {write, arg};

    return write_file(folder->log, folder->dir, name, ".dat", write_data, &data);
}

void iwi_gnuplot_comment(FILE *out, const char *text)
{
    (void)fputs("# ", out);
    for (; *text != '\0'; text++) {
        (void)fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
    }
    (void)fputc('\n', out);
}

void iwi_gnuplot_number(FILE *out, double value)
{
    (void)fputc(' ', out);
    if (isfinite(value)) {
        iwi_write_real(out, value);
    } else {
        (void)fputs("NaN", out);
    }
}

void iwi_gnuplot_head(FILE *script)
{
    (void)fputs("# Figures by idlewave. In this folder, run: gnuplot FILE (this one).\n"
                "# Other formats: gnuplot -e \"format='png'\" FILE (pdf, png, svg)\n"
                "if (!exists(\"format\")) format = 'pdf'\n",
                script);
}

void iwi_gnuplot_figure(FILE *script, const char *name, double width_cm, double height_cm)
{
    const double png_per_cm = 80.0, svg_per_cm = 48.0;
    const long width_mm = lround(10.0 * width_cm), height_mm = lround(10.0 * height_cm);

    (void)fprintf(
        script,
        "\n# ---- %s ----\nreset\nset encoding utf8\nset datafile missing 'NaN'\n"
        "set border linewidth 0.8\nset tics scale 0.6\n"
        "dot = format eq 'pdf' ? 0.5 : 1\nsmall = format eq 'png' ? 14 : format eq 'svg' ? 10 : 8\n",
        name != NULL ? name : "figure");
    (void)fprintf(
        script,
        "if (format eq 'png') set terminal pngcairo size %.0f,%.0f noenhanced background 'white' "
        "font 'sans,17'\n"
        "if (format eq 'svg') set terminal svg size %.0f,%.0f dynamic noenhanced background 'white' "
        "font 'sans,13'\n"
        "if (format eq 'pdf') set terminal pdfcairo size %ld.%ldcm,%ld.%ldcm noenhanced font 'sans,9' "
        "fontscale 0.8 linewidth 0.6\n",
        width_cm * png_per_cm, height_cm * png_per_cm, width_cm * svg_per_cm, height_cm * svg_per_cm,
        width_mm / 10, width_mm % 10, height_mm / 10, height_mm % 10);
    if (name != NULL) {
        (void)fprintf(script, "set output '%s.'.format\n", name);
    }
}

/* ---- the folder ---- */

struct figures {
    const char *dir;
    iwi_gnuplot_fn write;
    const void *arg;
};

static iw_status write_script(const iw_log *log, void *arg, FILE *out)
{
    const struct figures *figures = arg;
    const struct iwi_gnuplot_folder folder = {.log = log, .dir = figures->dir, .script = out};

    iwi_gnuplot_head(out);
    return figures->write(&folder, figures->arg);
}

iw_status iwi_gnuplot_folder(const iw_log *log, const char *dir, iwi_gnuplot_fn write, const void *arg)
{
    struct figures figures = {dir, write, arg};
    locale_t c_locale, before;
    iw_status status;

    IW_TRY(iwi_folder_ensure(log, dir, IWI_FOLDER_MADE));
    c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        return iwi_fail(log, IW_ERR_NOMEM, "cannot write numbers as gnuplot reads them: %s", strerror(errno));
    }
    before = uselocale(c_locale);
    status = write_file(log, dir, "plot", ".gp", write_script, &figures);
    (void)uselocale(before);
    freelocale(c_locale);
    return status;
}
