/* Folders of figures for papers: data and one script for gnuplot.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "report/report.h"

/* "DIR/NAME ENDING" opened for writing; *path_p is to be freed, also after failures. */
static iw_status create(const iw_log *log, const char *dir, const char *name, const char *ending,
                        char **path_p, FILE **file_p)
{
    const size_t size = strlen(dir) + strlen(name) + strlen(ending) + 2;

    *path_p = iwi_new_array(log, size, 1);
    if (*path_p == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(*path_p, size, "%s/%s%s", dir, name, ending);
    *file_p = fopen(*path_p, "we");
    if (*file_p == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create '%s': %s", *path_p, strerror(errno));
    }
    return IW_OK;
}

/* Closes it; an error if something could not be written, now or before. */
static iw_status finish(const iw_log *log, const char *path, FILE *file)
{
    const bool was_good = !ferror(file);

    errno = 0;
    if (fclose(file) != 0 || !was_good) {
        return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path,
                        errno != 0 ? strerror(errno) : "write error");
    }
    return IW_OK;
}

iw_status iwi_gnuplot_data(const struct iwi_gnuplot_folder *folder, const char *name,
                           iwi_gnuplot_data_fn write, const void *arg)
{
    char *path = NULL;
    FILE *data = NULL;
    iw_status status = create(folder->log, folder->dir, name, ".dat", &path, &data);

    if (status == IW_OK) {
        write(data, arg);
        status = finish(folder->log, path, data);
    }
    free(path);
    return status;
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

void iwi_gnuplot_figure(FILE *script, const char *name, double width_cm, double height_cm)
{
    const double png_per_cm = 80.0, svg_per_cm = 48.0;

    (void)fprintf(
        script,
        "\n# ---- %s ----\nreset\nset encoding utf8\nset datafile missing 'NaN'\n"
        "set grid ytics linetype 1 linewidth 0.5 linecolor rgb '#dddddd'\n"
        "set border linewidth 0.8\nset tics scale 0.6\nset boxwidth 0.5 absolute\n"
        "dot = format eq 'pdf' ? 0.5 : 1\nsmall = format eq 'png' ? 15 : format eq 'svg' ? 10 : 8\n",
        name);
    (void)fprintf(script,
                  "if (format eq 'png') set terminal pngcairo size %.0f,%.0f background 'white' "
                  "font 'sans,20'\n"
                  "if (format eq 'svg') set terminal svg size %.0f,%.0f dynamic background 'white' "
                  "font 'sans,13'\n"
                  "if (format eq 'pdf') set terminal pdfcairo size %.1fcm,%.1fcm font 'sans,9' fontscale 0.8 "
                  "linewidth 0.6\n"
                  "set output '%s.'.format\n",
                  width_cm * png_per_cm, height_cm * png_per_cm, width_cm * svg_per_cm,
                  height_cm * svg_per_cm, width_cm, height_cm, name);
}

/* ---- the folder ---- */

static iw_status write_script(const iw_log *log, const char *dir, iwi_gnuplot_fn write, const void *arg)
{
    struct iwi_gnuplot_folder folder = {.log = log, .dir = dir};
    char *path = NULL;
    iw_status status = create(log, dir, "plot", ".gp", &path, &folder.script);

    if (status == IW_OK) {
        iw_status closed;

        (void)fputs("# Figures by idlewave. In this folder: gnuplot plot.gp\n"
                    "# Other formats: gnuplot -e \"format='png'\" plot.gp (pdf, png, svg)\n"
                    "if (!exists(\"format\")) format = 'pdf'\n",
                    folder.script);
        status = write(&folder, arg);
        closed = finish(status == IW_OK ? log : NULL, path, folder.script);
        status = status == IW_OK ? closed : status;
    }
    free(path);
    return status;
}

iw_status iwi_gnuplot_folder(const iw_log *log, const char *dir, iwi_gnuplot_fn write, const void *arg)
{
    locale_t c_locale, before;
    iw_status status;

    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        return iwi_fail(log, IW_ERR_IO, "cannot create the folder '%s': %s", dir, strerror(errno));
    }
    c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        return iwi_fail(log, IW_ERR_NOMEM, "cannot write numbers as gnuplot reads them: %s", strerror(errno));
    }
    before = uselocale(c_locale);
    status = write_script(log, dir, write, arg);
    (void)uselocale(before);
    freelocale(c_locale);
    return status;
}
