/* Panels of a study: a table and boxes of how the times of its cells are distributed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <math.h>

#include "core/base/base.h"
#include "features/study/study_figure.h"
#include "features/study/study_report.h"
#include "kit/text/words.h"

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
        drawn[i] = iwi_study_drawn(view, view->panels.by, panel->series[first + i]);
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

    iwi_only(doc, IWI_IN_TEXT);
    if (is_flat) {
        iwi_paragraph(doc, "%s rank%s", iwi_ranks_text(cell->ranks, number), iwi_s(cell->ranks));
        return;
    }
    iwi_paragraph(doc, "%s: noise %s", iwi_dim_label(doc, view->panels.by, series),
                  iwi_plain_text(cell->noise, noise));
    if (cell->noise_share > 0.0) {
        iwi_more(doc, " (%s)", iwi_share_text(cell->noise_share, number));
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

    iwi_only(doc, IWI_IN_TEXT);
    IWI_TABLE(doc, "", {axis_of(view), IWI_WORDS}, {"noise takes over", IWI_WORDS}, {"95 % CI", IWI_WORDS},
              {"worst mean", IWI_NUMBER});
    for (size_t i = 0; i < panel->count; i++) {
        const iw_series *series = panel->series[i];

        iwi_row(doc, iwi_dim_label(doc, view->panels.by, series), iwi_inflection_text(doc, series),
                iwi_inflection_interval_text(doc, series),
                iwi_say(doc, "%s", iwi_slowdown_column_text(worst_mean(series), largest, number)));
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

    iwi_only(doc, IWI_IN_PLOTS);
    curves = iwi_study_show_curves(view, &all, "Relative time");
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

    iwi_only(doc, IWI_IN_TEXT | IWI_IN_PLOTS);
    iwi_sheet_section(doc, sheet_name(doc, panel->cell->work, number), panel_title(view, panel));
    say_table(view, panel);
    for (size_t i = 0; i < panel->count; i += is_flat ? panel->count : 1) {
        say_box_head(view, panel->series[i], is_flat);
        iwi_only(doc, IWI_EVERYWHERE);
        show_boxes(view, panel, i, is_flat ? panel->count : 1);
    }
    if (iwi_wants(doc, IWI_IN_PLOTS)) {
        say_sheet(view, panel, is_flat);
    }
}

void iwi_study_say_panels(const struct iwi_study_view *view)
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
