/* One panel of a study drawn with characters: box plots on a log axis, each with its numbers behind it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *               10 us       1 ms
 *         ranks ┬───────────┬────────── no noise    mean         95 % CI   median
 *           256  ┊─▒▒▒▒█▒▒▒▒──── ·        35 us  43.42x    40.10-46.75x   42.30x
 *
 * All systems of a panel have one axis, so that they can be compared down the page.
 */
#include "report/kinds/study_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/figure/study_figure.h"
#include "report/kinds/noise_report.h"

enum {
    MOST_ROWS = 20, /* of a system; more are thinned out */
    MOST_LABEL_COLUMNS = 20,
    SYSTEM_COLUMNS = 63, /* names are no longer */
    RANKS_COLUMNS = 9,   /* "1,048,576" */
    NUMBERS_COLUMNS = 42
};

struct block {
    const struct iwi_page *page;
    double low_ns, high_ns; /* of the axis of all its figures */
    int label_columns;
};

void iwi_ink(const struct iwi_page *page, const char *code)
{
    if (page->has_colour) {
        (void)fprintf(page->out, "\x1b[%sm", code);
    }
}

void iwi_write_panel_legend(const struct iwi_page *page)
{
    (void)fprintf(page->out,
                  "%s\nMean, its 95 %% CI, median: 12.3 %% longer than without "
                  "noise, or 2.345x as long.\n",
                  iwi_strip_legend);
}

/* ---- axis ---- */

/* About a factor of 2 at least: what hardly differs shall look so. */
static void find_limits(struct block *block, const struct iwi_panel *panel)
{
    const double least = 0.3; /* decades */
    double missing;

    block->low_ns = INFINITY;
    block->high_ns = 0.0;
    for (size_t s = 0; s < panel->count; s++) {
        iwi_study_limits(panel->series[s], &block->low_ns, &block->high_ns);
    }
    if (!(block->high_ns > 0.0) || !isfinite(block->low_ns)) {
        block->low_ns = block->high_ns = 1.0;
    }
    missing = fmax(0.0, least - log10(block->high_ns / block->low_ns));
    block->low_ns *= pow(10.0, -missing / 2.0);
    block->high_ns *= pow(10.0, missing / 2.0);
}

static size_t plot_columns(const struct block *block)
{
    return IWI_TEXT_COLUMNS - (size_t)block->label_columns - 1 - NUMBERS_COLUMNS;
}

static struct iwi_figure *new_figure(const struct block *block, const iw_series *series)
{
    const struct iwi_drawn_series drawn = {.series = series, .label = ""};
    struct iwi_figure *figure;

    if (iwi_study_boxes_figure(NULL, &drawn, 1, block->page->threshold, 0.0, 0.0, "", &figure) != IW_OK) {
        return NULL; /* the numbers still come */
    }
    figure->y.low = block->low_ns;
    figure->y.high = block->high_ns;
    return figure;
}

static void write_axis(const struct block *block, const struct iwi_figure *figure, const char *label)
{
    iwi_figure_write_strip_axis(figure, block->label_columns, label, plot_columns(block), block->page->out);
    (void)fprintf(block->page->out, "%9s%8s%16s%9s\n", "no noise", "mean", "95 % CI", "median");
}

/* ---- rows ---- */

/* Trials that are all alike do not tell how sure that is. */
static const char *interval_text(const iw_cell_result *cell, char buf[IWI_RANGE_SIZE])
{
    const iw_summary *ns = &cell->makespan_ns;

    if (cell->trials >= IW_LEAST_TRIALS && ns->min == ns->max) {
        return "all alike";
    }
    return iwi_slowdown_span_text(iwi_cell_slowdown(cell, ns->mean_low),
                                  iwi_cell_slowdown(cell, ns->mean_high), buf);
}

static void write_row(const struct block *block, const struct iwi_figure *figure, size_t item,
                      const char *label, const iw_cell_result *cell)
{
    const bool is_over = iwi_is_dominated(cell, block->page->threshold);
    char noiseless[IWI_NUMBER_SIZE], mean[IWI_NUMBER_SIZE], median[IWI_NUMBER_SIZE], interval[IWI_RANGE_SIZE];

    (void)fprintf(block->page->out, "%*s ", block->label_columns, label);
    iwi_figure_write_strip(figure, item, plot_columns(block), block->page->has_colour, block->page->out);
    (void)fprintf(block->page->out, "%9s%8s%16s", iwi_ns_short_text(cell->noiseless_ns, noiseless),
                  iwi_slowdown_text(iwi_mean_slowdown(cell), mean), interval_text(cell, interval));
    if (is_over) {
        iwi_ink(block->page, "31");
    }
    (void)fprintf(block->page->out, "%9s", iwi_slowdown_text(iwi_median_slowdown(cell), median));
    if (is_over) {
        iwi_ink(block->page, "");
    }
    (void)fputc('\n', block->page->out);
}

/* ---- one system ---- */

/* "chic: noise periodic:0.375Hz,5.6ms (0.21 %)" */
static void write_system(const struct block *block, const iw_cell_result *cell)
{
    char name[IWI_NAME_SIZE], noise[IWI_PARAGRAPH_SIZE], percent[IWI_NUMBER_SIZE];
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)fputc('\n', block->page->out);
    iwi_ink(block->page, "1");
    (void)fputs(iwi_plain_name(cell->system, SYSTEM_COLUMNS, name), block->page->out);
    iwi_ink(block->page, "");
    iwi_append(text, ": noise %.900s", iwi_plain_text(cell->noise, noise));
    if (cell->noise_share > 0.0) {
        iwi_append(text, " (%s)", iwi_share_text(cell->noise_share, percent));
    }
    iwi_write_wrapped_after(block->page->out, text, strlen(name), 2);
}

/* The number of the row-th of `rows` rows out of `count`: evenly spaced, the first and the last among them.
 */
static size_t thinned(size_t row, size_t rows, size_t count)
{
    return rows > 1 ? (row * (count - 1) + (rows - 1) / 2) / (rows - 1) : 0;
}

static void write_crossing(const struct block *block, const iw_series *series, uint32_t before,
                           uint32_t ranks)
{
    char number[IWI_NUMBER_SIZE];

    if (series->inflection > (double)before && series->inflection <= (double)ranks) {
        iwi_ink(block->page, "31");
        (void)fprintf(block->page->out, "%*s - - noise takes over - -", block->label_columns,
                      iwi_about_ranks_text(series->inflection, number));
        iwi_ink(block->page, "");
        (void)fputc('\n', block->page->out);
    }
}

static void write_series(const struct block *block, const iw_series *series)
{
    const size_t rows = series->count < MOST_ROWS ? series->count : MOST_ROWS;
    struct iwi_figure *figure = new_figure(block, series);
    char label[IWI_NUMBER_SIZE];

    write_system(block, series->cells[0]);
    if (figure == NULL) {
        return;
    }
    write_axis(block, figure, "ranks");
    for (size_t row = 0; row < rows; row++) {
        const size_t item = thinned(row, rows, series->count);
        const iw_cell_result *cell = series->cells[item];

        if (row > 0) {
            write_crossing(block, series, series->cells[thinned(row - 1, rows, series->count)]->ranks,
                           cell->ranks);
        }
        write_row(block, figure, item, iwi_ranks_text(cell->ranks, label), cell);
    }
    iwi_figure_free(figure);
    if (rows < series->count) {
        (void)fprintf(block->page->out, "(%zu of %zu numbers of ranks; --format csv has all)\n", rows,
                      series->count);
    }
}

/* ---- all systems ---- */

/* A row a system says it all. */
static void write_flat(struct block *block, const struct iwi_panel *panel)
{
    char name[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];
    size_t columns = RANKS_COLUMNS;

    for (size_t i = 0; i < panel->count; i++) {
        const size_t length = strlen(panel->series[i]->cells[0]->system);

        columns = length > columns ? length : columns;
    }
    columns = columns < MOST_LABEL_COLUMNS ? columns : MOST_LABEL_COLUMNS;
    block->label_columns = (int)columns;
    find_limits(block, panel);
    (void)fprintf(block->page->out, "\n%s rank%s\n", iwi_ranks_text(panel->cell->ranks, number),
                  panel->cell->ranks == 1 ? "" : "s");
    for (size_t i = 0; i < panel->count; i++) {
        const iw_cell_result *cell = panel->series[i]->cells[0];
        struct iwi_figure *figure = new_figure(block, panel->series[i]);

        if (figure != NULL && i == 0) {
            write_axis(block, figure, "system");
        }
        if (figure != NULL) {
            write_row(block, figure, 0, iwi_plain_name(cell->system, columns, name), cell);
        }
        iwi_figure_free(figure);
    }
}

/* Of the largest number of ranks. */
static size_t columns_of_ranks(const struct iwi_panel *panel)
{
    char number[IWI_NUMBER_SIZE];
    size_t columns = RANKS_COLUMNS;

    for (size_t i = 0; i < panel->count; i++) {
        const iw_series *series = panel->series[i];
        const size_t length = strlen(iwi_ranks_text(series->cells[series->count - 1]->ranks, number));

        columns = length > columns ? length : columns;
    }
    return columns;
}

void iwi_write_panel_text(const struct iwi_page *page, const struct iwi_panel *panel)
{
    struct block block = {.page = page};

    if (iwi_panel_is_flat(panel)) {
        write_flat(&block, panel);
        return;
    }
    block.label_columns = (int)columns_of_ranks(panel);
    find_limits(&block, panel);
    for (size_t i = 0; i < panel->count; i++) {
        write_series(&block, panel->series[i]);
    }
}
