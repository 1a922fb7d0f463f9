/* One panel of a study drawn with characters: box plots on a log axis, each with its numbers behind it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *               10 us       1 ms
 *         ranks ┬───────────┬────────── no noise    mean         95 % CI   median
 *           256  ┊─▒▒▒▒█▒▒▒▒──── ·        35 us  43.42x    40.10-46.75x   42.30x
 *
 * All systems of a panel have one axis, so that they can be compared down the page.
 */
#include "report/study_parts.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/noise_parts.h"

enum {
    MOST_ROWS = 20, /* of a system; more are thinned out */
    MOST_LABEL_COLUMNS = 20,
    SYSTEM_COLUMNS = 63, /* names are no longer */
    RANKS_COLUMNS = 9,   /* "1,048,576" */
    NUMBERS_COLUMNS = 42,
    MOST_PLOT_COLUMNS = IWI_TEXT_COLUMNS - RANKS_COLUMNS - 1 - NUMBERS_COLUMNS,
    LEAST_TICKS = 3
};

struct axis {
    double low, high; /* log10 of ns */
    size_t columns;
};

struct block {
    const struct iwi_page *page;
    struct axis axis;
    int label_columns;
};

/* What one column of a row shows; the later ones cover the earlier ones. */
enum sign { SIGN_NONE, SIGN_EXTREME, SIGN_WHISKER, SIGN_NOISELESS, SIGN_BOX, SIGN_MEDIAN };
static const char *const signs[] = {" ",           "\xc2\xb7", "\xe2\x94\x80", "\xe2\x94\x8a", "\xe2\x96\x92",
                                    "\xe2\x96\x88"};

void iwi_ink(const struct iwi_page *page, const char *code)
{
    if (page->has_colour) {
        (void)fprintf(page->out, "\x1b[%sm", code);
    }
}

void iwi_write_panel_legend(const struct iwi_page *page)
{
    (void)fprintf(page->out,
                  "%s median  %s middle half  %s 5 %% to 95 %%  %s least and most  "
                  "%s without noise\nMean, its 95 %% CI, median: 12.3 %% longer than without "
                  "noise, or 2.345x as long.\n",
                  signs[SIGN_MEDIAN], signs[SIGN_BOX], signs[SIGN_WHISKER], signs[SIGN_EXTREME],
                  signs[SIGN_NOISELESS]);
}

/* ---- axis ---- */

static void widen(struct axis *axis, double ns)
{
    if (ns > 0.0 && isfinite(ns)) {
        axis->low = fmin(axis->low, log10(ns));
        axis->high = fmax(axis->high, log10(ns));
    }
}

static struct axis axis_of(const struct iwi_panel *panel, size_t columns)
{
    const double least_width = 0.3; /* about a factor of 2: what hardly differs shall look so */
    struct axis axis = {.low = INFINITY, .high = -INFINITY, .columns = columns};
    double missing;

    for (size_t s = 0; s < panel->count; s++) {
        for (size_t i = 0; i < panel->series[s]->count; i++) {
            const iw_cell_result *cell = panel->series[s]->cells[i];

            widen(&axis, cell->noiseless_ns);
            widen(&axis, cell->makespan_ns.min);
            widen(&axis, cell->makespan_ns.max);
        }
    }
    if (axis.low > axis.high) {
        axis.low = axis.high = 0.0;
    }
    missing = fmax(0.0, least_width - (axis.high - axis.low));
    axis.low -= missing / 2.0;
    axis.high += missing / 2.0;
    return axis;
}

static size_t column_of(const struct axis *axis, double ns)
{
    const double share = ns > 0.0 ? (log10(ns) - axis->low) / (axis->high - axis->low) : 0.0;

    return (size_t)lround(fmin(fmax(share, 0.0), 1.0) * (double)(axis->columns - 1));
}

/* Ticks at 1, 10, ...; at 1, 2, 5, 10, ... where those are too few. */
static bool is_tick(int mantissa, bool has_few_decades)
{
    return mantissa == 1 || (has_few_decades && (mantissa == 2 || mantissa == 5));
}

/* "10us"; returns its length. */
static size_t tight_time_text(double ns, char text[IWI_NUMBER_SIZE])
{
    char *blank;

    iwi_ns_round_text(ns, text);
    blank = strchr(text, ' ');
    if (blank != NULL) {
        memmove(blank, blank + 1, strlen(blank));
    }
    return strlen(text);
}

static void write_axis(const struct block *block, const char *label)
{
    const struct axis *axis = &block->axis;
    const bool has_few_decades = floor(axis->high) - ceil(axis->low) + 1.0 < (double)LEAST_TICKS;
    bool has_tick[MOST_PLOT_COLUMNS] = {false};
    char labels[MOST_PLOT_COLUMNS + IWI_NUMBER_SIZE], text[IWI_NUMBER_SIZE];
    size_t used = 0;

    memset(labels, ' ', sizeof labels);
    for (int decade = (int)floor(axis->low); decade <= (int)floor(axis->high); decade++) {
        for (int mantissa = 1; mantissa < 10; mantissa++) {
            const double ns = mantissa * pow(10.0, decade);
            const size_t column = column_of(axis, ns);
            const size_t length = tight_time_text(ns, text);

            if (!is_tick(mantissa, has_few_decades) || log10(ns) < axis->low || log10(ns) > axis->high) {
                continue;
            }
            has_tick[column] = true;
            if ((used == 0 || column > used) && column + length <= axis->columns + 8) {
                memcpy(&labels[column], text, length);
                used = column + length;
            }
        }
    }
    (void)fprintf(block->page->out, "%*s %.*s\n%*s ", block->label_columns, "", (int)used, labels,
                  block->label_columns, label);
    for (size_t column = 0; column < axis->columns; column++) {
        (void)fputs(has_tick[column] ? "\xe2\x94\xac" : "\xe2\x94\x80", block->page->out);
    }
    (void)fprintf(block->page->out, "%9s%8s%16s%9s\n", "no noise", "mean", "95 % CI", "median");
}

/* ---- rows ---- */

static void stretch(enum sign *row, const struct axis *axis, double from_ns, double to_ns, enum sign sign)
{
    for (size_t column = column_of(axis, from_ns); column <= column_of(axis, to_ns); column++) {
        row[column] = sign;
    }
}

static void write_boxes(const struct block *block, const iw_cell_result *cell)
{
    const bool is_over = iwi_is_dominated(cell, block->page->threshold);
    const char *const codes[] = {"", "2", "2", "32", is_over ? "31" : "34", is_over ? "1;31" : "1;34"};
    const iw_summary *ns = &cell->makespan_ns;
    enum sign row[MOST_PLOT_COLUMNS] = {SIGN_NONE}, before = SIGN_NONE;

    row[column_of(&block->axis, ns->min)] = SIGN_EXTREME;
    row[column_of(&block->axis, ns->max)] = SIGN_EXTREME;
    stretch(row, &block->axis, cell->p5_ns, cell->p95_ns, SIGN_WHISKER);
    stretch(row, &block->axis, ns->q1, ns->q3, SIGN_BOX);
    row[column_of(&block->axis, cell->noiseless_ns)] = SIGN_NOISELESS;
    row[column_of(&block->axis, ns->median)] = SIGN_MEDIAN;
    for (size_t column = 0; column < block->axis.columns; column++) {
        if (row[column] != before) {
            iwi_ink(block->page, "");
            if (row[column] != SIGN_NONE) {
                iwi_ink(block->page, codes[row[column]]);
            }
            before = row[column];
        }
        (void)fputs(signs[row[column]], block->page->out);
    }
    if (before != SIGN_NONE) {
        iwi_ink(block->page, "");
    }
}

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

static void write_row(const struct block *block, const char *label, const iw_cell_result *cell)
{
    const bool is_over = iwi_is_dominated(cell, block->page->threshold);
    char noiseless[IWI_NUMBER_SIZE], mean[IWI_NUMBER_SIZE], median[IWI_NUMBER_SIZE], interval[IWI_RANGE_SIZE];

    (void)fprintf(block->page->out, "%*s ", block->label_columns, label);
    write_boxes(block, cell);
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
    char label[IWI_NUMBER_SIZE];

    write_system(block, series->cells[0]);
    write_axis(block, "ranks");
    for (size_t row = 0; row < rows; row++) {
        const iw_cell_result *cell = series->cells[thinned(row, rows, series->count)];

        if (row > 0) {
            write_crossing(block, series, series->cells[thinned(row - 1, rows, series->count)]->ranks,
                           cell->ranks);
        }
        write_row(block, iwi_ranks_text(cell->ranks, label), cell);
    }
    if (rows < series->count) {
        (void)fprintf(block->page->out, "(%zu of %zu numbers of ranks; --format csv has all)\n", rows,
                      series->count);
    }
}

/* ---- all systems ---- */

static size_t plot_columns(const struct block *block)
{
    return IWI_TEXT_COLUMNS - (size_t)block->label_columns - 1 - NUMBERS_COLUMNS;
}

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
    block->axis = axis_of(panel, plot_columns(block));
    (void)fprintf(block->page->out, "\n%s rank%s\n", iwi_ranks_text(panel->cell->ranks, number),
                  panel->cell->ranks == 1 ? "" : "s");
    write_axis(block, "system");
    for (size_t i = 0; i < panel->count; i++) {
        const iw_cell_result *cell = panel->series[i]->cells[0];

        write_row(block, iwi_plain_name(cell->system, columns, name), cell);
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
    block.axis = axis_of(panel, plot_columns(&block));
    for (size_t i = 0; i < panel->count; i++) {
        write_series(&block, panel->series[i]);
    }
}
