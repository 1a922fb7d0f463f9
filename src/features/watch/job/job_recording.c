/* Makes a recording of what ranks lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job/job_recording.h"

#include <idlewave/watch.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "kit/machine/sysinfo.h"

/* ---- detours of ranks ---- */

/* What the kernel does between two things that it reports, as between an interrupt and the switch that
 * follows, is no time of the rank. */
static const int64_t JOIN_NS = 1500;

struct piece {
    int64_t start_ns, end_ns;
    uint32_t source;
};

struct walk {
    const iw_log *log;
    const struct iwi_job_cpu *cpus;
    size_t *next; /* of each CPU: the first segment that may still matter */
    const struct iwi_job_span *span;
    int64_t own_ns;      /* waited for the job itself */
    int64_t unwanted_ns; /* since the first instant, where the clock stands still then */
    iw_detours *detours;
    size_t capacities[3], part_capacities[3];
    struct piece *pieces; /* of the detour at hand */
    size_t piece_count, piece_capacity;
};

/* ---- into the recording ---- */

static iw_status add_part(struct walk *walk, uint32_t source, int64_t ns)
{
    iw_detours *d = walk->detours;
    const size_t n = d->part_count;

    IW_TRY(iwi_grow(walk->log, (void **)&d->part_detour, &walk->part_capacities[0], n + 1,
                    sizeof *d->part_detour));
    IW_TRY(iwi_grow(walk->log, (void **)&d->part_source, &walk->part_capacities[1], n + 1,
                    sizeof *d->part_source));
    IW_TRY(iwi_grow(walk->log, (void **)&d->part_ns, &walk->part_capacities[2], n + 1, sizeof *d->part_ns));
    d->part_detour[n] = d->count;
    d->part_source[n] = source;
    d->part_ns[n] = ns;
    d->part_count++;
    return IW_OK;
}

/* The source that has most of the pieces at hand. */
static uint32_t largest_source(const struct walk *walk)
{
    uint32_t largest = 0;
    int64_t most_ns = -1;

    for (size_t i = 0; i < walk->piece_count; i++) {
        int64_t sum_ns = 0;

        for (size_t k = 0; k < walk->piece_count; k++) {
            sum_ns += walk->pieces[k].source == walk->pieces[i].source
                          ? walk->pieces[k].end_ns - walk->pieces[k].start_ns
                          : 0;
        }
        largest = sum_ns > most_ns ? walk->pieces[i].source : largest;
        most_ns = iwi_max(most_ns, sum_ns);
    }
    return largest;
}

/* The pieces at hand become a detour. */
static iw_status end_detour(struct walk *walk)
{
    iw_detours *d = walk->detours;
    const size_t n = d->count;
    bool is_mixed = false;

    if (walk->piece_count == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(walk->log, (void **)&d->start_ns, &walk->capacities[0], n + 1, sizeof *d->start_ns));
    IW_TRY(
        iwi_grow(walk->log, (void **)&d->duration_ns, &walk->capacities[1], n + 1, sizeof *d->duration_ns));
    IW_TRY(iwi_grow(walk->log, (void **)&d->source, &walk->capacities[2], n + 1, sizeof *d->source));
    for (size_t i = 1; i < walk->piece_count; i++) {
        is_mixed |= walk->pieces[i].source != walk->pieces[0].source;
    }
    for (size_t i = 0; is_mixed && i < walk->piece_count; i++) {
        IW_TRY(add_part(walk, walk->pieces[i].source, walk->pieces[i].end_ns - walk->pieces[i].start_ns));
    }
    d->start_ns[n] = walk->pieces[0].start_ns - walk->span->zero_ns - walk->unwanted_ns;
    d->duration_ns[n] = walk->pieces[walk->piece_count - 1].end_ns - walk->pieces[0].start_ns;
    d->source[n] = largest_source(walk);
    d->count++;
    walk->piece_count = 0;
    return IW_OK;
}

/* ---- pieces ---- */

static iw_status add_piece(struct walk *walk, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    if (walk->piece_count > 0) {
        struct piece *last = &walk->pieces[walk->piece_count - 1];

        start_ns = iwi_max(start_ns, last->end_ns);
        if (start_ns >= end_ns) {
            return IW_OK;
        }
        if (start_ns - last->end_ns > JOIN_NS) {
            IW_TRY(end_detour(walk));
        } else if (last->source == source) {
            last->end_ns = end_ns;
            return IW_OK;
        }
    }
    start_ns = iwi_max(start_ns, walk->span->zero_ns);
    if (start_ns >= end_ns) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(walk->log, (void **)&walk->pieces, &walk->piece_capacity, walk->piece_count + 1,
                    sizeof *walk->pieces));
    walk->pieces[walk->piece_count++] = (struct piece){start_ns, end_ns, source};
    return IW_OK;
}

/* Nothing took the CPU from the job, but the thread did not run: it slept. */
static iw_status stand_still(struct walk *walk, int64_t ns)
{
    if (!walk->span->is_wanted_time || ns <= 0) {
        return IW_OK;
    }
    IW_TRY(end_detour(walk));
    walk->unwanted_ns += ns;
    return IW_OK;
}

/* It waited while another thread of the job had the CPU. */
static iw_status wait_for_own(struct walk *walk, int64_t from_ns, int64_t to_ns)
{
    walk->own_ns += to_ns - from_ns;
    return walk->span->is_wanted_time ? stand_still(walk, to_ns - from_ns)
                                      : add_piece(walk, from_ns, to_ns, walk->span->others);
}

/* What had the CPU from..to. `is_wanted`: the rank waited, so all of that time is lost. */
static iw_status look(struct walk *walk, uint32_t place, int64_t from_ns, int64_t to_ns, bool is_wanted)
{
    const struct iwi_job_cpu *cpu = &walk->cpus[place];
    size_t *next = &walk->next[place];
    int64_t known_ns = from_ns;

    while (*next < cpu->count && cpu->segments[*next].end_ns <= from_ns) {
        ++*next;
    }
    for (size_t i = *next; i < cpu->count && cpu->segments[i].start_ns < to_ns; i++) {
        const struct iwi_job_segment *segment = &cpu->segments[i];
        const int64_t start_ns = iwi_max(segment->start_ns, from_ns);

        if (is_wanted && start_ns - known_ns > JOIN_NS) {
            IW_TRY(wait_for_own(walk, known_ns, start_ns));
        }
        IW_TRY(add_piece(walk, start_ns, iwi_min(segment->end_ns, to_ns), segment->source));
        known_ns = iwi_max(known_ns, iwi_min(segment->end_ns, to_ns));
    }
    return is_wanted && to_ns - known_ns > JOIN_NS ? wait_for_own(walk, known_ns, to_ns) : IW_OK;
}

/* it leaves one CPU before it runs on another */
IWI_COMPARE(compare_runs, struct iwi_job_run, IWI_RISING(at_ns), IWI_RISING(turn))

static iw_status walk_runs(struct walk *walk, const struct iwi_job_rank *rank)
{
    struct iwi_job_run now = {.at_ns = walk->span->zero_ns, .turn = IWI_JOB_SLEEPS};

    for (size_t i = 0; i < rank->count; i++) {
        const struct iwi_job_run *run = &rank->runs[i];

        if (now.turn != IWI_JOB_SLEEPS) {
            IW_TRY(look(walk, now.place, now.at_ns, run->at_ns, now.turn == IWI_JOB_LEAVES));
        } else {
            IW_TRY(stand_still(walk, run->at_ns - now.at_ns));
        }
        now = *run;
    }
    IW_TRY(end_detour(walk));
    return now.turn == IWI_JOB_SLEEPS ? stand_still(walk, walk->span->end_ns - now.at_ns) : IW_OK;
}

iw_status iwi_job_detours(const iw_log *log, struct iwi_job_rank *rank, const struct iwi_job_cpu *cpus,
                          size_t cpu_count, const struct iwi_job_span *span, iw_detours *detours,
                          int64_t *own_ns_p)
{
    struct walk walk = {.log = log, .cpus = cpus, .span = span, .detours = detours};
    iw_status status;

    walk.next = iwi_new_array(log, cpu_count, sizeof *walk.next);
    if (walk.next == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sort(rank->runs, rank->count, compare_runs);
    status = walk_runs(&walk, rank);
    detours->length_ns = iwi_max(span->end_ns - span->zero_ns - walk.unwanted_ns, 1);
    *own_ns_p = walk.own_ns;
    free(walk.next);
    free(walk.pieces);
    return status;
}

/* ---- the recording ---- */

IWI_COMPARE(compare_ranks, struct iwi_job_rank, IWI_RISING(rank))

static iw_status set_number(const iw_log *log, iw_recording *recording, const char *name, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    return iw_recording_set(log, recording, name, text);
}

static iw_status describe(const iw_log *log, const struct iwi_job_seen *seen, const iw_job_watch_opts *opts,
                          iw_recording *recording)
{
    struct iwi_sysinfo info;

    iwi_sysinfo_read("", &info);
    IW_TRY(iw_recording_set(log, recording, "host", info.host));
    IW_TRY(iw_recording_set(log, recording, "kernel", info.kernel));
    IW_TRY(iw_recording_set(log, recording, "command", opts->command != NULL ? opts->command : "unknown"));
    IW_TRY(iw_recording_set(log, recording, "version", iw_version()));
    IW_TRY(iw_recording_set(log, recording, "watched", opts->wants_wanted_time ? "threads" : "ranks"));
    IW_TRY(iw_recording_set(log, recording, "clock", "CLOCK_MONOTONIC"));
    IW_TRY(set_number(log, recording, "clock_error_ns", seen->clock_error_ns));
    IW_TRY(set_number(log, recording, "start_mono_ns", seen->start_ns));
    return set_number(log, recording, "kernel_events_lost", (int64_t)seen->lost);
}

static iw_status copy_sources(const iw_log *log, const struct iwi_job_seen *seen, iw_recording *recording,
                              uint32_t *others_p)
{
    const iw_recording *from = seen->sources;
    uint32_t number;

    for (size_t i = 1; i < from->source_count; i++) {
        IW_TRY(iw_recording_source(log, recording, from->sources[i].kind, from->sources[i].name, &number));
    }
    return others_p != NULL
               ? iw_recording_source(log, recording, IW_CLASS_THREAD, "other ranks of the job", others_p)
               : IW_OK;
}

static iw_status fill(const iw_log *log, const struct iwi_job_seen *seen, const iw_job_watch_opts *opts,
                      iw_recording *recording)
{
    struct iwi_job_span span = {
        .zero_ns = seen->start_ns, .end_ns = seen->end_ns, .is_wanted_time = opts->wants_wanted_time};
    int64_t own_ns, all_own_ns = 0;

    recording->attribution = seen->attribution;
    IW_TRY(copy_sources(log, seen, recording, opts->wants_wanted_time ? NULL : &span.others));
    for (size_t i = 0; i < seen->rank_count; i++) {
        iw_detours *detours = &recording->cpus[i];

        detours->cpu = (uint32_t)seen->ranks[i].rank;
        detours->t_min_ns = detours->threshold_ns = 1.0;
        IW_TRY(iwi_job_detours(log, &seen->ranks[i], seen->cpus, seen->cpu_count, &span, detours, &own_ns));
        all_own_ns += own_ns;
    }
    if (opts->wants_wanted_time) {
        recording->probe = IW_PROBE_WATCH;
        IW_TRY(set_number(log, recording, "wait_own_ns", all_own_ns));
    }
    return describe(log, seen, opts, recording);
}

iw_status iwi_job_recording(const iw_log *log, const struct iwi_job_seen *seen, const iw_job_watch_opts *opts,
                            iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    if (seen->rank_count == 0) {
        return iwi_fail(log, IW_ERR_IO, "no %s of the job was seen to run on this node",
                        opts->wants_wanted_time ? "thread" : "rank");
    }
    iwi_sort(seen->ranks, seen->rank_count, compare_ranks);
    IW_TRY(iw_recording_new(log, seen->rank_count, &recording));
    status = fill(log, seen, opts, recording);
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}
