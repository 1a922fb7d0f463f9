/* Fits laws to the detours of a recording: groups, specs, how well they agree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/fit/fit.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "features/recordings/recordings.h"
#include "kit/facts/recording_stats.h"

/* ---- what is fitted together: all, each large source, all other sources ---- */

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

/* fit->groups; threshold_ns and watched_ns are known. `first`: NULL, or as of iwi_fit_redrawn(). */
static iw_status fit_groups(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
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

/* ---- does the fit stand for the recording? Noise is made of its specs, and compared ---- */

/* Made recordings of more detours are cut shorter. */
static const double MOST_MADE = 5e5;

/* Of the comparison: its interval, not a p-value, is what is told. */
enum { REPLICATES = 400 };

static double made_rate_hz(const iw_noise_fit *fit)
{
    double rate_hz = 0.0;

    for (size_t i = 0; i < fit->spec_count; i++) {
        rate_hz += fit->specs[i].rate_hz;
    }
    return rate_hz;
}

static iw_status make_noise(const iw_recording *recording, const iw_noise_fit *fit, iw_recording **made_p)
{
    const char *specs[IW_NOISE_MAX_SOURCES];
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_edit edit;

    opts.duration_ns = 0;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        opts.duration_ns = iwi_max(opts.duration_ns, recording->cpus[i].length_ns);
    }
    opts.cpu_count = recording->cpu_count;
    opts.duration_ns = (int64_t)fmin((double)opts.duration_ns,
                                     MOST_MADE * 1e9 / (made_rate_hz(fit) * (double)opts.cpu_count));
    for (size_t i = 0; i < fit->spec_count; i++) {
        specs[i] = fit->specs[i].text;
    }
    opts.specs = specs;
    opts.spec_count = fit->spec_count;
    opts.seed = fit->opts.seed;
    opts.threshold_ns = fit->threshold_ns;
    return iw_recording_synth(NULL, &opts, made_p, &edit);
}

/* What cannot be made (no time would be left to work) or compared is left unknown. */
static iw_status set_agreement(const iw_log *log, const iw_recording *recording, iw_noise_fit *fit)
{
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *comparison = NULL;
    iw_recording *made = NULL;
    iw_status status;

    fit->agreement = (iw_fit_agreement){.is_known = false};
    if (fit->spec_count == 0) {
        return IW_OK;
    }
    opts.seed = fit->opts.seed;
    opts.replicates = REPLICATES;
    status = make_noise(recording, fit, &made);
    if (status == IW_OK) {
        status = iw_noise_compare(NULL, recording, made, &opts, &comparison);
    }
    if (status == IW_OK) {
        const iw_compare_value *share = &comparison->metrics[IW_COMPARE_SHARE];
        const iw_compare_value *rate_hz = &comparison->metrics[IW_COMPARE_RATE];

        fit->agreement = (iw_fit_agreement){.is_known = true,
                                            .length_ns = made->cpus[0].length_ns,
                                            .recorded = share->a,
                                            .made = share->b,
                                            .difference = share->difference,
                                            .recorded_hz = rate_hz->a,
                                            .made_hz = rate_hz->b,
                                            .durations = comparison->ks};
    }
    iw_noise_comparison_free(comparison);
    iw_recording_free(made);
    return status == IW_ERR_NOMEM ? iwi_fail(log, status, "out of memory for noise made of the fit") : IW_OK;
}

/* ---- fits ---- */

static iw_status look_at(const iw_log *log, const iw_recording *recording, iw_noise_fit *fit)
{
    if (iw_probe_has_quanta(recording->probe)) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "this recording has quanta (%s), which may contain several detours each: a fit needs "
                        "single detours, so record with the probe selfish",
                        iw_probe_name(recording->probe));
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        fit->watched_ns += (double)recording->cpus[i].length_ns;
        fit->threshold_ns = fmax(fit->threshold_ns, recording->cpus[i].threshold_ns);
        fit->dropped += recording->cpus[i].dropped;
    }
    if (!(fit->watched_ns > 0.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "this recording has length zero: nothing to fit");
    }
    return IW_OK;
}

static iw_status fill(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                      iw_noise_fit *fit)
{
    IW_TRY(look_at(log, recording, fit));
    IW_TRY(fit_groups(log, recording, first, fit));
    IW_TRY(iwi_fit_specs(log, fit));
    return first == NULL ? set_agreement(log, recording, fit) : IW_OK;
}

static void name_it(const iw_recording *recording, iw_noise_fit *fit)
{
    const char *host = iw_recording_get(recording, "host"), *name = fit->opts.name;

    if (host == NULL || host[0] == '\0') {
        host = name != NULL ? name : "the recording";
    }
    snprintf(fit->name, sizeof fit->name, "%s", host);
    fit->opts.name = NULL; /* the caller's */
}

static iw_status fit_new(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                         const iw_fit_opts *opts, iw_noise_fit **fit_p)
{
    iw_noise_fit *fit = iwi_new_array(log, 1, sizeof *fit);
    iw_status status;

    if (fit == NULL) {
        return IW_ERR_NOMEM;
    }
    fit->opts = *opts;
    iw_caveats_of_recording(recording, opts->name != NULL ? opts->name : "the recording", &fit->caveats);
    name_it(recording, fit);
    status = fill(log, recording, first, fit);
    if (status != IW_OK) {
        iw_noise_fit_free(fit);
        return status;
    }
    *fit_p = fit;
    return IW_OK;
}

iw_status iw_noise_fit_new(const iw_log *log, const iw_recording *recording, const iw_fit_opts *given,
                           iw_noise_fit **fit_p)
{
    iw_fit_opts opts = IW_FIT_OPTS_INIT;

    IW_TRY(IWI_READ_OPTS(log, "IW_FIT_OPTS_INIT", given, &opts));
    return fit_new(log, recording, NULL, &opts, fit_p);
}

iw_status iwi_fit_redrawn(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                          iw_noise_fit **fit_p)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = first->opts.seed};

    return fit_new(log, recording, first, &opts, fit_p);
}

void iw_noise_fit_free(iw_noise_fit *fit)
{
    if (fit == NULL) {
        return;
    }
    for (size_t i = 0; i < fit->group_count; i++) {
        iwi_durations_release(&fit->groups[i].durations);
        iwi_durations_release(&fit->groups[i].beats);
        iwi_durations_release(&fit->groups[i].others);
    }
    free(fit->specs);
    free(fit->groups);
    free(fit);
}
