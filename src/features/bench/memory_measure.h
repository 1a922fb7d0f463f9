/* Measuring memory: the domain whose cores take part, the threads on these, and what they run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MEMORY_MEASURE_H
#define IWI_MEMORY_MEASURE_H

#include <pthread.h>
#include <stddef.h>

#include <idlewave/internal/memory_bench.h>
#include <idlewave/noise.h>

#include "kit/machine/cpus.h"

/* ======== the domain ======== */

struct iwi_memory_domain {
    struct iwi_cpus cpus;
    iw_cpu_set set; /* the same */
    uint32_t numa_node;
    uint64_t cache_bytes; /* all data caches that one of the CPUs uses; 0: not told */
};

/* The CPUs listed, which must share a NUMA node: IW_ERR_RANGE. NULL: of the first NUMA node with CPUs of the
 * calling thread, one CPU of each core. */
IW_NODISCARD iw_status iwi_memory_domain_find(const iw_log *log, const uint32_t *wanted, size_t count,
                                              struct iwi_memory_domain *domain_p);
void iwi_memory_domain_release(struct iwi_memory_domain *domain);

/* ======== threads ======== */

struct iwi_memory_crew;

struct iwi_mover {
    struct iwi_memory_crew *crew;
    size_t index;
    pthread_t thread;
    bool is_started;
    int error;     /* errno of pinning */
    size_t chunks; /* that it moved in the last window */
    double bytes_per_s, held_share;
};

struct iwi_memory_crew {
    const struct iwi_cpus *cpus;
    double *a, *b, *c;
    size_t chunk_count; /* of each array */
    size_t count;
    struct iwi_mover *movers;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t begins, ends;
    uint64_t turn;  /* counts up with each task */
    size_t working; /* threads that have not done the task of this turn yet */
    bool is_over;
    /* the task: set before the turn, read while it lasts */
    size_t active; /* the first so many move data; 0: all write their part of the arrays for the first time */
    size_t cursor; /* the chunk at which the first one begins */
    int64_t begin_ns, end_ns;
};

/* Arrays of `array_bytes` together, written once by the threads, which are pinned. `crew` must stay where it
 * is; release it in any case. IW_ERR_NOMEM, IW_ERR_IO. */
IW_NODISCARD iw_status iwi_memory_crew_start(const iw_log *log, const struct iwi_cpus *cpus,
                                             uint64_t array_bytes, struct iwi_memory_crew *crew);

/* What the first `active` > 0 threads move in a window of so long. */
iw_memory_window iwi_memory_crew_move(struct iwi_memory_crew *crew, size_t active, int64_t window_ns);

void iwi_memory_crew_release(struct iwi_memory_crew *crew);

/* ======== what they run ======== */

/* a[i] = b[i] + s c[i]: two numbers read and one written, 24 bytes as STREAM counts them. */
enum { IWI_TRIAD_BYTES = 24 };

void iwi_triad(double *a, const double *b, const double *c, size_t count);

#endif
