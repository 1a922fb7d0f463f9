/* Detours of a recording over time, by source, and how often they take how long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/noise_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/study_report.h"

enum {
    LONGEST_PART = 4, /* one of so many points is one of the longest of all */
    LABEL_COLUMNS = 28,
    TABLE_ROWS = 20,
    BINS_PER_DECADE = 20,
    DECADES = 19, /* of an int64_t */
    BINS = DECADES * BINS_PER_DECADE
};

/* ---- sources ---- */

static void name_series(const iw_recording *detours, const size_t *order, size_t source_count,
                        struct iwi_source_series *series)
{
    const size_t own = source_count <= IWI_SERIES_INKS ? source_count : IWI_SERIES_INKS - 1;
    const char *names[IWI_SERIES_INKS];

    memset(series->series_of, (int)(own < source_count ? own : 0), detours->source_count);
    for (size_t i = 0; i < own; i++) {
        names[i] = iwi_source_name(&detours->sources[order[i]]);
        series->series_of[order[i]] = (uint8_t)i;
        (void)iwi_plain_name(names[i], LABEL_COLUMNS, series->labels[i]);
    }
    iwi_source_inks(names, own, series->inks);
    series->count = own;
    if (own < source_count) {
        snprintf(series->labels[own], IWI_NAME_SIZE, "%zu others", source_count - own);
        series->inks[own] = IWI_INK_FAINT;
        series->count++;
    }
}

iw_status iwi_source_series_new(const iw_log *log, const iw_recording *detours, const iw_noise_facts *facts,
                                struct iwi_source_series *series)
{
    size_t *order = iwi_new_array(log, detours->source_count, sizeof *order);

    *series = (struct iwi_source_series){.count = 0};
    series->series_of = iwi_new_array(log, detours->source_count, 1);
    if (order == NULL || series->series_of == NULL) {
        free(order);
        free(series->series_of);
        return IW_ERR_NOMEM;
    }
    if (facts != NULL && detours->probe == IW_PROBE_SELFISH) {
        name_series(detours, order, iwi_order_rows(facts->by_source, detours->source_count, order), series);
    }
    if (series->count == 0) {
        snprintf(series->labels[0], IWI_NAME_SIZE, "%s",
                 detours->probe == IW_PROBE_SELFISH ? "detours" : "quanta");
        series->inks[0] = IWI_INK_NOISE;
        series->count = 1;
    }
    free(order);
    return IW_OK;
}

/* ---- detours over time ---- */

struct point {
    int64_t start_ns, duration_ns;
    uint32_t cpu, source;
};

struct scatter {
    const iw_recording *detours;
    size_t most;
    size_t count, longest_count;
    struct point *points; /* the longest first, longest_count of them; then those that are kept of the rest */
    size_t kept, stride;
};

/* The longest first; of equal ones the earliest. */
static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->duration_ns != y->duration_ns) {
        return x->duration_ns < y->duration_ns ? 1 : -1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void gather(struct scatter *s)
{
    for (size_t c = 0; c < s->detours->cpu_count; c++) {
        const iw_detours *cpu = &s->detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            if (cpu->duration_ns[i] > 0) {
                s->points[s->count++] = (struct point){cpu->start_ns[i], cpu->duration_ns[i], cpu->cpu,
                                                       cpu->source != NULL ? cpu->source[i] : 0};
            }
        }
    }
}

/* Sorted by duration, every so many of the shorter ones stand for all of them. */
static void thin_out(struct scatter *s)
{
    const size_t longest = s->most / LONGEST_PART, rest = s->most - longest;

    qsort(s->points, s->count, sizeof *s->points, compare_points);
    s->stride = 1;
    s->longest_count = s->count < longest ? s->count : longest;
    s->kept = s->longest_count;
    if (s->count > s->longest_count) {
        s->stride = (s->count - s->longest_count + rest - 1) / rest;
    }
    for (size_t i = s->longest_count; i < s->count; i += s->stride) {
        s->points[s->kept++] = s->points[i];
    }
}

/* The rest lies beneath the others, large sources beneath small ones: rare long detours stay visible. */
static void add_points(struct iwi_figure *figure, const struct scatter *s,
                       const struct iwi_source_series *series)
{
    struct iwi_mark *marks[IWI_SERIES_INKS];

    for (size_t i = 0; i < series->count; i++) {
        marks[i] = iwi_figure_mark(figure, IWI_MARK_DOTS, series->inks[i], series->labels[i]);
    }
    for (size_t i = 0; i < s->kept; i++) {
        const struct point *p = &s->points[i];

        iwi_mark_add(figure, marks[series->series_of[p->source]],
                     (double[]){(double)p->start_ns, (double)p->duration_ns});
    }
}

static void add_table(struct iwi_figure *figure, const struct scatter *s)
{
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure,
                     s->detours->probe != IW_PROBE_SELFISH ? "The largest losses" : "The longest detours");
    iwi_figure_head(figure, false, "Time");
    iwi_figure_head(figure, false, "CPU");
    iwi_figure_head(figure, false, "Length");
    iwi_figure_head(figure, true, "Source");
    for (size_t i = 0; i < s->longest_count && i < TABLE_ROWS; i++) {
        const struct point *p = &s->points[i];
        iwi_figure_cell(figure, "%.6f s", (double)p->start_ns / 1e9);
        iwi_figure_cell(figure, "%" PRIu32, p->cpu);
        iwi_figure_cell(figure, "%s", iwi_ns_short_text((double)p->duration_ns, number));
        iwi_figure_cell(figure, "%s", iwi_source_name(&s->detours->sources[p->source]));
    }
}

static void write_message(const struct scatter *s, char *message)
{
    const struct point *longest = &s->points[0];
    char number[IWI_NUMBER_SIZE], count[IWI_NUMBER_SIZE];

    iwi_append(message, "The longest of %s took %s, on CPU %" PRIu32 " after %.3f s (%.60s).",
               iwi_ranks_text(s->count, count), iwi_ns_short_text((double)longest->duration_ns, number),
               longest->cpu, (double)longest->start_ns / 1e9,
               iwi_source_name(&s->detours->sources[longest->source]));
    if (s->stride > 1) {
        iwi_append(message, " Shown are the %s longest, and one of %zu of the rest.",
                   iwi_ranks_text(s->longest_count, count), s->stride);
    }
}

static iw_status make_scatter(const iw_log *log, const struct scatter *s,
                              const struct iwi_source_series *series, const struct iwi_detour_axes *axes,
                              struct iwi_figure **figure_p)
{
    const bool is_quanta = s->detours->probe != IW_PROBE_SELFISH;
    char message[IWI_PARAGRAPH_SIZE] = "";
    struct iwi_figure *figure;

    IW_TRY(iwi_figure_new(log, is_quanta ? "Losses of quanta over time" : "Detours over time", &figure));
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .high = axes->length_ns};
    figure->y = (struct iwi_figure_axis){.label = is_quanta ? "Loss of a quantum" : "Length of a detour",
                                         .unit = IWI_AXIS_NS,
                                         .is_log = true,
                                         .low = pow(10.0, axes->low_decade),
                                         .high = pow(10.0, axes->high_decade)};
    add_points(figure, s, series);
    add_table(figure, s);
    write_message(s, message);
    figure->message = iwi_figure_text(figure, "%s", message);
    *figure_p = figure;
    return IW_OK;
}

iw_status iwi_noise_scatter_figure(const iw_log *log, const iw_recording *detours,
                                   const iw_noise_facts *facts, size_t most_points,
                                   struct iwi_figure **figure_p)
{
    struct scatter s = {.detours = detours};
    struct iwi_source_series series;
    struct iwi_detour_axes axes;
    iw_status status = IW_ERR_NOMEM;

    *figure_p = NULL;
    if (!iwi_detour_axes(detours, &axes)) {
        return IW_OK;
    }
    IW_TRY(iwi_source_series_new(log, detours, facts, &series));
    for (size_t c = 0; c < detours->cpu_count; c++) {
        s.most += detours->cpus[c].count;
    }
    s.points = iwi_new_array(log, s.most, sizeof *s.points);
    if (s.points != NULL) {
        gather(&s);
        s.most = most_points > 0 ? most_points : LONGEST_PART * s.count;
        thin_out(&s);
        status = make_scatter(log, &s, &series, &axes, figure_p);
    }
    free(s.points);
    free(series.series_of);
    return status;
}

/* ---- rates ---- */

struct rates {
    uint64_t count[BINS]; /* by duration */
};

static void count_detours(const iw_recording *detours, const struct iwi_source_series *series,
                          struct rates rates[IWI_SERIES_INKS])
{
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            if (cpu->duration_ns[i] > 0) {
                const size_t bin = (size_t)(log10((double)cpu->duration_ns[i]) * BINS_PER_DECADE);
                const size_t source = cpu->source != NULL ? cpu->source[i] : 0;

                rates[series->series_of[source]].count[bin]++;
            }
        }
    }
}

/* Per second of a CPU, how many take at least as long as each bin begins. */
static void add_rates(struct iwi_figure *figure, struct iwi_mark *steps, const struct rates *rates,
                      double watched_ns)
{
    uint64_t at_least = 0;
    size_t first = 0, last = BINS;

    for (size_t bin = 0; bin < BINS; bin++) {
        at_least += rates->count[bin];
    }
    while (first < BINS && rates->count[first] == 0) {
        first++;
    }
    while (last > 0 && rates->count[last - 1] == 0) {
        last--;
    }
    for (size_t bin = first; bin <= last; bin++) { /* also the end of the last one, so that it has a width */
        iwi_mark_add(
            figure, steps,
            (double[]){pow(10.0, (double)bin / BINS_PER_DECADE), (double)at_least / watched_ns * 1e9});
        at_least -= bin + 1 < last ? rates->count[bin] : 0;
    }
}

iw_status iwi_noise_rates_figure(const iw_log *log, const iw_recording *detours, const iw_noise_facts *facts,
                                 struct iwi_figure **figure_p)
{
    struct iwi_source_series series;
    struct rates *rates;
    iw_status status;

    IW_TRY(iwi_source_series_new(log, detours, facts, &series));
    rates = iwi_new_array(log, IWI_SERIES_INKS, sizeof *rates);
    status = rates != NULL ? iwi_figure_new(log, "How often they take how long", figure_p) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        struct iwi_figure *figure = *figure_p;

        figure->is_wide = true;
        figure->height = 0.3;
        figure->x =
            (struct iwi_figure_axis){.label = "Length, at least", .unit = IWI_AXIS_NS, .is_log = true};
        figure->y = (struct iwi_figure_axis){.label = "Per second and CPU", .is_log = true};
        count_detours(detours, &series, rates);
        for (size_t i = 0; i < series.count; i++) {
            add_rates(figure, iwi_figure_mark(figure, IWI_MARK_STEP, series.inks[i], NULL), &rates[i],
                      fmax(facts->watched_ns, 1.0));
        }
    }
    free(rates);
    free(series.series_of);
    return status;
}
