/* A study for papers: data and a script for gnuplot, one figure a panel.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/study_gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

static const char SCRIPT_NAME[] = "plot.gp";

/* ---- files ---- */

/* "DIR/NAME" opened for writing; *path_p is to be freed, also after failures. */
static iw_status create(const iw_log *log, const char *dir, const char *name, char **path_p, FILE **file_p)
{
    const size_t size = strlen(dir) + strlen(name) + 2;

    *path_p = iwi_new_array(log, size, 1);
    if (*path_p == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(*path_p, size, "%s/%s", dir, name);
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

/* ---- data ---- */

static void write_numbers(FILE *out, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fputc(' ', out);
        if (isfinite(numbers[i])) {
            iwi_write_real(out, numbers[i]);
        } else {
            (void)fputs("NaN", out);
        }
    }
    (void)fputc('\n', out);
}

static void write_cell(FILE *out, const struct iwi_figure *figure, const iw_cell_result *cell, size_t series)
{
    const iw_summary *ns = &cell->makespan_ns;
    const double numbers[] = {
        cell->noiseless_ns,
        ns->min,
        cell->p5_ns,
        ns->q1,
        ns->median,
        ns->q3,
        cell->p95_ns,
        ns->max,
        ns->ci95_low,
        ns->ci95_high,
        iwi_median_slowdown(cell),
        iwi_cell_slowdown(cell, ns->ci95_low),
        iwi_cell_slowdown(cell, ns->ci95_high),
    };

    iwi_write_real(out, iwi_figure_x(figure, cell, series));
    (void)fprintf(out, " %" PRIu32, cell->ranks);
    write_numbers(out, numbers, sizeof numbers / sizeof numbers[0]);
}

/* A comment must stay one: line breaks in a name would end it. */
static void write_comment(FILE *out, const char *text)
{
    (void)fputs("# ", out);
    for (; *text != '\0'; text++) {
        (void)fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
    }
    (void)fputc('\n', out);
}

static void write_data(FILE *out, const struct iwi_figure *figure)
{
    char title[IWI_PHRASE_SIZE];

    write_comment(out, iwi_panel_title(figure->panel, title));
    (void)fprintf(out,
                  "# x (%s), ranks, then ns: noiseless min p5 q1 median q3 p95 max, 95 %% interval of the "
                  "median\n# (low high), then slowdown (T/T0 - 1) of the median and of the interval; one "
                  "block a system\n",
                  figure->is_flat ? "number of the system" : "log2 of ranks");
    for (size_t s = 0; s < figure->panel->count; s++) {
        const iw_series *series = figure->panel->series[s];

        (void)fputs(s > 0 ? "\n\n" : "", out);
        write_comment(out, series->cells[0]->system);
        for (size_t i = 0; i < series->count; i++) {
            write_cell(out, figure, series->cells[i], s);
        }
    }
}

/* ---- figures ---- */

double iwi_figure_x(const struct iwi_figure *figure, const iw_cell_result *cell, size_t series)
{
    return figure->is_flat ? (double)series + 1.0 : log2((double)cell->ranks);
}

/* "panel-3-allreduce-ring": what is special in file names or for gnuplot becomes "-". */
static void name_figure(struct iwi_figure *figure, size_t number)
{
    const char *work = figure->panel->cell->work;
    size_t used = (size_t)snprintf(figure->name, sizeof figure->name, "panel-%zu-", number);

    for (; *work != '\0' && used + 1 < sizeof figure->name; work++) {
        const unsigned char c = (unsigned char)*work;

        figure->name[used++] = (char)(c < 0x80 && isalnum(c) ? c : '-');
    }
    figure->name[used] = '\0';
}

static iw_status write_figure(const iw_log *log, const char *dir, const struct iwi_figure *figure)
{
    char file_name[IWI_FIGURE_NAME_SIZE + 8], *path = NULL;
    FILE *data = NULL;
    iw_status status;

    snprintf(file_name, sizeof file_name, "%s.dat", figure->name);
    status = create(log, dir, file_name, &path, &data);
    if (status == IW_OK) {
        write_data(data, figure);
        status = finish(log, path, data);
    }
    free(path);
    iwi_write_figure_script(figure);
    return status;
}

static iw_status write_figures(const iw_log *log, const char *dir, const struct iwi_panels *panels,
                               double threshold, FILE *script)
{
    iwi_write_figure_prelude(script);
    for (size_t i = 0; i < panels->count; i++) {
        struct iwi_figure figure = {.script = script, .panel = &panels->panels[i], .threshold = threshold};

        figure.is_flat = iwi_panel_is_flat(figure.panel);
        name_figure(&figure, i + 1);
        IW_TRY(write_figure(log, dir, &figure));
    }
    return IW_OK;
}

static iw_status write_folder(const iw_log *log, const char *dir, const struct iwi_panels *panels,
                              double threshold)
{
    char *path = NULL;
    FILE *script = NULL;
    iw_status status = create(log, dir, SCRIPT_NAME, &path, &script);

    if (status == IW_OK) {
        iw_status closed;

        status = write_figures(log, dir, panels, threshold, script);
        closed = finish(status == IW_OK ? log : NULL, path, script);
        status = status == IW_OK ? closed : status;
    }
    free(path);
    return status;
}

/* gnuplot reads numbers with a point only. */
static iw_status write_in_c_locale(const iw_log *log, const char *dir, const struct iwi_panels *panels,
                                   double threshold)
{
    const locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before;
    iw_status status;

    if (c_locale == (locale_t)0) {
        return iwi_fail(log, IW_ERR_NOMEM, "cannot write numbers as gnuplot reads them: %s", strerror(errno));
    }
    before = uselocale(c_locale);
    status = write_folder(log, dir, panels, threshold);
    (void)uselocale(before);
    freelocale(c_locale);
    return status;
}

iw_status iw_study_write_gnuplot(const iw_log *log, const iw_study_results *results, const char *dir)
{
    struct iwi_panels panels;
    iw_status status;

    if (results->count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no cell has ended yet");
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        return iwi_fail(log, IW_ERR_IO, "cannot create the folder '%s': %s", dir, strerror(errno));
    }
    IW_TRY(iwi_panels_new(log, results, &panels));
    status = write_in_c_locale(log, dir, &panels, results->threshold);
    iwi_panels_release(&panels);
    return status;
}
