/* Fits laws to the detours of a recording: groups, specs, how well they agree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/fit/fit.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/rng.h"
#include "features/recordings/recordings.h"
#include "kit/facts/recording_stats.h"

/* ---- detours that overlap are recorded as one ---- */

/* In simulations detours that come at random may begin within another one, and time is lost to their union
 * (rule 6 of docs/explanation/semantics.md). What is recorded of them are the busy periods of a queue
 * M/G/infinity. With the rate r and the mean duration m an instant is free with the chance exp(-r m), and n =
 * r exp(-r m) busy periods begin in a unit of time, whatever the law. So with the share s of the time that is
 * lost r = n / (1 - s),    m = -ln(1 - s) / r,    m / (s / n) = -(1 - s) ln(1 - s) / s.
 *
 * The form of the law has no such equation. A law is looked for whose busy periods, drawn and fitted as if
 * they were single, give the parameters that the recorded ones gave (indirect inference). What is compared
 * are fits to the same draws, as busy periods and one by one, so that chance nearly cancels.
 */

/* Less overlap changes parameters by less than a recording can tell. */
static const double LEAST_SHARE = 1e-3;

/* The ratio of the two fits is known to sqrt(share / draws): one of a thousand, if there are not too many. */
static const double DRAWS_PER_SHARE = 1e6, LEAST_DRAWS = 1e4, MOST_DRAWS = 2e5;

static const double CONVERGED = 1e-4;
enum { MOST_ROUNDS = 40 };

double iwi_overlap_mean_factor(double share)
{
    return share > 0.0 ? -(1.0 - share) * log1p(-share) / share : 1.0;
}

struct drawing {
    iw_fit_law law;
    double cut_ns, mean_gap_ns;
    uint64_t seed;
    size_t count;
    int64_t *single_ns, *busy_ns;
};

/* Returns how many busy periods there are; the last may be cut short by the end of the draws. */
static size_t draw(const struct drawing *d, const iw_duration_fit *law)
{
    const struct iwi_draw_id lengths = {.seed = d->seed, .purpose = IWI_DRAW_DURATION, .rank = d->law};
    const struct iwi_draw_id gaps = {.seed = d->seed, .purpose = IWI_DRAW_GAP, .rank = d->law};
    double time_ns = 0.0, begin_ns = 0.0, end_ns = 0.0;
    size_t busy = 0;

    for (size_t i = 0; i < d->count; i++) {
        const double length_ns =
            fmin(fmax(iwi_law_exceeded_ns(d->law, law, d->cut_ns, iwi_draw_unit(lengths, i)), 1.0), 0x1p53);

        time_ns -= log(iwi_draw_unit(gaps, i)) * d->mean_gap_ns;
        if (time_ns >= end_ns) {
            begin_ns = time_ns;
            busy++;
        }
        end_ns = fmax(end_ns, time_ns + length_ns);
        d->single_ns[i] = llround(length_ns);
        d->busy_ns[busy - 1] = llround(fmax(end_ns - begin_ns, 1.0));
    }
    return busy;
}

/* By how much one parameter has to change; shapes that a law has not are NaN. */
static double change(double next, double last)
{
    return isnan(next) ? 0.0 : fabs(next / last - 1.0);
}

/* One round: the parameters for which the two fits differ as much as they do at *law. */
static double improve(const struct drawing *d, const iw_duration_fit *recorded, iw_duration_fit *law)
{
    const size_t busy_count = draw(d, law);
    const struct iwi_fit_sample singles = iwi_fit_sample(d->single_ns, d->count, d->cut_ns);
    const struct iwi_fit_sample periods = iwi_fit_sample(d->busy_ns, busy_count, d->cut_ns);
    const iw_duration_fit last = *law;
    iw_duration_fit single, busy;

    iwi_fit_one_law(d->law, &singles, &single);
    iwi_fit_one_law(d->law, &periods, &busy);
    law->scale_ns.value = recorded->scale_ns.value * single.scale_ns.value / busy.scale_ns.value;
    law->shape.value = recorded->shape.value * single.shape.value / busy.shape.value;
    return change(law->scale_ns.value, last.scale_ns.value) + change(law->shape.value, last.shape.value);
}

static bool find_law(const struct drawing *d, const iw_duration_fit *recorded, iw_duration_fit *law)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double changed = improve(d, recorded, law);

        if (!(changed < 1.0) ||
            !(iwi_law_mean_ns(d->law, law->scale_ns.value, law->shape.value) < INFINITY)) {
            return false;
        }
        if (changed < CONVERGED) {
            return true;
        }
    }
    return false;
}

iw_status iwi_fit_overlap(const iw_log *log, const iw_fit_opts *opts, const iw_durations *durations,
                          double watched_ns, double share, struct iwi_single_law *single)
{
    const iw_duration_fit *recorded = &durations->laws[durations->best];
    const double factor = iwi_overlap_mean_factor(share);
    const double draws = fmin(fmax(DRAWS_PER_SHARE * share, LEAST_DRAWS), MOST_DRAWS);
    struct drawing d = {.law = durations->best,
                        .cut_ns = durations->cut_ns,
                        .mean_gap_ns = (1.0 - share) * watched_ns / (double)durations->count,
                        .seed = opts->seed,
                        .count = (size_t)draws};
    iw_duration_fit law = *recorded;

    *single = (struct iwi_single_law){recorded->scale_ns.value, recorded->shape.value, false};
    if (share < LEAST_SHARE || isinf(iwi_law_mean_ns(d.law, single->scale_ns, single->shape))) {
        return IW_OK;
    }
    d.single_ns = iwi_new_array(log, 2 * d.count, sizeof *d.single_ns);
    if (d.single_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    d.busy_ns = &d.single_ns[d.count];
    law.scale_ns.value *= factor;
    *single = find_law(&d, recorded, &law)
                  ? (struct iwi_single_law){law.scale_ns.value, law.shape.value, false}
                  : (struct iwi_single_law){recorded->scale_ns.value * factor, recorded->shape.value, true};
    free(d.single_ns);
    return IW_OK;
}

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

/* ---- fits ---- */

static iw_status look_at(const iw_log *log, const iw_recording *recording, iw_noise_fit *fit)
{
    if (iw_probe_has_quanta(recording->probe)) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "this recording has quanta (%s), which may hold several detours each: laws are fitted "
            "to single detours, so record with the probe selfish",
            iw_probe_name(recording->probe));
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        fit->watched_ns += (double)recording->cpus[i].length_ns;
        fit->threshold_ns = fmax(fit->threshold_ns, recording->cpus[i].threshold_ns);
        fit->dropped += recording->cpus[i].dropped;
    }
    if (!(fit->watched_ns > 0.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "this recording watched no time, so there is nothing to fit");
    }
    return IW_OK;
}

static iw_status fill(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                      iw_noise_fit *fit)
{
    IW_TRY(look_at(log, recording, fit));
    IW_TRY(fit_groups(log, recording, first, fit));
    IW_TRY(iwi_fit_specs(log, fit));
    return first == NULL ? iwi_fit_set_agreement(log, recording, fit) : IW_OK;
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
