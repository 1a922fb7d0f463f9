/* idlewave/internal/inject.h - noise on demand: detours of a recording, made to happen again on this machine.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_inject_costs costs;
 *     st = iw_inject_calibrate(log, IW_BACK_END_TIMER, IW_INJECT_CALIBRATE_NS, &costs);
 *     st = iw_inject_plan_make(log, recording, 0, &opts, &costs, &plan);
 *     st = iw_injector_start(log, plan, IW_BACK_END_TIMER, &injector);
 *     ... the calling thread meets the detours ...
 *     iw_injector_stop(injector, &counts);
 *     iw_inject_plan_free(plan);
 *
 * Two ways to take the CPU away. timer: a POSIX timer sends a real-time signal to the thread, whose handler
 * spins; needs no rights. fifo: a SCHED_FIFO thread on the same CPU sleeps, then spins; needs CAP_SYS_NICE.
 * Nothing of the machine is changed by either, and nothing outlives the process.
 *
 * sleep is timer with a handler that sleeps: the thread stands still, and the CPU is free for others. It is
 * for threads whose work is sleeping too, many of them to a CPU.
 *
 * timer uses a free real-time signal with SA_RESTART, one for all threads, up to 1024; calls that no flag
 * restarts (nanosleep, poll, select) end with EINTR when a detour meets them. fifo stays below 90 % of the
 * kernel's limit on real-time threads and falls silent when threads of normal priority do not run.
 */
#ifndef IW_INTERNAL_INJECT_H
#define IW_INTERNAL_INJECT_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_back_end { IW_BACK_END_TIMER, IW_BACK_END_FIFO, IW_BACK_END_SLEEP, IW_BACK_ENDS } iw_back_end;

/** "timer", "fifo", "sleep". */
const char *iw_back_end_name(iw_back_end back_end);

/** What it costs to make a detour here, as a thread that reads the clock sees it. A handler that begins
 * `late` after its deadline and spins for s takes s + overhead_ns + late_share * (late - late_p50_ns). */
typedef struct iw_inject_costs {
    double overhead_ns;
    double late_share;               /* 0: lateness costs the thread nothing, 1: all of it, more: it
                                      * leaves as slowly as it comes */
    double late_p50_ns, late_p99_ns; /* deadline error: from the deadline to the handler's first reading */
    double floor_ns; /* the shortest detour that can be made: 19 of 20 that spin for nothing are no longer */
    double gap_ns;   /* the shortest time from the end of one detour to the next deadline */
} iw_inject_costs;

#define IW_INJECT_CALIBRATE_NS INT64_C(300000000)

/** Measures them on the calling thread (timer) or the CPU it runs on (fifo), where it is for that time
 * (up to 8 times as long on a busy CPU).
 * IW_ERR_UNSUPPORTED with a sentence that says what is missing: no right to use SCHED_FIFO, no free signal.
 */
IW_NODISCARD iw_status iw_inject_calibrate(const iw_log *log, iw_back_end back_end, int64_t duration_ns,
                                           iw_inject_costs *costs_p);

/* ---- plans: which detours are made when ---- */

typedef struct iw_inject_opts {
    iw_sync sync;      /* as in simulations: none, start, phase */
    int64_t skew_ns;   /* each node is late by a uniform draw from [0, skew_ns) */
    double time_scale; /* starts, durations and the length of the trace times this; >= 1 */
    double most_share; /* of the trace is used in one run, then there is silence; 0: all, again and again */
    bool is_uncompensated; /* every detour as it stands, nothing subtracted, nothing merged: what a naive
                            * injector does, for comparison */
    uint64_t seed;
    uint64_t node; /* which node this is: nodes draw different offsets (sync none) and skews */
} iw_inject_opts;

#define IW_INJECT_OPTS_INIT                                                             \
    {                                                                                   \
        .sync = IW_SYNC_NONE, .skew_ns = 0, .time_scale = 1.0, .most_share = 1.0 / 3.0, \
        .is_uncompensated = false, .seed = 1, .node = 0                                 \
    }

/** What of a CPU's trace can be made: all times after scaling. Detours below the floor are merged: their time
 * is kept until it makes up one that can be made, in the place of the last of them; detours closer than
 * gap_ns become one. So noise_ns and made_ns differ by less than floor_ns. */
typedef struct iw_inject_facts {
    uint64_t event_count, as_recorded_count; /* all; those that keep their place and duration */
    uint64_t made_count;                     /* detours that will be made */
    double noise_ns, as_recorded_ns, made_ns;
    int64_t length_ns;
} iw_inject_facts;

typedef struct iw_inject_plan iw_inject_plan;

/** From the detours of recording->cpus[cpu_index]. IW_ERR_RANGE: no such CPU, a scale below 1, a detour or
 * noise share that the back end refuses (over IW_INJECT_MOST_NS, over IW_INJECT_MOST_SHARE). */
IW_NODISCARD iw_status iw_inject_plan_make(const iw_log *log, const iw_recording *recording, size_t cpu_index,
                                           const iw_inject_opts *opts, const iw_inject_costs *costs,
                                           iw_inject_plan **plan_p);
void iw_inject_plan_free(iw_inject_plan *plan);
const iw_inject_facts *iw_inject_plan_facts(const iw_inject_plan *plan);

#define IW_INJECT_MOST_NS INT64_C(10000000000) /* one detour: 10 s */
#define IW_INJECT_MOST_SHARE 0.9               /* of the time in detours */

/** The plan as an anonymous file (memfd) that stays open across exec; the caller closes it. */
IW_NODISCARD iw_status iw_inject_plan_share(const iw_log *log, const iw_inject_plan *plan, int *fd_p);

/* ---- making them happen ---- */

/** What happened; read it when injecting has stopped. */
typedef struct iw_inject_counts {
    uint64_t made_count;    /* detours made */
    uint64_t skipped_count; /* whose time had passed by over 1 ms when they could begin, or over the limit
                               (fifo) */
    double made_ns;         /* as long as planned, even of one that was so late that nothing was left to spin;
                               skipped ones do not count */
    double skipped_ns;
    double late_max_ns;
    bool has_ended;    /* most_share of the trace was used up */
    bool is_cut_short; /* fifo: a detour did not end as planned and was ended; none after it */
} iw_inject_counts;

typedef struct iw_injector iw_injector;

/** Detours begin to happen: to the calling thread (timer), or to the CPU it runs on now (fifo). The place in
 * the trace at time t of CLOCK_MONOTONIC is (t + offset) mod length, the offset drawn from seed and node: so
 * threads of one node meet its CPUs' detours together. Of a detour that is under way at the start, or where a
 * phase begins, the rest is made. `plan` must live until the stop. */
IW_NODISCARD iw_status iw_injector_start(const iw_log *log, const iw_inject_plan *plan, iw_back_end back_end,
                                         iw_injector **injector_p);

/** A compute phase begins (sync phase): the place in the trace is drawn anew, the k-th time the same on all
 * nodes. Does nothing for other syncs. Called by the thread that started it. */
void iw_injector_phase(iw_injector *injector);

/** Silence, and back to noise; stopping ends what is under way. Called by the thread that started it. */
void iw_injector_pause(iw_injector *injector);
void iw_injector_go_on(iw_injector *injector);

/** Time in detours so far, as planned. Called by the thread that started it. */
double iw_injector_made_ns(const iw_injector *injector);

/** After it returns no detour happens any more, and no signal comes. Called by the thread that started it, or
 * by another when that thread has ended. NULL is fine. */
void iw_injector_stop(iw_injector *injector, iw_inject_counts *counts_p);

#ifdef __cplusplus
}
#endif
#endif
