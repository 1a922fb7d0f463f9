/* Timelines of halo exchanges by their recursion, without an engine: the truth is in a few lines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_HALO_H
#define IWT_MADE_HALO_H

#include <stdbool.h>

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include "support/support.h"

struct iwt_delay {
    uint32_t rank;
    uint64_t step;
    iw_time ps;
};

struct iwt_halo {
    uint32_t ranks, distance;
    uint64_t steps;
    iw_time exec_ps, cpu_ps, latency_ps; /* of a step; CPU time and latency of each exchange */
    bool is_rendezvous, is_bidirectional, is_periodic, is_split;
    double noise; /* exponential, mean as a share of exec */
    uint64_t seed;
    uint64_t sync_steps; /* every so many steps all wait for all; 0: never */
    const struct iwt_delay *delays;
    size_t delay_count;
    bool is_traced; /* delays and noise are computation, nothing is known of distance and sigma */
};

/* 18 ranks, 20 steps, d = 1, 3 ms, 10 us and 40 us; eager, one way, open, joint, quiet. */
#define IWT_HALO_INIT                                                                                      \
    {                                                                                                      \
        .ranks = 18, .distance = 1, .steps = 20, .exec_ps = 3 * IW_PS_PER_MS, .cpu_ps = 10 * IW_PS_PER_US, \
        .latency_ps = 40 * IW_PS_PER_US, .seed = 1                                                         \
    }

/* Length of a step without delays and noise, away from borders. */
iw_time iwt_halo_period(const struct iwt_halo *halo);

/* Ranks that a wave goes in a step. */
uint32_t iwt_halo_sigma(const struct iwt_halo *halo);

/* The finished timeline; opts->about is set, the rest is taken (NULL: the usual). */
iw_timeline *iwt_made_halo(const struct iwt_halo *halo, const iw_timeline_opts *opts);

/* Its waves, found by default options; what was said meanwhile in `log` (may be NULL). */
iw_waves *iwt_find_waves(const struct iwt_halo *halo, struct iwt_log *log);

#endif
