/* The figures of studies.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <math.h>

#include "core/base/base.h"
#include "features/study/study_report.h"
#include "kit/text/words.h"

/* ======== curves ======== */

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

        iwi_slowdown_range_text(low - 1.0, high - 1.0, y - 1.0, interval);
        snprintf(text, sizeof text, "%s ranks: %s%s%s", iwi_ranks_text(cell->ranks, ranks),
                 iwi_slowdown_text(y - 1.0, slowdown), low < high ? "\n95 % CI " : "",
                 low < high ? interval : "");
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
    if (cell == NULL || isnan(slowdown) || isnan(cell->makespan_ns.median_low)) {
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
                     "%s: median relative to the time without noise, and its 95 %% confidence interval",
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
        .label = "Time relative to no noise (median)", .unit = IWI_AXIS_FACTOR, .is_log = true};
    one = iwi_figure_mark(figure, IWI_MARK_RULE_Y, IWI_INK_TEXT, NULL);
    iwi_mark_add(figure, one, (double[]){1.0});
    if (!is_small) {
        rule = iwi_figure_mark(figure, IWI_MARK_RULE_Y, IWI_INK_NOISE, NULL);
        rule->dash = IWI_DASHED;
        iwi_mark_add_named(figure, rule, (double[]){1.0 + threshold}, "noise takes over", false);
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
               ? "all equal"
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
                     "%s: mean, its 95 %% confidence interval and median relative to the time without noise; "
                     "times of the trials, by %s",
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

/* ======== comparisons ======== */

static const iw_series *extreme(const struct iwi_comparison *c, double sign)
{
    const iw_series *found = NULL;
    double best = -INFINITY;

    for (size_t i = 0; i < c->count; i++) {
        const double slowdown = sign * iwi_median_slowdown(iwi_last_cell(c->members[i]));

        if (slowdown > best) {
            found = c->members[i];
            best = slowdown;
        }
    }
    return found;
}

/* A value alone says nothing in a sentence: "chic", "microbatches 8". */
static const char *name_of(struct iwi_document *doc, enum iwi_dim dim, const iw_series *series)
{
    const char *label = iwi_dim_label(doc, dim, series);

    return dim > IWI_DIMS ? iwi_doc_printf(doc, "%s %s", iwi_setting_key(dim), label) : label;
}

/* "chic takes 2.431 times as long as without noise" */
static const char *outcome(struct iwi_document *doc, enum iwi_dim dim, const iw_series *series)
{
    char slower[IWI_PHRASE_SIZE];

    return iwi_doc_printf(doc, "%s %s without noise", name_of(doc, dim, series),
                          iwi_slower_text(iwi_median_slowdown(iwi_last_cell(series)), slower));
}

static const char *extremes_text(struct iwi_document *doc, const struct iwi_comparison *c)
{
    const iw_series *most = extreme(c, 1.0), *least = extreme(c, -1.0);
    char ranks[IWI_NUMBER_SIZE];

    if (most == NULL) {
        return "";
    }
    iwi_ranks_text(iwi_last_cell(most)->ranks, ranks);
    return most == least
               ? iwi_doc_printf(doc, "By the median, at %s ranks %s. ", ranks, outcome(doc, c->dim, most))
               : iwi_doc_printf(doc, "By the median at %s ranks, the largest: %s; the smallest: %s. ", ranks,
                                outcome(doc, c->dim, most), outcome(doc, c->dim, least));
}

static const char *message_of(struct iwi_document *doc, const struct iwi_comparison *c)
{
    enum { MOST = 6 };
    const char *message = extremes_text(doc, c), *separator = "Noise takes over: ";
    size_t over = 0;

    for (size_t i = 0; i < c->count; i++) {
        over += c->members[i]->inflection > 0.0;
    }
    if (over == 0 || c->count > MOST) {
        return over == 0 ? iwi_doc_printf(doc, "%sNoise never takes over.", message)
                         : iwi_doc_printf(doc, "%sNoise takes over in %zu of %zu.", message, over, c->count);
    }
    for (size_t i = 0; i < c->count; i++) {
        message = iwi_doc_printf(doc, "%s%s%s %s", message, separator, name_of(doc, c->dim, c->members[i]),
                                 iwi_inflection_text(doc, c->members[i]));
        separator = "; ";
    }
    return iwi_doc_printf(doc, "%s.", message);
}

/* A series as figures have it that compare by `dim`. */
static struct iwi_drawn_series drawn_series(const struct iwi_study_view *view, enum iwi_dim dim,
                                            const iw_series *series)
{
    return (struct iwi_drawn_series){.series = series,
                                     .label = iwi_dim_label(view->doc, dim, series),
                                     .style = iwi_dim_style(&view->panels, dim, series)};
}

struct iwi_figure *iwi_study_show_curves(const struct iwi_study_view *view, const struct iwi_comparison *c,
                                         const char *title)
{
    struct iwi_drawn_series *drawn = iwi_arena_take(&view->doc->arena, c->count, sizeof *drawn);
    struct iwi_figure *figure = NULL;
    iw_status made;

    if (drawn == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < c->count; i++) {
        drawn[i] = drawn_series(view, c->dim, c->members[i]);
    }
    made = iwi_study_curves_figure(view->doc->log, drawn, c->count, view->results->threshold, title,
                                   iwi_dim_name(c->dim, false), &figure);
    if (made == IW_OK) {
        figure->message = message_of(view->doc, c);
    }
    iwi_show_figure(view->doc, made, figure);
    return view->doc->status == IW_OK ? figure : NULL;
}

/* ======== boxes ======== */

/* Heads the names of what a panel compares. */
static const char *axis_of(const struct iwi_study_view *view)
{
    return view->panels.by == IWI_DIM_SYSTEM ? "system" : iwi_dim_name(view->panels.by, false);
}

static const char *box_message(struct iwi_document *doc, const iw_series *series)
{
    const iw_cell_result *cell = iwi_last_cell(series);
    const iw_summary *time = &cell->makespan_ns;
    const char *interval = iwi_inflection_interval_text(doc, series), *middle = "", *over;
    char ranks[IWI_NUMBER_SIZE], trials[IWI_NUMBER_SIZE];

    iwi_ranks_text(cell->ranks, ranks);
    if (cell->trials > 1 && time->min == time->max) {
        middle = iwi_doc_printf(doc, "; all %s trials are equal", iwi_ranks_text(cell->trials, trials));
    } else if (cell->trials > 1) {
        middle = iwi_doc_printf(doc, "; the middle half of %s trials takes %s to %s",
                                iwi_ranks_text(cell->trials, trials), iwi_ns(doc, time->q1),
                                iwi_ns(doc, time->q3));
    }
    over = series->inflection <= 0.0 ? iwi_doc_printf(doc, "does not take over up to %s ranks", ranks)
           : interval[0] == '\0'     ? iwi_doc_printf(doc, "takes over %s", iwi_inflection_text(doc, series))
                                     : iwi_doc_printf(doc, "takes over %s (95 %% CI %s)",
                                                      iwi_inflection_text(doc, series), interval);
    return iwi_doc_printf(doc, "At %s ranks the mean is %s, the median %s, %s without noise%s. Noise %s.",
                          ranks, iwi_ns(doc, time->mean), iwi_ns(doc, time->median),
                          iwi_ns(doc, cell->noiseless_ns), middle, over);
}

/* At a terminal the axis is as long as the times are, but a factor of 2 at least: what hardly differs shall
 * look so. */
static void set_strip_axis(struct iwi_figure *figure, double low_ns, double high_ns)
{
    const double least = 0.3; /* decades */
    const bool is_any = high_ns > 0.0 && isfinite(low_ns);
    const double missing = fmax(0.0, least - (is_any ? log10(high_ns / low_ns) : 0.0));

    figure->y.low = (is_any ? low_ns : 1.0) * pow(10.0, -missing / 2.0);
    figure->y.high = (is_any ? high_ns : 1.0) * pow(10.0, missing / 2.0);
}

/* Where a heading says the rest, the system will do. */
static const char *box_title(const struct iwi_study_view *view, const iw_series *series, bool is_flat)
{
    if (iwi_wants(view->doc, IWI_IN_TEXT)) {
        return ""; /* it stands before the figure */
    }
    if (iwi_wants(view->doc, IWI_ON_PAGES)) {
        return iwi_series_label(view->doc, &view->panels, series, is_flat ? view->panels.by : IWI_DIMS);
    }
    return is_flat ? "Time" : iwi_dim_label(view->doc, view->panels.by, series);
}

/* The boxes of one system over ranks, or of all where there is one number of ranks. */
static void show_boxes(const struct iwi_study_view *view, const struct iwi_panel *panel, size_t first,
                       size_t count)
{
    struct iwi_document *doc = view->doc;
    struct iwi_drawn_series *drawn = iwi_arena_take(&doc->arena, count, sizeof *drawn);
    double low_ns = INFINITY, high_ns = 0.0;
    struct iwi_figure *figure = NULL;
    iw_status made;

    if (drawn == NULL) {
        return;
    }
    for (size_t i = 0; i < panel->count; i++) {
        iwi_study_limits(panel->series[i], &low_ns, &high_ns);
    }
    for (size_t i = 0; i < count; i++) {
        drawn[i] = drawn_series(view, view->panels.by, panel->series[first + i]);
    }
    made = iwi_study_boxes_figure(doc->log, drawn, count, view->results->threshold, low_ns, high_ns,
                                  box_title(view, panel->series[first], count > 1), axis_of(view), &figure);
    if (made == IW_OK) {
        figure->message = box_message(doc, panel->series[first]);
        figure->is_wide = count > 1;
    }
    if (made == IW_OK && iwi_wants(doc, IWI_IN_TEXT)) {
        set_strip_axis(figure, low_ns, high_ns);
    }
    iwi_show_figure(doc, made, figure);
}

/* What stands before boxes at a terminal: "chic: noise periodic:0.375Hz,5.6ms (0.21 %)", or "64 ranks". */
static void say_box_head(const struct iwi_study_view *view, const iw_series *series, bool is_flat)
{
    struct iwi_document *doc = view->doc;
    const iw_cell_result *cell = series->cells[0];
    char number[IWI_NUMBER_SIZE], noise[IWI_PARAGRAPH_SIZE];

    iwi_only_in(doc, IWI_IN_TEXT);
    if (is_flat) {
        iwi_paragraph(doc, "%s rank%s", iwi_ranks_text(cell->ranks, number), iwi_plural_s(cell->ranks));
        return;
    }
    iwi_paragraph(doc, "%s: noise %s", iwi_dim_label(doc, view->panels.by, series),
                  iwi_plain_text(cell->noise, noise));
    if (cell->noise_share > 0.0) {
        iwi_doc_append(doc, " (%s)", iwi_share_text(cell->noise_share, number));
    }
}

static double worst_mean(const iw_series *series)
{
    const iw_cell_result *worst = iwi_worst_of_series(series);

    return worst != NULL ? iwi_mean_slowdown(worst) : NAN;
}

static void say_table(const struct iwi_study_view *view, const struct iwi_panel *panel)
{
    struct iwi_document *doc = view->doc;
    double largest = 0;
    char number[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < panel->count; i++) {
        largest = fmax(largest, worst_mean(panel->series[i]));
    }

    iwi_only_in(doc, IWI_IN_TEXT);
    IWI_TABLE(doc, "", {axis_of(view), IWI_WORDS}, {"noise takes over", IWI_WORDS}, {"95 % CI", IWI_WORDS},
              {"worst mean", IWI_NUMBER});
    for (size_t i = 0; i < panel->count; i++) {
        const iw_series *series = panel->series[i];

        iwi_row(doc, iwi_dim_label(doc, view->panels.by, series), iwi_inflection_text(doc, series),
                iwi_inflection_interval_text(doc, series),
                iwi_doc_printf(doc, "%s", iwi_slowdown_column_text(worst_mean(series), largest, number)));
    }
    iwi_unfold(doc);
}

/* The last figure of a sheet, and what the signs of all mean. */
static void say_sheet(const struct iwi_study_view *view, const struct iwi_panel *panel, bool is_flat)
{
    const struct iwi_comparison all = {
        .dim = view->panels.by, .count = panel->count, .members = panel->series};
    struct iwi_document *doc = view->doc;
    struct iwi_figure *curves;

    iwi_only_in(doc, IWI_IN_PLOTS);
    curves = iwi_study_show_curves(view, &all, "Relative time");
    if (curves != NULL) {
        curves->height = 0.4;
    }
    iwi_note(doc,
             "Boxes: quartiles and median; whiskers: 5 %% and 95 %%; %sdots: shortest and longest; %s: "
             "without noise.",
             is_flat ? "small " : "", is_flat ? "large dots" : "dotted");
    iwi_note(doc, "%s: 95 %% CI of the median; dashed: %.4gx as long%s.", is_flat ? "Bars" : "Bands",
             1.0 + view->results->threshold, is_flat ? "" : ", triangles: noise takes over");
}

/* "panel-3-allreduce-ring": what is special in file names or for gnuplot becomes "-". */
static const char *sheet_name(struct iwi_document *doc, const char *work, size_t number)
{
    enum { NAME_SIZE = 80 };
    char name[NAME_SIZE];
    size_t used = 0;

    for (; *work != '\0' && used + 1 < NAME_SIZE; work++) {
        const unsigned char c = (unsigned char)*work;

        name[used++] = (char)(c < 0x80 && isalnum(c) ? c : '-');
    }
    name[used] = '\0';
    return iwi_doc_printf(doc, "panel-%zu-%s", number, name);
}

/* The work and its sizes; where systems are not what a panel compares, all that sets it apart. */
static const char *panel_title(const struct iwi_study_view *view, const struct iwi_panel *panel)
{
    return view->panels.by == IWI_DIM_SYSTEM
               ? iwi_panel_title(view->doc, panel->cell)
               : iwi_series_label(view->doc, &view->panels, panel->first, view->panels.by);
}

static void say_panel(const struct iwi_study_view *view, const struct iwi_panel *panel, size_t number)
{
    const bool is_flat = iwi_panel_is_flat(panel) && panel->count > 1;
    struct iwi_document *doc = view->doc;

    iwi_only_in(doc, IWI_IN_TEXT | IWI_IN_PLOTS);
    iwi_sheet_section(doc, sheet_name(doc, panel->cell->work, number), panel_title(view, panel));
    say_table(view, panel);
    for (size_t i = 0; i < panel->count; i += is_flat ? panel->count : 1) {
        say_box_head(view, panel->series[i], is_flat);
        iwi_only_in(doc, IWI_EVERYWHERE);
        show_boxes(view, panel, i, is_flat ? panel->count : 1);
    }
    if (iwi_wants(doc, IWI_IN_PLOTS)) {
        say_sheet(view, panel, is_flat);
    }
}

void iwi_study_say_panels(const struct iwi_study_view *view)
{
    struct iwi_document *doc = view->doc;

    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_section(doc, "times", "Distribution of times");
    iwi_note(doc,
             "Boxes: the middle half of the trials, with the median. Whiskers: from 5 %% to 95 %% of the "
             "trials. Dots: the shortest and the longest. Dotted line: without noise. Dashed vertical line: "
             "where noise takes over. Both axes are logarithmic; systems with the same work have "
             "the same time axis.");
    iwi_only_in(doc, IWI_IN_TEXT);
    iwi_code(doc, "%s\nMean, 95 %% CI, median: 12.3 %% longer than without noise, or 2.345x as long.",
             iwi_strip_legend);
    for (size_t i = 0; i < view->panels.count; i++) {
        say_panel(view, &view->panels.panels[i], i + 1);
    }
}
