/* The noise of a fleet over time: what is kept of each digest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HISTORY_H
#define IWI_HISTORY_H

#include <idlewave/history.h>

#include "features/fleet/fleet_cells.h"

/* A node at one time. */
struct iwi_history_entry {
    char *node;
    int64_t start_ns;
    bool is_busy;      /* programs of users ran */
    double watched_ns; /* summed over CPUs */
    uint32_t number;   /* its cells are those of this number */
};

struct iwi_history_data {
    struct iwi_fleet_cells *cells; /* by digest, where fleets have nodes; no columns */
    size_t capacity;
    struct iwi_history_entry *entries; /* with a date; once judged by node, then time */
    size_t count;
    size_t change_capacity, node_capacity;
};

#endif
