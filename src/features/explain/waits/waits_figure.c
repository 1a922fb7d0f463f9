/* The figures of waits: the map of ranks and iterations, and the time of iterations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "core/stats/select.h"
#include "features/explain/waits/waits_report.h"

/* Of full colour: less is no culprit to be looked for. */
static const double LEAST_CAUSED = 0.25;

enum { MOST_TABLE_ROWS = 20 };

/* ---- the map ---- */

/* Full colour: what the strongest cell of a column has in nine of ten columns at most. A few long pauses do
 * not hide what happens all the time. */
static double full_colour(struct iwi_document *doc, const iw_waits *waits, bool is_caused)
{
    const size_t columns = waits->map[0].column_count;
    double *strongest = iwi_arena_take(&doc->arena, columns, sizeof *strongest);

    if (strongest == NULL) {
        return 0.0;
    }
    for (size_t k = 0; k < columns; k++) {
        strongest[k] = 0.0;
        for (size_t i = 0; i < waits->row_count; i++) {
            strongest[k] = fmax(strongest[k], (is_caused ? waits->map[i].caused : waits->map[i].waiting)[k]);
        }
    }
    return iwi_select_quantile(strongest, columns, 0.9);
}

/* Shares of full colour; NULL: no memory, which the document knows. */
static uint16_t *layer_of(struct iwi_document *doc, const iw_waits *waits, bool is_caused, double full)
{
    const size_t columns = waits->map[0].column_count;
    uint16_t *shares = iwi_arena_take(&doc->arena, waits->row_count * columns, sizeof *shares);

    for (size_t i = 0; shares != NULL && i < waits->row_count; i++) {
        const double *of = is_caused ? waits->map[i].caused : waits->map[i].waiting;

        for (size_t k = 0; k < columns; k++) {
            const double share = full > 0.0 ? fmin(1.0, fmax(0.0, of[k] / full)) : 0.0;

            shares[i * columns + k] =
                (uint16_t)(is_caused && share < LEAST_CAUSED ? 0 : lround(share * IWI_CELL_ALL));
        }
    }
    return shares;
}

/* Rows are ranks that begin at 0, each its own line. */
static bool has_plain_ranks(const iw_waits *waits)
{
    for (size_t i = 0; i < waits->row_count; i++) {
        if (waits->map[i].first_rank != i || waits->map[i].rank_count != 1) {
            return false;
        }
    }
    return true;
}

static void add_map(struct iwi_document *doc, struct iwi_figure *figure, const iw_waits *waits)
{
    const double waited = full_colour(doc, waits, false), caused = full_colour(doc, waits, true);
    struct iwi_mark *cells = iwi_figure_mark(figure, IWI_MARK_CELLS, IWI_INK_COMPUTE, NULL);
    const uint16_t *waiting = layer_of(doc, waits, false, waited),
                   *causing = layer_of(doc, waits, true, caused);

    if (waiting == NULL || causing == NULL) {
        return;
    }
    cells->rows = (uint32_t)waits->row_count;
    cells->columns = (uint32_t)waits->map[0].column_count;
    cells->layer_count = 2;
    cells->layers[0] = (struct iwi_layer){.ink = IWI_INK_WAIT, .label = "waits", .shares = waiting};
    cells->layers[1] = (struct iwi_layer){
        .ink = IWI_INK_DELAY, .label = "makes others wait", .shares = causing, .is_sought = true};
    iwi_mark_add(figure, cells, (double[]){figure->x.low, figure->x.high, figure->y.low, figure->y.high});
    figure->message =
        iwi_figure_text(figure,
                        "Each row is %s, each column %s. Full colour: waits %s of its time or more; makes "
                        "the others wait for %s of their time or more.",
                        has_plain_ranks(waits) ? "a rank" : "one or several ranks, in order",
                        waits->iterations_per_column > 1
                            ? iwi_doc_printf(doc, "%" PRIu64 " iterations", waits->iterations_per_column)
                            : "an iteration",
                        iwi_percent_short(doc, waited), iwi_percent_short(doc, caused));
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return count > 0 ? sum / (double)count : 0.0;
}

static void add_map_table(struct iwi_document *doc, struct iwi_figure *figure, const iw_waits *waits)
{
    iwi_figure_table(figure, "Means over all iterations");
    iwi_figure_head(figure, false, "Rank");
    iwi_figure_head(figure, false, "Waits");
    iwi_figure_head(figure, false, "Makes others wait");
    for (size_t i = 0; i < waits->row_count && i < MOST_TABLE_ROWS; i++) {
        const iw_waits_row *row = &waits->map[i];

        iwi_figure_cell(figure, "%" PRIu32, row->first_rank);
        iwi_figure_cell(figure, "%s", iwi_percent_short(doc, mean_of(row->waiting, row->column_count)));
        iwi_figure_cell(figure, "%s", iwi_percent_short(doc, mean_of(row->caused, row->column_count)));
    }
}

void iwi_waits_show_map(struct iwi_document *doc, const iw_waits *waits)
{
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (waits->row_count == 0 || waits->map[0].column_count == 0 || waits->has_bounds_only) {
        return;
    }
    status = iwi_figure_new(doc->log, "Who waits, and for whom", &figure);
    if (status == IW_OK) {
        figure->is_wide = true;
        figure->x = (struct iwi_figure_axis){
            .label = "Iteration",
            .unit = IWI_AXIS_INDEX,
            .low = 0.0,
            .high = (double)(waits->map[0].column_count * waits->iterations_per_column)};
        figure->y = (struct iwi_figure_axis){.label = has_plain_ranks(waits) ? "rank" : "row",
                                             .unit = IWI_AXIS_INDEX,
                                             .low = -0.5,
                                             .high = (double)waits->row_count - 0.5};
        add_map(doc, figure, waits);
        add_map_table(doc, figure, waits);
    }
    iwi_show_figure(doc, status, figure);
}

/* ---- the time of iterations ---- */

static void add_times(struct iwi_figure *figure, const iw_waits *waits)
{
    struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_STEP, iwi_series_ink(0), NULL);
    struct iwi_mark *rules = iwi_figure_mark(figure, IWI_MARK_RULE_X, IWI_INK_NOISE, NULL);

    line->is_thin = true;
    for (size_t i = 0; i < waits->time_count; i++) {
        iwi_mark_add(figure, line, (double[]){(double)(i * waits->iterations_per_time), waits->times_ns[i]});
    }
    iwi_mark_add(figure, line, (double[]){(double)waits->iterations, waits->times_ns[waits->time_count - 1]});
    for (size_t i = 0; i < waits->change_count; i++) {
        iwi_mark_add_named(figure, rules, (double[]){(double)waits->changes[i].iteration}, "change", false);
    }
}

static void add_times_table(struct iwi_document *doc, struct iwi_figure *figure, const iw_waits *waits)
{
    iwi_figure_table(figure, "Changes");
    iwi_figure_head(figure, false, "From iteration");
    iwi_figure_head(figure, false, "Before");
    iwi_figure_head(figure, false, "From there on");
    for (size_t i = 0; i < waits->change_count; i++) {
        iwi_figure_cell(figure, "%" PRIu64, waits->changes[i].iteration);
        iwi_figure_cell(figure, "%s", iwi_ns_short(doc, waits->changes[i].before_ns));
        iwi_figure_cell(figure, "%s", iwi_ns_short(doc, waits->changes[i].after_ns));
    }
}

void iwi_waits_show_times(struct iwi_document *doc, const iw_waits *waits)
{
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (waits->time_count < 2) {
        return;
    }
    status = iwi_figure_new(doc->log, "Time of an iteration", &figure);
    if (status == IW_OK) {
        double most_ns = 0.0;

        for (size_t i = 0; i < waits->time_count; i++) {
            most_ns = fmax(most_ns, waits->times_ns[i]);
        }
        figure->is_wide = true;
        figure->x = (struct iwi_figure_axis){
            .label = "Iteration", .unit = IWI_AXIS_INDEX, .low = 0.0, .high = (double)waits->iterations};
        figure->y = (struct iwi_figure_axis){
            .label = "Time", .unit = IWI_AXIS_NS, .low = 0.0, .high = most_ns * 1.05};
        add_times(figure, waits);
        if (waits->change_count > 0) {
            add_times_table(doc, figure, waits);
        }
        figure->message = iwi_figure_text(
            figure, "The median iteration takes %s; %s.", iwi_ns_short(doc, waits->iteration_ns),
            waits->change_count == 0
                ? "its level does not change"
                : iwi_doc_printf(doc, "lines mark %zu change%s of level", waits->change_count,
                                 iwi_plural_s(waits->change_count)));
    }
    iwi_show_figure(doc, status, figure);
}
