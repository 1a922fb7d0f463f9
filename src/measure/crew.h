/* The threads that measure: one pinned to each CPU, started at one instant.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CREW_H
#define IWI_CREW_H

#include <pthread.h>

#include "measure/cpus.h"
#include "measure/probe.h"

struct iwi_crew;

struct iwi_worker {
    struct iwi_crew *crew;
    uint32_t cpu;
    pthread_t thread;
    bool is_started;
    struct iwi_probe probe;
    iw_status status;        /* of pinning and preparing */
    int error;               /* errno of pinning */
    int64_t forced_switches; /* involuntary context switches while measuring */
};

struct iwi_crew {
    struct iwi_window window;
    const struct iwi_cpus *cpus;
    size_t room; /* marks of each */
    size_t count;
    struct iwi_worker *workers;
    _Atomic size_t ready; /* prepared, or failed */
};

/* Threads with `probe` on all CPUs; they prepare and wait for the window. `crew` must stay where it is. */
IW_NODISCARD iw_status iwi_crew_start(const iw_log *log, const struct iwi_cpus *cpus,
                                      const struct iwi_probe *probe, size_t room, struct iwi_crew *crew);

/* Opens the window once all wait, and sleeps until it is over or `opts` want it to end. */
IW_NODISCARD iw_status iwi_crew_measure(const iw_log *log, const iw_measure_opts *opts,
                                        const struct iwi_clock *clock, struct iwi_crew *crew);

/* Ends what has not ended, waits for all threads, frees their memory. */
void iwi_crew_release(struct iwi_crew *crew);

#endif
