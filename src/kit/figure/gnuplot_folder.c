/* Folders of figures for papers: data and one script for gnuplot.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/output.h"
#include "kit/text/words.h"

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
    (void)fputs("# Figures by idlewave. In this folder: gnuplot FILE, FILE being this one.\n"
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
