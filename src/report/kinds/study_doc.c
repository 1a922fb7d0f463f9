/* Studies: where noise takes over, on which systems, and how the times of all cells are distributed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <math.h>

#include "base/base.h"
#include "report/doc/kinds.h"
#include "report/figure/study_figure.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/study_report.h"

/* ---- the table: a line of CSV for each cell ---- */

#define SLOWDOWN(name, member)                                    \
    static double name(const void *object)                        \
    {                                                             \
        const iw_cell_result *cell = object;                      \
                                                                  \
        return iwi_cell_slowdown(cell, cell->makespan_ns.member); \
    }

SLOWDOWN(mean_slowdown, mean)
SLOWDOWN(mean_slowdown_low, mean_low)
SLOWDOWN(mean_slowdown_high, mean_high)
SLOWDOWN(median_slowdown, median)
SLOWDOWN(median_slowdown_low, median_low)
SLOWDOWN(median_slowdown_high, median_high)

static const struct iwi_field cell_fields[] = {
    IWI_CHARS(iw_cell_result, id),
    IWI_VALUE(iw_cell_result, system),
    IWI_VALUE(iw_cell_result, work),
    IWI_VALUE(iw_cell_result, net),
    IWI_VALUE(iw_cell_result, noise),
    IWI_VALUE(iw_cell_result, ranks),
    IWI_VALUE(iw_cell_result, bytes),
    IWI_ENUM(iw_cell_result, sync, "sync", iwi_sync_name),
    IWI_VALUE(iw_cell_result, net_scale),
    IWI_VALUE(iw_cell_result, trials),
    IWI_VALUE(iw_cell_result, seed),
    IWI_VALUE(iw_cell_result, messages),
    IWI_VALUE(iw_cell_result, noise_share),
    IWI_VALUE(iw_cell_result, noiseless_ns),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.min, "min_ns"),
    IWI_VALUE(iw_cell_result, p5_ns),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.q1, "q1_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.median, "median_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.q3, "q3_ns"),
    IWI_VALUE(iw_cell_result, p95_ns),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.max, "max_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.mean, "mean_ns"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.mean_low, "mean_ns_low"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.mean_high, "mean_ns_high"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.median_low, "median_ns_low"),
    IWI_VALUE_AS(iw_cell_result, makespan_ns.median_high, "median_ns_high"),
    IWI_REAL_OF("mean_slowdown", mean_slowdown),
    IWI_REAL_OF("mean_slowdown_low", mean_slowdown_low),
    IWI_REAL_OF("mean_slowdown_high", mean_slowdown_high),
    IWI_REAL_OF("median_slowdown", median_slowdown),
    IWI_REAL_OF("median_slowdown_low", median_slowdown_low),
    IWI_REAL_OF("median_slowdown_high", median_slowdown_high),
};
static const struct iwi_schema cell_schema = IWI_SCHEMA(iw_cell_result, cell_fields);

static const struct iwi_field study_fields[] = {
    IWI_OBJECTS(iw_study_results, cells, count, cell_schema, .is_row = true),
};
static const struct iwi_schema study_schema = IWI_SCHEMA(iw_study_results, study_fields);

/* ---- all series ---- */

static const char *interval_text(struct iwi_document *doc, const iw_series *series)
{
    const char *interval = iwi_inflection_interval_text(doc, series);

    return interval[0] != '\0' ? interval : "-";
}

static void say_series(const struct iwi_study_view *view, const iw_series *series)
{
    struct iwi_document *doc = view->doc;
    const iw_cell_result *cell = iwi_last_cell(series);
    const char *cells[IWI_MOST_COLUMNS + 1] = {NULL};
    char text[IWI_RANGE_SIZE];
    size_t count = 0;

    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (view->panels.varies[dim] || dim == IWI_DIM_SYSTEM) {
            cells[count++] = iwi_dim_label(doc, (enum iwi_dim)dim, series);
        }
    }
    cells[count++] = series->inflection > 0.0
                         ? iwi_say(doc, "%s", iwi_about_ranks_text(series->inflection, text))
                         : "none";
    cells[count++] = interval_text(doc, series);
    cells[count++] = iwi_slower(doc, iwi_mean_slowdown(cell));
    cells[count++] =
        iwi_say(doc, "%s", iwi_slowdown_span_text(mean_slowdown_low(cell), mean_slowdown_high(cell), text));
    cells[count++] = iwi_slower(doc, iwi_median_slowdown(cell));
    cells[count++] = iwi_say(doc, "%s", iwi_ranks_text(cell->ranks, text));
    cells[count++] = iwi_ns(doc, cell->noiseless_ns);
    cells[count++] =
        isnan(cell->noise_share) ? "-" : iwi_say(doc, "%s", iwi_share_text(cell->noise_share, text));
    cells[count++] = cell->noise;
    iwi_row_cells(doc, cells);
}

static void say_overview(const struct iwi_study_view *view)
{
    static const char *const heads[] = {"Noise takes over, ranks (median)",
                                        "95 % CI",
                                        "Mean slowdown on the most ranks",
                                        "95 % CI",
                                        "Median slowdown there",
                                        "Most ranks",
                                        "Without noise",
                                        "Noise, share of time"};
    struct iwi_column columns[IWI_MOST_COLUMNS];
    size_t count = 0;

    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (view->panels.varies[dim] || dim == IWI_DIM_SYSTEM) {
            columns[count++] = (struct iwi_column){iwi_dim_name((enum iwi_dim)dim, false), IWI_WORDS};
        }
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        columns[count++] = (struct iwi_column){heads[i], IWI_NUMBER};
    }
    columns[count++] = (struct iwi_column){"Noise", IWI_WORDS};
    iwi_section(view->doc, "overview", "All series");
    iwi_table(view->doc, "Where noise takes over, and what the most ranks take", columns, count);
    for (size_t i = 0; i < view->panels.series_count; i++) {
        say_series(view, &view->panels.series[i]);
    }
    iwi_unfold(view->doc);
}

/* ---- panels ---- */

static const char *box_message(struct iwi_document *doc, const iw_series *series)
{
    const iw_cell_result *cell = iwi_last_cell(series);
    const iw_summary *time = &cell->makespan_ns;
    const char *interval = iwi_inflection_interval_text(doc, series), *middle = "", *over;
    char ranks[IWI_NUMBER_SIZE], trials[IWI_NUMBER_SIZE];

    iwi_ranks_text(cell->ranks, ranks);
    if (cell->trials > 1) {
        middle = iwi_say(doc, "; the middle half of %s trials takes %s to %s",
                         iwi_ranks_text(cell->trials, trials), iwi_ns(doc, time->q1), iwi_ns(doc, time->q3));
    }
    over = series->inflection <= 0.0 ? iwi_say(doc, "does not take over up to %s ranks", ranks)
           : interval[0] == '\0'
               ? iwi_say(doc, "takes over %s", iwi_inflection_text(doc, series))
               : iwi_say(doc, "takes over %s (95 %% CI %s)", iwi_inflection_text(doc, series), interval);
    return iwi_say(doc, "At %s ranks the mean is %s, the median %s, against %s without noise%s. Noise %s.",
                   ranks, iwi_ns(doc, time->mean), iwi_ns(doc, time->median), iwi_ns(doc, cell->noiseless_ns),
                   middle, over);
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
        return iwi_series_label(view->doc, &view->panels, series, is_flat ? IWI_DIM_SYSTEM : IWI_DIMS);
    }
    return is_flat ? "Time" : iwi_dim_label(view->doc, IWI_DIM_SYSTEM, series);
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
        drawn[i] = iwi_study_drawn(view, IWI_DIM_SYSTEM, panel->series[first + i]);
    }
    made = iwi_study_boxes_figure(doc->log, drawn, count, view->results->threshold, low_ns, high_ns,
                                  box_title(view, panel->series[first], count > 1), &figure);
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
static void say_box_head(struct iwi_document *doc, const iw_cell_result *cell, bool is_flat)
{
    char number[IWI_NUMBER_SIZE], noise[IWI_PARAGRAPH_SIZE];

    iwi_only(doc, IWI_IN_TEXT);
    if (is_flat) {
        iwi_paragraph(doc, "%s rank%s", iwi_ranks_text(cell->ranks, number), iwi_s(cell->ranks));
        return;
    }
    iwi_paragraph(doc, "%s: noise %s", iwi_study_name(doc, cell->system), iwi_plain_text(cell->noise, noise));
    if (cell->noise_share > 0.0) {
        iwi_more(doc, " (%s)", iwi_share_text(cell->noise_share, number));
    }
}

static void say_table(struct iwi_document *doc, const struct iwi_panel *panel)
{
    iwi_only(doc, IWI_IN_TEXT);
    IWI_TABLE(doc, "", {"system", IWI_WORDS}, {"noise takes over", IWI_WORDS}, {"95 % CI", IWI_WORDS},
              {"worst mean", IWI_NUMBER});
    for (size_t i = 0; i < panel->count; i++) {
        const iw_series *series = panel->series[i];
        const iw_cell_result *worst = iwi_worst_of_series(series);

        iwi_row(doc, iwi_dim_label(doc, IWI_DIM_SYSTEM, series), iwi_inflection_text(doc, series),
                iwi_inflection_interval_text(doc, series),
                iwi_slower(doc, worst != NULL ? iwi_mean_slowdown(worst) : NAN));
    }
    iwi_unfold(doc);
}

/* The last figure of a sheet, and what the signs of all mean. */
static void say_sheet(const struct iwi_study_view *view, const struct iwi_panel *panel, bool is_flat)
{
    const struct iwi_comparison all = {
        .dim = IWI_DIM_SYSTEM, .count = panel->count, .members = panel->series};
    struct iwi_document *doc = view->doc;
    struct iwi_figure *curves;

    iwi_only(doc, IWI_IN_PLOTS);
    curves = iwi_study_show_curves(view, &all, "Slowdown");
    if (curves != NULL) {
        curves->height = 0.4;
    }
    iwi_note(
        doc,
        "Boxes: quartiles and median; whiskers: 5 %% and 95 %%; %sdots: least and most; %s: without noise.",
        is_flat ? "small " : "", is_flat ? "large dots" : "dotted");
    iwi_note(doc, "%s: 95 %% confidence of the median; dashed: %.4g times as long%s.",
             is_flat ? "Bars" : "Bands", 1.0 + view->results->threshold,
             is_flat ? "" : ", triangles: noise takes over");
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
    return iwi_say(doc, "panel-%zu-%s", number, name);
}

static void say_panel(const struct iwi_study_view *view, const struct iwi_panel *panel, size_t number)
{
    const bool is_flat = iwi_panel_is_flat(panel) && panel->count > 1;
    struct iwi_document *doc = view->doc;

    iwi_only(doc, IWI_IN_TEXT | IWI_IN_PLOTS);
    iwi_sheet_section(doc, sheet_name(doc, panel->cell->work, number), iwi_panel_title(doc, panel->cell));
    say_table(doc, panel);
    for (size_t i = 0; i < panel->count; i += is_flat ? panel->count : 1) {
        say_box_head(doc, panel->series[i]->cells[0], is_flat);
        iwi_only(doc, IWI_EVERYWHERE);
        show_boxes(view, panel, i, is_flat ? panel->count : 1);
    }
    if (iwi_wants(doc, IWI_IN_PLOTS)) {
        say_sheet(view, panel, is_flat);
    }
}

static void say_panels(const struct iwi_study_view *view)
{
    struct iwi_document *doc = view->doc;

    iwi_only(doc, IWI_ON_PAGES);
    iwi_section(doc, "times", "How times are distributed");
    iwi_note(doc,
             "Boxes: the middle half of the trials, with the median. Whiskers: from 5 %% to 95 %% of the "
             "trials. Dots: the shortest and the longest. Dotted line: without noise. Dashed upright "
             "line: where noise takes over. Both axes are logarithmic; systems with the same work have "
             "the same axis of time.");
    iwi_only(doc, IWI_IN_TEXT);
    iwi_code(doc, "%s\nMean, 95 %% CI, median: 12.3 %% longer than without noise, or 2.345x as long.",
             iwi_strip_legend);
    for (size_t i = 0; i < view->panels.count; i++) {
        say_panel(view, &view->panels.panels[i], i + 1);
    }
}

/* ---- all of it ---- */

static void say_origin(struct iwi_document *doc, const iw_study_results *results)
{
    iwi_section(doc, "origin", "Origin");
    if (results->attribute_count > 0) {
        IWI_TABLE(doc, "How, when and where this was made", {"What", IWI_WORDS}, {"Value", IWI_WORDS});
        for (size_t i = 0; i < results->attribute_count; i++) {
            iwi_row(doc, results->attributes[i].name, results->attributes[i].value);
        }
        iwi_unfold(doc);
    }
    iwi_paragraph(doc, "The study as it was written:");
    iwi_code(doc, "%s", results->text);
}

static void say_cells(const struct iwi_study_view *view)
{
    struct iwi_document *doc = view->doc;

    iwi_only(doc, IWI_ON_PAGES);
    if (iwi_wants(doc, IWI_ON_PAGES)) {
        if (view->panels.varies[IWI_DIM_SYSTEM]) {
            iwi_study_say_systems(doc, &view->panels);
        }
        iwi_study_say_slowdowns(view);
        say_overview(view);
    }
    say_panels(view);
    iwi_only(doc, IWI_EVERYWHERE);
    iwi_section(doc, "certainty", "How sure");
    iwi_study_say_notes(doc, view->results);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_study_results *results = subject;
    struct iwi_study_view view = {.doc = doc, .results = results};
    char cells[IWI_NUMBER_SIZE];

    doc->status = iwi_panels_new(doc->log, results, &view.panels);
    if (doc->status != IW_OK) {
        return;
    }
    iwi_title(doc, "%s",
              results->title != NULL && results->title[0] != '\0' ? results->title : results->name);
    iwi_subtitle(doc, "Study %s: %zu series, %s cells", results->name, view.panels.series_count,
                 iwi_ranks_text(results->count, cells));
    iwi_study_say_verdict(doc, results, &view.panels);
    if (view.panels.series_count > 0) {
        say_cells(&view);
    }
    iwi_only(doc, IWI_ON_PAGES);
    say_origin(doc, results);
    iwi_panels_release(&view.panels);
}

const struct iwi_kind iwi_study_kind = {.name = "study", .schema = &study_schema, .write_doc = write_doc};

iw_doc iw_study_doc(const iw_study_results *results)
{
    return (iw_doc){&iwi_study_kind, results};
}
