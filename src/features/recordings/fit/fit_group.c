/* Sorts detours into those that are fitted together: all, each large source, all other sources.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/recordings/fit/fit.h"
#include "kit/facts/recording_stats.h"

/* With more sources than specs can be given, the smallest are one group. */
enum { MOST_GROUPS = IW_NOISE_MAX_SOURCES };

/* Detours between the beats are told apart from them if there are IW_FIT_LEAST and they take so much of the
 * time. */
static const double LEAST_OTHERS = 0.01;

/* ---- sources ---- */

struct totals {
    double *time_ns; /* by source */
    size_t *count;
};

static void add_time(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct totals *totals = arg;

    (void)start_ns;
    totals->time_ns[source] += (double)time_ns;
    totals->count[source]++;
}

static int compare_totals(const void *a, const void *b, void *arg)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct totals *totals = arg;

    if (totals->time_ns[x] != totals->time_ns[y]) {
        return totals->time_ns[x] > totals->time_ns[y] ? -1 : 1;
    }
    return (x > y) - (x < y);
}

/* The groups behind the first, and the group of each source. One source alone is all there is. */
static iw_status list_groups(const iw_log *log, const iw_recording *recording, struct totals *totals,
                             uint32_t *order, size_t *group_of, iw_noise_fit *fit)
{
    size_t active = 0;

    for (size_t c = 0; c < recording->cpu_count; c++) {
        iwi_each_occurrence(&recording->cpus[c], add_time, totals);
    }
    for (uint32_t s = 0; s < recording->source_count; s++) {
        order[active] = s;
        active += totals->count[s] > 0;
    }
    qsort_r(order, active, sizeof *order, compare_totals, totals);
    fit->has_sources = active > 1;
    fit->group_count = 1 + (fit->has_sources ? (active < MOST_GROUPS ? active : MOST_GROUPS) : 0);
    fit->groups = iwi_new_array(log, fit->group_count, sizeof *fit->groups);
    if (fit->groups == NULL) {
        fit->group_count = 0;
        return IW_ERR_NOMEM;
    }
    fit->groups[0] = (iw_fit_group){.kind = IW_FIT_ALL};
    for (size_t i = 0; fit->has_sources && i < active; i++) {
        const size_t group = 1 + (i < fit->group_count - 1 ? i : fit->group_count - 2);
        iw_fit_group *g = &fit->groups[group];

        group_of[order[i]] = group;
        g->source = order[i];
        g->source_class = recording->sources[order[i]].kind;
        snprintf(g->name, sizeof g->name, "%s", recording->sources[order[i]].name);
        g->source_count++;
        g->kind = g->source_count > 1 ? IW_FIT_OTHERS : IW_FIT_SOURCE;
    }
    return IW_OK;
}

/* ---- events ---- */

struct collector {
    struct iwi_fit_events *events;
    const size_t *group_of;
    size_t group;
    int64_t length_ns; /* of the CPU's recording */
};

/* What an end of the recording has cut off is shorter than it was: one such length becomes the least of all,
 * on which Pareto's law rests. */
static void add_event(struct collector *c, int64_t start_ns, int64_t time_ns)
{
    struct iwi_fit_events *e = c->events;

    if (start_ns > 0 && start_ns + time_ns < c->length_ns) {
        e->start_ns[e->count] = start_ns;
        e->duration_ns[e->count++] = time_ns;
    }
}

static void collect_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct collector *c = arg;

    if (c->group_of[source] == c->group) {
        add_event(c, start_ns, time_ns);
    }
}

/* `events` has room for all. */
static void collect(const iw_recording *recording, struct collector *c)
{
    struct iwi_fit_events *e = c->events;

    e->count = 0;
    for (size_t n = 0; n < recording->cpu_count; n++) {
        const iw_detours *cpu = &recording->cpus[n];

        c->length_ns = cpu->length_ns;
        if (c->group > 0) {
            iwi_each_occurrence(cpu, collect_one, c);
        }
        for (size_t i = 0; c->group == 0 && i < cpu->count; i++) {
            add_event(c, cpu->start_ns[i], cpu->duration_ns[i]);
        }
        e->end[n] = e->count;
    }
}

static void release(struct iwi_fit_events *e)
{
    free(e->start_ns);
    free(e->duration_ns);
    free(e->is_beat);
    free(e->end);
}

/* Room for all detours and all their parts. */
static iw_status make_room(const iw_log *log, const iw_recording *recording, struct iwi_fit_events *e)
{
    size_t most = 0;

    for (size_t c = 0; c < recording->cpu_count; c++) {
        most += recording->cpus[c].count + recording->cpus[c].part_count;
    }
    e->cpu_count = recording->cpu_count;
    e->start_ns = iwi_new_array(log, most, sizeof *e->start_ns);
    e->duration_ns = iwi_new_array(log, most, sizeof *e->duration_ns);
    e->is_beat = iwi_new_array(log, most, sizeof *e->is_beat);
    e->end = iwi_new_array(log, e->cpu_count, sizeof *e->end);
    return e->start_ns != NULL && e->duration_ns != NULL && e->is_beat != NULL && e->end != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

/* ---- fitting ---- */

/* Beats to the front; the order in time is lost. Returns how many. */
static size_t part_beats(struct iwi_fit_events *e)
{
    size_t beats = 0;

    for (size_t i = 0; i < e->count; i++) {
        if (e->is_beat[i] != 0) {
            const int64_t ns = e->duration_ns[i];

            e->duration_ns[i] = e->duration_ns[beats];
            e->duration_ns[beats++] = ns;
        }
    }
    return beats;
}

static iw_status fit_group(const iw_log *log, struct iwi_fit_lines lines, const iw_noise_fit *fit,
                           struct iwi_fit_events *e, iw_fit_group *group)
{
    const struct iwi_fit_above in_beats = {.threshold_ns = fit->threshold_ns};
    struct iwi_fit_above between = in_beats, all = in_beats;
    double total_ns = 0.0, others_ns = 0.0;
    size_t beats;

    IW_TRY(iwi_fit_arrivals(log, &fit->opts, lines, fit->watched_ns, e, &group->arrivals));
    for (size_t i = 0; i < e->count; i++) {
        total_ns += (double)e->duration_ns[i];
        others_ns += e->is_beat[i] != 0 ? 0.0 : (double)e->duration_ns[i];
    }
    group->share = total_ns / fit->watched_ns;
    between.random_share = others_ns / fit->watched_ns;
    all.random_share = group->arrivals.beats > 0 ? 0.0 : group->share;
    beats = part_beats(e);
    if (beats > 0 && e->count - beats >= IW_FIT_LEAST && others_ns >= LEAST_OTHERS * total_ns) {
        group->has_parts = true;
        IW_TRY(iwi_fit_durations(log, &fit->opts, in_beats, e->duration_ns, beats, &group->beats));
        IW_TRY(iwi_fit_durations(log, &fit->opts, between, &e->duration_ns[beats], e->count - beats,
                                 &group->others));
    }
    return iwi_fit_durations(log, &fit->opts, all, e->duration_ns, e->count, &group->durations);
}

/* Named sources have periods of their own, that nothing hides. */
static struct iwi_fit_lines lines_of(const iw_recording *recording, const iw_noise_fit *first,
                                     const iw_noise_fit *fit)
{
    struct iwi_fit_lines lines = {.recording = NULL};

    if (!fit->has_sources && first == NULL) {
        lines.recording = recording;
    } else if (!fit->has_sources) {
        lines.period_ns = first->groups[0].arrivals.period_ns;
    }
    return lines;
}

static iw_status fit_all(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                         const size_t *group_of, struct iwi_fit_events *events, iw_noise_fit *fit)
{
    const struct iwi_fit_lines lines = lines_of(recording, first, fit);

    IW_TRY(make_room(log, recording, events));
    for (size_t g = 0; g < fit->group_count; g++) {
        struct collector collector = {.events = events, .group_of = group_of, .group = g};

        collect(recording, &collector);
        IW_TRY(fit_group(log, lines, fit, events, &fit->groups[g]));
    }
    return IW_OK;
}

iw_status iwi_fit_groups(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                         iw_noise_fit *fit)
{
    const size_t count = recording->source_count;
    struct totals totals = {.time_ns = iwi_new_array(log, count, sizeof *totals.time_ns),
                            .count = iwi_new_array(log, count, sizeof *totals.count)};
    uint32_t *order = iwi_new_array(log, count + 1, sizeof *order);
    size_t *group_of = iwi_new_array(log, count, sizeof *group_of);
    struct iwi_fit_events events = {.count = 0};
    iw_status status = IW_ERR_NOMEM;

    if (totals.time_ns != NULL && totals.count != NULL && order != NULL && group_of != NULL) {
        status = list_groups(log, recording, &totals, order, group_of, fit);
    }
    if (status == IW_OK) {
        status = fit_all(log, recording, first, group_of, &events, fit);
    }
    release(&events);
    free(group_of);
    free(order);
    free(totals.count);
    free(totals.time_ns);
    return status;
}
