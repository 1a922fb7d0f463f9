/* Fetches into the cache what comes later in a window: meanwhile others have pushed it out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WINDOW_FETCH_H
#define IWI_WINDOW_FETCH_H

#include "core/sim/window/window_state.h"

/* So many turns of ranks, or messages, ahead: a rank itself, and what it has to do first. */
enum { IWI_WINDOW_AHEAD = 4, IWI_WINDOW_FURTHER = 8 };

static inline void iwi_window_fetch_lines(const void *what, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64) {
        __builtin_prefetch((const char *)what + at, 1);
    }
}

/* The operations that a rank does next. */
static inline void iwi_window_fetch_nodes(const struct window_run *run, uint32_t local)
{
    const struct window_rank *rank = &run->ranks[local];
    const size_t cpus = run->schedule->cpu_count;
    const struct window_cpu *cpu = &run->cpus[local * cpus];

    for (uint32_t i = rank->queue.begin; i < rank->queue.end; i++) {
        __builtin_prefetch(&rank->nodes[(uint32_t)rank->queue.near[i].what], 1);
    }
    for (size_t c = 0; c < cpus; c++) {
        if (cpu[c].first != IWI_WINDOW_NONE) {
            __builtin_prefetch(&rank->nodes[cpu[c].first], 1);
        }
    }
}

/* `ranks` are those from the one at hand on. */
static inline void iwi_window_fetch(const struct window_run *run, const uint32_t *ranks, uint32_t left)
{
    const size_t cpus = run->schedule->cpu_count;

    if (left > IWI_WINDOW_FURTHER) {
        const size_t local = ranks[IWI_WINDOW_FURTHER];

        iwi_window_fetch_lines(&run->ranks[local], sizeof *run->ranks);
        iwi_window_fetch_lines(&run->cpus[local * cpus], cpus * sizeof *run->cpus);
    }
    if (left > IWI_WINDOW_AHEAD) {
        iwi_window_fetch_nodes(run, ranks[IWI_WINDOW_AHEAD]);
    }
}

#endif
