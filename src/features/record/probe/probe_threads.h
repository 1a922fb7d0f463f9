/* The threads that measure: one pinned to each CPU, started at one instant.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PROBE_THREADS_H
#define IWI_PROBE_THREADS_H

#include <pthread.h>

#include "features/record/probe/probe.h"
#include "kit/machine/cpus.h"

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

#endif
