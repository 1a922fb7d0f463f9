/* The figures of studies: slowdown over ranks, and how times are distributed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/study_figure.h"

#include <math.h>

#include "core/base/base.h"
#include "kit/text/words.h"

/* One number of ranks for all: it is no axis, the series are. */
static bool is_flat(const struct iwi_drawn_series *drawn, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!iwi_is_flat_pair(drawn[0].series, drawn[i].series)) {
            return false;
        }
    }
    return count > 1;
}

/* Systems need no word: they have names. */
static void set_axis(struct iwi_figure *figure, const struct iwi_drawn_series *drawn, size_t count,
                     const char *axis)
{
    if (!is_flat(drawn, count)) {
        figure->x = (struct iwi_figure_axis){.label = "Ranks", .unit = IWI_AXIS_RANKS, .is_log = true};
        return;
    }
    figure->x = (struct iwi_figure_axis){.label = drawn[0].series->cells[0]->settings != NULL ? axis : "",
                                         .unit = IWI_AXIS_NAMES};
    for (size_t i = 0; i < count; i++) {
        iwi_axis_name(figure, &figure->x, drawn[i].label);
    }
}

static double place_of(const struct iwi_figure *figure, const iw_cell_result *cell, size_t series)
{
    return figure->x.unit == IWI_AXIS_NAMES ? (double)series + 1.0 : (double)cell->ranks;
}

/* ---- slowdown ---- */

/* Colours begin again after the last; then lines are dashed. */
static void add_curve(struct iwi_figure *figure, const struct iwi_drawn_series *drawn, size_t number)
{
    const bool has_names = figure->x.unit == IWI_AXIS_NAMES;
    const enum iwi_ink ink = iwi_series_ink(drawn->style);
    struct iwi_mark *band = iwi_figure_mark(figure, has_names ? IWI_MARK_RANGE : IWI_MARK_BAND, ink, NULL);
    struct iwi_mark *line = iwi_figure_mark(figure, has_names ? IWI_MARK_DOTS : IWI_MARK_LINE, ink,
                                            has_names ? NULL : drawn->label);

    line->dash = drawn->style < IWI_SERIES_INKS ? IWI_SOLID : IWI_DASHED;
    for (size_t i = 0; i < drawn->series->count; i++) {
        const iw_cell_result *cell = drawn->series->cells[i];
        const double x = place_of(figure, cell, number), y = 1.0 + iwi_median_slowdown(cell);
        const double low = 1.0 + iwi_cell_slowdown(cell, cell->makespan_ns.median_low);
        const double high = 1.0 + iwi_cell_slowdown(cell, cell->makespan_ns.median_high);
        char ranks[IWI_NUMBER_SIZE], slowdown[IWI_NUMBER_SIZE], interval[IWI_RANGE_SIZE],
            text[IWI_PHRASE_SIZE];

        snprintf(text, sizeof text, "%s ranks: %s\n95 %% CI %s", iwi_ranks_text(cell->ranks, ranks),
                 iwi_slowdown_text(y - 1.0, slowdown),
                 iwi_slowdown_range_text(low - 1.0, high - 1.0, y - 1.0, interval));
        iwi_mark_add(figure, band, (double[]){x, isnan(low) ? y : low, isnan(high) ? y : high});
        iwi_mark_add_named(figure, line, (double[]){x, y}, isnan(low) ? NULL : text, false);
    }
}

/* Where the median crosses the threshold, and the interval of that. */
static void add_inflection(struct iwi_figure *figure, const struct iwi_drawn_series *drawn, double threshold)
{
    const iw_series *series = drawn->series;
    const double most = (double)series->cells[series->count - 1]->ranks;
    const double low = series->inflection_low > 0.0 ? series->inflection_low : series->inflection;
    const double high = series->inflection_high > 0.0  ? series->inflection_high
                        : series->inflection_low > 0.0 ? most
                                                       : series->inflection;

    if (series->inflection > 0.0 && figure->x.unit == IWI_AXIS_RANKS) {
        iwi_mark_add(figure, iwi_figure_mark(figure, IWI_MARK_PIN, iwi_series_ink(drawn->style), NULL),
                     (double[]){series->inflection, 1.0 + threshold, low, high});
    }
}

static double highest_slowdown(const struct iwi_drawn_series *drawn, size_t count)
{
    double highest = 0.0;

    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < drawn[s].series->count; i++) {
            const iw_cell_result *cell = drawn[s].series->cells[i];

            highest = fmax(highest, fmax(iwi_median_slowdown(cell),
                                         iwi_cell_slowdown(cell, cell->makespan_ns.median_high)));
        }
    }
    return highest;
}

/* ---- its table ---- */

/* The smallest number of ranks above `ranks` that any series has; 0: there is none. */
static uint32_t next_ranks(const struct iwi_drawn_series *drawn, size_t count, uint32_t ranks)
{
    uint32_t next = 0;

    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < drawn[s].series->count; i++) {
            const uint32_t here = drawn[s].series->cells[i]->ranks;

            next = here > ranks && (next == 0 || here < next) ? here : next;
        }
    }
    return next;
}

static const iw_cell_result *cell_of(const iw_series *series, uint32_t ranks)
{
    for (size_t i = 0; i < series->count; i++) {
        if (series->cells[i]->ranks == ranks) {
            return series->cells[i];
        }
    }
    return NULL;
}

static void add_slowdown(struct iwi_figure *figure, const iw_cell_result *cell)
{
    const double slowdown = cell != NULL ? iwi_median_slowdown(cell) : NAN;
    char median[IWI_NUMBER_SIZE], range[IWI_RANGE_SIZE];

    iwi_figure_cell(figure, "%s", isnan(slowdown) ? "-" : iwi_slowdown_text(slowdown, median));
    if (isnan(slowdown) || isnan(cell->makespan_ns.median_low)) {
        iwi_figure_cell(figure, "-");
        return;
    }
    iwi_figure_cell(figure, "%s",
                    iwi_slowdown_range_text(iwi_cell_slowdown(cell, cell->makespan_ns.median_low),
                                            iwi_cell_slowdown(cell, cell->makespan_ns.median_high), slowdown,
                                            range));
}

static void add_slowdown_table(struct iwi_figure *figure, const struct iwi_drawn_series *drawn, size_t count)
{
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure,
                     "%s: the median against the time without noise, and its 95 %% confidence interval",
                     figure->title);
    iwi_figure_head(figure, false, "Ranks");
    for (size_t i = 0; i < count; i++) {
        iwi_figure_head(figure, false, "%s", drawn[i].label);
        iwi_figure_head(figure, false, "95 %% CI");
    }
    for (uint32_t ranks = next_ranks(drawn, count, 0); ranks > 0; ranks = next_ranks(drawn, count, ranks)) {
        iwi_figure_cell(figure, "%s", iwi_ranks_text(ranks, number));
        for (size_t i = 0; i < count; i++) {
            add_slowdown(figure, cell_of(drawn[i].series, ranks));
        }
    }
}

iw_status iwi_study_curves_figure(const iw_log *log, const struct iwi_drawn_series *drawn, size_t count,
                                  double threshold, const char *title, const char *axis,
                                  struct iwi_figure **figure_p)
{
    const double highest = highest_slowdown(drawn, count);
    const bool is_small = highest < 1.0 && highest < threshold; /* the line of the threshold is far away */
    struct iwi_figure *figure;
    struct iwi_mark *one, *rule;

    IW_TRY(iwi_figure_new(log, title, &figure));
    set_axis(figure, drawn, count, axis);
    figure->is_wide = true;
    figure->y = (struct iwi_figure_axis){
        .label = "Time, times that without noise (median)", .unit = IWI_AXIS_FACTOR, .is_log = true};
    one = iwi_figure_mark(figure, IWI_MARK_RULE_Y, IWI_INK_TEXT, NULL);
    iwi_mark_add(figure, one, (double[]){1.0});
    if (!is_small) {
        rule = iwi_figure_mark(figure, IWI_MARK_RULE_Y, IWI_INK_NOISE, NULL);
        rule->dash = IWI_DASHED;
        iwi_mark_add_named(figure, rule, (double[]){1.0 + threshold}, "noise dominates", false);
    }
    for (size_t i = 0; i < count; i++) {
        add_curve(figure, &drawn[i], i);
    }
    for (size_t i = 0; i < count && !is_small; i++) {
        add_inflection(figure, &drawn[i], threshold);
    }
    add_slowdown_table(figure, drawn, count);
    *figure_p = figure;
    return IW_OK;
}

/* ---- distributions ---- */

void iwi_study_limits(const iw_series *series, double *low_ns, double *high_ns)
{
    for (size_t i = 0; i < series->count; i++) {
        const iw_cell_result *cell = series->cells[i];

        if (cell->noiseless_ns > 0.0) {
            *low_ns = fmin(*low_ns, cell->noiseless_ns);
        }
        if (cell->makespan_ns.min > 0.0) {
            *low_ns = fmin(*low_ns, cell->makespan_ns.min);
        }
        *high_ns = fmax(*high_ns, fmax(cell->noiseless_ns, cell->makespan_ns.max));
    }
}

static void add_boxes(struct iwi_figure *figure, const struct iwi_drawn_series *drawn, size_t number,
                      double threshold)
{
    const bool has_names = figure->x.unit == IWI_AXIS_NAMES;
    struct iwi_mark *noiseless =
        iwi_figure_mark(figure, has_names ? IWI_MARK_DOTS : IWI_MARK_LINE, IWI_INK_TEXT, NULL);
    struct iwi_mark *boxes = iwi_figure_mark(figure, IWI_MARK_BOX, iwi_series_ink(drawn->style), NULL);

    noiseless->dash = IWI_DOTTED;
    for (size_t i = 0; i < drawn->series->count; i++) {
        const iw_cell_result *cell = drawn->series->cells[i];
        const iw_summary *ns = &cell->makespan_ns;
        const double x = place_of(figure, cell, number);

        iwi_mark_add(figure, noiseless, (double[]){x, cell->noiseless_ns > 0.0 ? cell->noiseless_ns : NAN});
        iwi_mark_add_named(
            figure, boxes,
            (double[]){x, ns->min, cell->p5_ns, ns->q1, ns->median, ns->q3, cell->p95_ns, ns->max}, NULL,
            iwi_is_dominated(cell, threshold));
    }
}

static void add_takeover(struct iwi_figure *figure, const iw_series *series)
{
    const double low = series->inflection_low, high = series->inflection_high;
    struct iwi_mark *rule, *band;

    if (series->inflection <= 0.0 || figure->x.unit == IWI_AXIS_NAMES) {
        return;
    }
    if (low > 0.0 && high > low && figure->y.high > figure->y.low) {
        band = iwi_figure_mark(figure, IWI_MARK_BAND, IWI_INK_NOISE, NULL);
        iwi_mark_add(figure, band, (double[]){low, figure->y.low, figure->y.high});
        iwi_mark_add(figure, band, (double[]){high, figure->y.low, figure->y.high});
    }
    rule = iwi_figure_mark(figure, IWI_MARK_RULE_X, IWI_INK_NOISE, "noise takes over");
    rule->dash = IWI_DASHED;
    iwi_mark_add(figure, rule, (double[]){series->inflection});
}

/* Trials that are all alike do not show how sure that is. */
static const char *interval_text(const iw_cell_result *cell, double largest, char buf[IWI_RANGE_SIZE])
{
    const iw_summary *ns = &cell->makespan_ns;

    return cell->trials >= IW_LEAST_TRIALS && ns->min == ns->max
               ? "all alike"
               : iwi_slowdown_span_column_text(iwi_cell_slowdown(cell, ns->mean_low),
                                               iwi_cell_slowdown(cell, ns->mean_high), largest, buf);
}

/* Of all that stands in one table: it chooses the notation. */
static double largest_slowdown(const struct iwi_drawn_series *drawn, size_t count)
{
    double largest = 0.0;

    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < drawn[s].series->count; i++) {
            const iw_cell_result *cell = drawn[s].series->cells[i];
            const double mean = iwi_mean_slowdown(cell), median = iwi_median_slowdown(cell);

            largest =
                fmax(largest, fmax(fmax(mean, median), iwi_cell_slowdown(cell, cell->makespan_ns.mean_high)));
        }
    }
    return largest;
}

static void add_times(struct iwi_figure *figure, const char *name, const iw_cell_result *cell, double largest)
{
    const iw_summary *time = &cell->makespan_ns;
    const double times_ns[] = {time->min, cell->p5_ns,  time->q1, time->median,
                               time->q3,  cell->p95_ns, time->max};
    char text[IWI_RANGE_SIZE];

    iwi_figure_cell(figure, "%s", name);
    iwi_figure_cell(figure, "%s", iwi_ns_short_text(cell->noiseless_ns, text));
    iwi_figure_cell(figure, "%s", iwi_slowdown_column_text(iwi_mean_slowdown(cell), largest, text));
    iwi_figure_cell(figure, "%s", interval_text(cell, largest, text));
    iwi_figure_cell(figure, "%s", iwi_slowdown_column_text(iwi_median_slowdown(cell), largest, text));
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        iwi_figure_cell(figure, "%s", iwi_ns_time_text(times_ns[i], text));
    }
}

/* The first numbers stand beside the boxes at a terminal. */
static void add_times_table(struct iwi_figure *figure, const struct iwi_drawn_series *drawn, size_t count,
                            const char *axis)
{
    static const char *const heads[] = {"no noise", "mean", "95 % CI", "median", "least", "5 %",
                                        "25 %",     "50 %", "75 %",    "95 %",   "most"};
    const bool has_names = figure->x.unit == IWI_AXIS_NAMES;
    const double largest = largest_slowdown(drawn, count);
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure,
                     "%s: the mean, its 95 %% confidence interval and the median against the time without "
                     "noise; times of the trials, by %s",
                     figure->title, has_names ? axis : "number of ranks");
    iwi_figure_head(figure, false, "%s", has_names ? axis : "ranks");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_figure_head(figure, false, "%s", heads[i]);
    }
    figure->table.beside = 4;
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < drawn[s].series->count; i++) {
            const iw_cell_result *cell = drawn[s].series->cells[i];

            add_times(figure, has_names ? drawn[s].label : iwi_ranks_text(cell->ranks, number), cell,
                      largest);
        }
    }
}

iw_status iwi_study_boxes_figure(const iw_log *log, const struct iwi_drawn_series *drawn, size_t count,
                                 double threshold, double low_ns, double high_ns, const char *title,
                                 const char *axis, struct iwi_figure **figure_p)
{
    const double margin = high_ns > low_ns ? fmax(pow(high_ns / low_ns, 0.04), 1.02) : 2.0;
    struct iwi_figure *figure;

    IW_TRY(iwi_figure_new(log, title, &figure));
    set_axis(figure, drawn, count, axis);
    figure->height = 0.62;
    figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .is_log = true};
    if (isfinite(low_ns) && low_ns > 0.0) {
        figure->y.low = low_ns / margin;
        figure->y.high = high_ns * margin;
    }
    for (size_t i = 0; i < count; i++) {
        add_takeover(figure, drawn[i].series);
        add_boxes(figure, &drawn[i], i, threshold);
    }
    add_times_table(figure, drawn, count, axis);
    *figure_p = figure;
    return IW_OK;
}
