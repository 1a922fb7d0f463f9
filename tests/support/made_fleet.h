/* Fleets in memory, for tests: the sums of nodes that are alike but for mild differences.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_FLEET_H
#define IWT_MADE_FLEET_H

#include <idlewave/fleet.h>

struct iwt_fleet {
    uint64_t seed;
    size_t node_count;
    double spread;          /* standard deviation of the logarithm of rates and durations between nodes */
    double tail;            /* exponent of a power law of durations: 1.5 is heavy */
    double bursts_an_hour;  /* of a job that makes a hundred detours in a second */
    bool has_mixed_lengths; /* 20 to 60 s instead of 60 s */
};

/* A fleet of nodes with 2 CPUs; failures of allocation fail the test. */
iw_fleet *iwt_fleet(const struct iwt_fleet *wanted);

#endif
