/* A study for papers: data and a script for gnuplot, one figure a panel.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/study_gnuplot.h"

#include <ctype.h>
#include <math.h>

#include "base/base.h"
#include "report/gnuplot.h"

/* ---- data ---- */

static void write_cell(FILE *out, const struct iwi_figure *figure, const iw_cell_result *cell, size_t series)
{
    double numbers[IWI_CELL_COLUMNS];

    iwi_cell_numbers(cell, numbers);
    iwi_write_real(out, iwi_figure_x(figure, cell, series));
    (void)fprintf(out, " %" PRIu32, cell->ranks);
    for (size_t i = 0; i < IWI_CELL_COLUMNS; i++) {
        iwi_gnuplot_number(out, numbers[i]);
    }
    (void)fputc('\n', out);
}

static void write_data(FILE *out, const void *arg)
{
    const struct iwi_figure *figure = arg;
    char title[IWI_PHRASE_SIZE];

    iwi_gnuplot_comment(out, iwi_panel_title(figure->panel, title));
    (void)fprintf(out, "# One block a system; x is %s; slowdown = T/T0 - 1.\n# x ranks",
                  figure->is_flat ? "its number" : "log2 of ranks");
    for (size_t i = 0; i < IWI_CELL_COLUMNS; i++) {
        (void)fprintf(out, " %s", iwi_cell_columns[i]);
    }
    (void)fputc('\n', out);
    for (size_t s = 0; s < figure->panel->count; s++) {
        const iw_series *series = figure->panel->series[s];

        (void)fputs(s > 0 ? "\n\n" : "", out);
        iwi_gnuplot_comment(out, series->cells[0]->system);
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

struct figures {
    struct iwi_panels panels;
    double threshold;
};

static iw_status write_figures(const struct iwi_gnuplot_folder *folder, const void *arg)
{
    const struct figures *figures = arg;

    for (size_t i = 0; i < figures->panels.count; i++) {
        struct iwi_figure figure = {
            .script = folder->script, .panel = &figures->panels.panels[i], .threshold = figures->threshold};

        figure.is_flat = iwi_panel_is_flat(figure.panel);
        name_figure(&figure, i + 1);
        IW_TRY(iwi_gnuplot_data(folder, figure.name, write_data, &figure));
        iwi_write_figure_script(&figure);
    }
    return IW_OK;
}

iw_status iw_study_write_gnuplot(const iw_log *log, const iw_study_results *results, const char *dir)
{
    struct figures figures = {.threshold = results->threshold};
    iw_status status;

    if (results->count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no cell has ended yet");
    }
    IW_TRY(iwi_panels_new(log, results, &figures.panels));
    status = iwi_gnuplot_folder(log, dir, write_figures, &figures);
    iwi_panels_release(&figures.panels);
    return status;
}
