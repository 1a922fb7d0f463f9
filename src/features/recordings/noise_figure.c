/* Detours of a recording over time, by source, and how often they take how long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/noise_report.h"

#include <math.h>

#include "core/base/base.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

enum { LABEL_COLUMNS = 28, TABLE_ROWS = 20 };

_Static_assert((int)IW_NOISE_SERIES <= (int)IWI_SERIES_INKS, "each series has an ink");

static bool is_quanta(const iw_noise_report *report)
{
    return iw_probe_has_quanta(report->facts.probe);
}

/* ---- sources ---- */

/* The largest sources have series of their own, the rest is one. */
struct series {
    size_t count;
    char labels[IW_NOISE_SERIES][IWI_NAME_SIZE];
    enum iwi_ink inks[IW_NOISE_SERIES];
};

static void name_series(const iw_noise_facts *facts, struct series *series)
{
    const size_t count = facts->source_count;
    const size_t own = count <= IW_NOISE_SERIES ? count : IW_NOISE_SERIES - 1;
    const char *names[IW_NOISE_SERIES] = {""};

    if (iw_probe_has_quanta(facts->probe) || count == 0) {
        *series = (struct series){.count = 1, .labels = {"quanta"}, .inks = {IWI_INK_NOISE}};
        return;
    }
    for (size_t i = 0; i < own; i++) {
        names[i] = iwi_source_name(&facts->sources[i].source);
        (void)iwi_plain_name(names[i], LABEL_COLUMNS, series->labels[i]);
    }
    iwi_source_inks(names, own, series->inks);
    series->count = own;
    if (own < count) {
        snprintf(series->labels[own], IWI_NAME_SIZE, "%zu others", count - own);
        series->inks[own] = IWI_INK_FAINT;
        series->count++;
    }
}

/* ---- detours over time ---- */

static void add_point(struct iwi_figure *figure, struct iwi_mark *mark, const iw_noise_point *point)
{
    iwi_mark_add(figure, mark, (double[]){point->start_ns, point->duration_ns});
}

/* The rest lies beneath the others, large sources beneath small ones: rare long detours stay visible. */
static void add_series(struct iwi_figure *figure, const iw_noise_report *report)
{
    const iw_noise_picture *picture = &report->picture;
    struct iwi_mark *marks[IW_NOISE_SERIES];
    struct series series;

    name_series(&report->facts, &series);
    for (size_t i = 0; i < series.count; i++) {
        marks[i] = iwi_figure_mark(figure, IWI_MARK_DOTS, series.inks[i], series.labels[i]);
    }
    for (size_t i = 0; i < picture->point_count; i++) {
        const size_t last = series.count - 1, source = picture->points[i].source;

        add_point(figure, marks[source < last ? source : last], &picture->points[i]);
    }
}

/* All alike: how many there are is what counts. */
static void add_points(struct iwi_figure *figure, const iw_noise_picture *picture)
{
    struct iwi_mark *longest = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_NOISE, NULL);
    struct iwi_mark *rest = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_NOISE, NULL);

    rest->stands_for = picture->stride;
    for (size_t i = 0; i < picture->point_count; i++) {
        add_point(figure, i < picture->longest_count ? longest : rest, &picture->points[i]);
    }
}

static const char *source_name(const iw_noise_report *report, const iw_noise_point *point)
{
    return iwi_source_name(&report->facts.sources[point->source].source);
}

static void add_table(struct iwi_figure *figure, const iw_noise_report *report)
{
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, is_quanta(report) ? "The largest losses" : "The longest detours");
    iwi_figure_head(figure, false, "Time");
    iwi_figure_head(figure, false, "CPU");
    iwi_figure_head(figure, false, "Length");
    iwi_figure_head(figure, true, "Source");
    for (size_t i = 0; i < report->picture.longest_count && i < TABLE_ROWS; i++) {
        const iw_noise_point *point = &report->picture.points[i];

        iwi_figure_cell(figure, "%.6f s", point->start_ns / 1e9);
        iwi_figure_cell(figure, "%" PRIu32, point->cpu);
        iwi_figure_cell(figure, "%s", iwi_ns_short_text(point->duration_ns, number));
        iwi_figure_cell(figure, "%s", source_name(report, point));
    }
}

static void add_message(struct iwi_figure *figure, const iw_noise_report *report)
{
    const iw_noise_point *longest = report->picture.points;
    char message[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE], count[IWI_NUMBER_SIZE];

    iwi_append(message, "The longest of %s took %s, on CPU %" PRIu32 " at %.3f s (%.60s).",
               iwi_ranks_text(report->picture.count, count), iwi_ns_short_text(longest->duration_ns, number),
               longest->cpu, longest->start_ns / 1e9, source_name(report, longest));
    if (report->picture.stride > 1) {
        iwi_append(message, " The picture shows the %s longest, and one of %zu of the rest.",
                   iwi_ranks_text(report->picture.longest_count, count), report->picture.stride);
    }
    figure->message = iwi_figure_text(figure, "%s", message);
}

iw_status iwi_noise_scatter_figure(const iw_log *log, const iw_noise_report *report, bool is_by_source,
                                   struct iwi_figure **figure_p)
{
    const iw_noise_picture *picture = &report->picture;
    const double low = floor(log10(picture->bins[0].from_ns));
    const double high = ceil(log10(picture->points[0].duration_ns));
    struct iwi_figure *figure;

    IW_TRY(
        iwi_figure_new(log, is_quanta(report) ? "Losses of quanta over time" : "Detours over time", &figure));
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .high = picture->length_ns};
    figure->y =
        (struct iwi_figure_axis){.label = is_quanta(report) ? "Loss of a quantum" : "Length of a detour",
                                 .unit = IWI_AXIS_NS,
                                 .is_log = true,
                                 .low = pow(10.0, low),
                                 .high = pow(10.0, fmax(high, low + 1.0))};
    if (is_by_source) {
        add_series(figure, report);
    } else {
        add_points(figure, picture);
    }
    add_table(figure, report);
    add_message(figure, report);
    *figure_p = figure;
    return IW_OK;
}

/* ---- rates ---- */

/* Per second of a CPU, how many of a series take at least as long as each bin begins. */
static void add_rates(struct iwi_figure *figure, struct iwi_mark *steps, const iw_noise_report *report,
                      size_t series)
{
    const iw_noise_bin *bins = report->picture.bins;
    size_t first = 0, last = report->picture.bin_count;
    uint64_t at_least = 0;

    while (last > 0 && bins[last - 1].by_source[series] == 0) {
        last--;
    }
    while (first < last && bins[first].by_source[series] == 0) {
        first++;
    }
    for (size_t i = first; i < last; i++) {
        at_least += bins[i].by_source[series];
    }
    for (size_t i = first; i < last; i++) {
        const double rate_hz = (double)at_least / report->facts.watched_ns * 1e9;

        iwi_mark_add(figure, steps, (double[]){bins[i].from_ns, rate_hz});
        if (i + 1 == last) { /* so that it has a width */
            iwi_mark_add(figure, steps, (double[]){bins[i].to_ns, rate_hz});
        }
        at_least -= bins[i].by_source[series];
    }
}

iw_status iwi_noise_rates_figure(const iw_log *log, const iw_noise_report *report,
                                 struct iwi_figure **figure_p)
{
    struct iwi_figure *figure;
    struct series series;

    IW_TRY(iwi_figure_new(log, "How often they take how long", &figure));
    figure->is_wide = true;
    figure->height = 0.3;
    figure->x = (struct iwi_figure_axis){.label = "Length, at least", .unit = IWI_AXIS_NS, .is_log = true};
    figure->y = (struct iwi_figure_axis){.label = "Per second and CPU", .is_log = true};
    name_series(&report->facts, &series);
    for (size_t i = 0; i < series.count; i++) {
        add_rates(figure, iwi_figure_mark(figure, IWI_MARK_STEP, series.inks[i], NULL), report, i);
    }
    *figure_p = figure;
    return IW_OK;
}

/* ---- how many took how long ---- */

static void add_bins_table(struct iwi_figure *figure, const iw_noise_report *report, double all_ns)
{
    static const char *const heads[] = {"From", "To", "Count", "Rate on a CPU", "Share of the noise"};
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "Detours by length");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_figure_head(figure, false, "%s", heads[i]);
    }
    for (size_t i = 0; i < report->picture.bin_count; i++) {
        const iw_noise_bin *bin = &report->picture.bins[i];

        iwi_figure_cell(figure, "%s", iwi_ns_round_text(bin->from_ns, number));
        iwi_figure_cell(figure, "%s", iwi_ns_round_text(bin->to_ns, number));
        iwi_figure_cell(figure, "%s", iwi_ranks_text(bin->count, number));
        iwi_figure_cell(figure, "%s",
                        iwi_rate_text((double)bin->count * 1e9 / report->facts.watched_ns, number));
        iwi_figure_cell(figure, "%s", iwi_share_text(bin->time_ns / all_ns, number));
    }
}

/* Which lengths are the most frequent, and which take the most time. */
static void add_bins_message(struct iwi_figure *figure, const iw_noise_picture *picture, double all_ns)
{
    const iw_noise_bin *often = picture->bins, *costly = often;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], costly_low[IWI_NUMBER_SIZE];
    char costly_high[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE];

    for (const iw_noise_bin *bin = picture->bins; bin < picture->bins + picture->bin_count; bin++) {
        often = bin->count > often->count ? bin : often;
        costly = bin->time_ns > costly->time_ns ? bin : costly;
    }
    figure->message = iwi_figure_text(
        figure,
        "Most take %s to %s; those of %s to %s cost most, %s of all noise. Both axes are logarithmic.",
        iwi_ns_round_text(often->from_ns, low), iwi_ns_round_text(often->to_ns, high),
        iwi_ns_round_text(costly->from_ns, costly_low), iwi_ns_round_text(costly->to_ns, costly_high),
        iwi_share_text(costly->time_ns / all_ns, share));
}

iw_status iwi_noise_histogram_figure(const iw_log *log, const iw_noise_report *report,
                                     struct iwi_figure **figure_p)
{
    const iw_noise_picture *picture = &report->picture;
    double all_ns = 0.0;
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(log, is_quanta(report) ? "Losses of quanta" : "Lengths of detours", &figure));
    iwi_histogram_axes(figure, "Length", "Count");
    figure->x.low = picture->bins[0].from_ns;
    figure->x.high = picture->bins[picture->bin_count - 1].to_ns;
    bars = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, NULL);
    for (size_t i = 0; i < picture->bin_count; i++) {
        all_ns += picture->bins[i].time_ns;
        iwi_histogram_bar(figure, bars, picture->bins[i].from_ns, picture->bins[i].to_ns,
                          (double)picture->bins[i].count, NULL);
    }
    add_bins_table(figure, report, all_ns);
    add_bins_message(figure, picture, all_ns);
    *figure_p = figure;
    return IW_OK;
}

/* ---- distributions of durations as pictures show them ---- */

/* Of the largest values each is a point; then they are thinned to so many in a factor of e. */
enum { POINTS_PER_E = 24, MOST_POINTS = 1024 };

static void reverse(iw_duration_point *points, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const iw_duration_point point = points[i];

        points[i] = points[count - 1 - i];
        points[count - 1 - i] = point;
    }
}

/* From the longest on, ever further apart. */
iw_status iwi_duration_points_new(const iw_log *log, const int64_t *sorted_ns, size_t count,
                                  iw_duration_point **points_p, size_t *point_count_p)
{
    iw_duration_point *points = iwi_new_array(log, MOST_POINTS, sizeof *points);
    size_t longer = 1, taken = 0;

    if (points == NULL) {
        return IW_ERR_NOMEM;
    }
    while (longer <= count && taken < MOST_POINTS) {
        const double ns = (double)sorted_ns[count - longer];

        if (taken > 0 && points[taken - 1].ns == ns) {
            taken--; /* of equal ones the last has all of them */
        }
        points[taken++] = (iw_duration_point){ns, (double)longer / (double)count};
        if (longer == count) {
            break;
        }
        longer += longer / POINTS_PER_E + 1;
        longer = longer < count ? longer : count;
    }
    reverse(points, taken);
    *points_p = points;
    *point_count_p = taken;
    return IW_OK;
}
