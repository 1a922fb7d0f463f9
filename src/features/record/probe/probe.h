/* Probes: what runs on a CPU while it is watched, and how the detours are read off it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe is one file with one ops struct and one line in probe.c.
 */
#ifndef IWI_PROBE_H
#define IWI_PROBE_H

#include <idlewave/measure.h>

#include <pthread.h>

#include "features/record/attribution/attribution.h"
#include "features/record/clock/clock.h"
#include "kit/machine/cpus.h"

/* One CPU's part. Only its own thread touches it while it measures. */
struct iwi_probe_run {
    const struct iwi_probe_ops *ops;
    struct iwi_clock *clock;
    const struct iwi_probe_window *window;
    double threshold; /* times t_min */
    uint64_t quantum; /* ticks */
    /* Set by iwi_probe_prepare(), in ticks: */
    double t_min;       /* of the selfish loop */
    double least_read;  /* of two readings with nothing between them */
    uint64_t work;      /* iterations of a piece of work */
    uint64_t tolerance; /* selfish: longer gaps are kept */
    struct iwi_marks marks;
    bool is_start_lent, is_value_lent; /* these arrays of the marks belong to the recording now */
};

struct iwi_probe_ops {
    /* Marks that fit a recording of so long. */
    uint64_t (*room)(const iw_measure_opts *opts);
    /* Finds what the loop needs to know; the thread is pinned. */
    void (*prepare)(struct iwi_probe_run *probe);
    void (*run)(struct iwi_probe_run *probe);
    /* Before the window: what is known already, and arrays with room for all marks; those of the marks are
     * lent where they can serve. */
    iw_status (*begin)(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours);
    /* Marks first..end-1 become detours or samples, in the clock's ticks no more but in ns. Called while the
     * loop runs, and once after it. */
    void (*take)(const struct iwi_probe_run *probe, size_t first, size_t end, iw_detours *detours);
    /* After all marks have been taken: what only the whole says. */
    iw_status (*finish)(const iw_log *log, struct iwi_probe_run *probe, iw_detours *detours);
};

extern const struct iwi_probe_ops iwi_probe_selfish, iwi_probe_fwq, iwi_probe_ftq;

/* Never NULL for the values of the enum. */
const struct iwi_probe_ops *iwi_probe_ops_of(iw_probe probe);

/* Bytes of one mark and of what becomes of it. */
enum { IWI_MARK_BYTES = 48 };

/* On the pinned thread: room for so many marks, touched so that it is near this CPU and nothing is paged in
 * later; t_min; what the probe needs besides. Nothing is logged; IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_probe_prepare(struct iwi_probe_run *probe, size_t room);

void iwi_probe_release(struct iwi_probe_run *probe);

/* ---- for probes that take a sample in each quantum: their begin(), take() with values times `scale`, ----
 */

/* and finish(): quanta that lost more than `tolerance` ticks against the best become detours. */
typedef double (*iwi_lost_fn)(const struct iwi_probe_run *probe, int64_t value, int64_t best);

/* ---- the threads that measure: one pinned to each CPU, started at one instant ---- */

struct iwi_probe_threads;

struct iwi_worker {
    struct iwi_probe_threads *probe_threads;
    uint32_t cpu;
    pthread_t thread;
    pid_t tid; /* as the kernel names the thread, once it is pinned */
    bool is_started;
    struct iwi_probe_run probe;
    iw_status status;        /* of pinning and preparing */
    int error;               /* errno of pinning */
    int64_t forced_switches; /* involuntary context switches while measuring */
    int last_cpu;            /* where it ran at the end of measuring; -1: not known */
};

struct iwi_probe_threads {
    struct iwi_probe_window window;
    const struct iwi_cpus *cpus;
    size_t room;                                      /* marks of each */
    void (*on_thread_start)(void *arg, size_t index); /* as in iw_measure_opts */
    void (*on_thread_stop)(void *arg, size_t index);
    void *arg;
    size_t count;
    struct iwi_worker *workers;
    _Atomic size_t pinned, ready; /* so many are, or have failed to be */
    _Atomic bool may_prepare;
};

/* Threads with `probe`, pinned to all CPUs. `threads` must stay where it is. */
IW_NODISCARD iw_status iwi_probe_threads_start(const iw_log *log, const iw_measure_opts *opts,
                                               const struct iwi_cpus *cpus, const struct iwi_probe_run *probe,
                                               size_t room, struct iwi_probe_threads *probe_threads);

/* Has all find their t_min and touch their memory. Whatever makes another process must be done before: its
 * first writes to memory that the two share would be detours. */
IW_NODISCARD iw_status iwi_probe_threads_prepare(const iw_log *log, const iw_measure_opts *opts,
                                                 struct iwi_probe_threads *probe_threads);

/* Tells how much of the window is over, and asks whether to go on. */
bool iwi_wants_end(const iw_measure_opts *opts, int64_t done_ns);

/* The failure of a recording that is ended before its window opens. */
iw_status iwi_ended_too_early(const iw_log *log);

/* Has all measure from an instant soon to come, which is returned, for so long. */
uint64_t iwi_probe_threads_open_window(struct iwi_probe_threads *probe_threads, const struct iwi_clock *clock,
                                       int64_t duration_ns);

/* Ends the window early. */
void iwi_probe_threads_stop(struct iwi_probe_threads *probe_threads);

/* Waits for all threads to end. */
void iwi_probe_threads_join(struct iwi_probe_threads *probe_threads);

/* After that: warns of each thread that was not on its CPU any more, naming that. */
void iwi_probe_threads_warn_of_moved(const iw_log *log, const struct iwi_probe_threads *probe_threads);

/* Ends what has not ended, waits for all threads, frees their memory. */
void iwi_probe_threads_release(struct iwi_probe_threads *probe_threads);

/* ---- what they measure, brought in piece by piece: sources get names ---- */

/* How much of a CPU has been brought in. */
struct iwi_swath {
    size_t marks, detours, parts; /* not each mark stays a detour */
    size_t visible;               /* marks that are to be taken next */
};

struct iwi_detour_collector {
    const iw_log *log;
    const struct iwi_clock *clock;
    struct iwi_probe_threads *probe_threads;
    struct iwi_attributor *attribution;
    iw_recording *recording;
    const iw_measure_sink *sink; /* NULL: none, or it has failed */
    uint64_t zero;               /* tick at which the recording begins */
    struct iwi_swath *swaths;    /* one of each place */
};

/* Gives the recording's CPUs their arrays; all workers are prepared. */
IW_NODISCARD iw_status iwi_detour_collector_begin(struct iwi_detour_collector *collector);

/* Brings in all detours that have ended. A sink that fails is left alone from then on: what it has said, has
 * been logged, and the recording itself is not lost by that. */
IW_NODISCARD iw_status iwi_detour_collector_step(struct iwi_detour_collector *collector);

/* The last step, after the threads have ended, and what only the whole says. */
IW_NODISCARD iw_status iwi_detour_collector_finish(struct iwi_detour_collector *collector);

void iwi_detour_collector_release(struct iwi_detour_collector *collector);

#endif
