/* What the pauses of a run cost: how much shorter its steps would be without them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PAUSE_COSTS_H
#define IWI_PAUSE_COSTS_H

#include <idlewave/estimate.h>

#include "features/explain/arrivals/visits.h"

#define IWI_PAUSE_EVERYWHERE UINT32_MAX

/* One cause, left out on all ranks, on one, or on those of one node. */
struct iwi_pause_cost {
    uint8_t cause;                  /* IWI_PAUSE_CAUSES: all of them */
    uint32_t rank;                  /* index, or IWI_PAUSE_EVERYWHERE */
    char node[IWI_VISIT_NAME_SIZE]; /* "": of no node */
    uint32_t ranks;                 /* that have such pauses */
    uint64_t pauses;
    double paused_ns; /* of all its ranks */
    /* Of a step, mean over the steps. The interval is over the steps: where the mean of many steps under the
     * same conditions would be; widened by how well the clocks agree. NaN: a single step. */
    iw_estimate saved_ns, share;
};

struct iwi_pause_costs {
    size_t step_count;
    double step_ns;  /* the mean */
    double clock_ns; /* within which synchronising collectives end: the median over them of the deviation */
    struct iwi_pause_cost *of; /* each cause everywhere, the dearest first, followed by its ranks and nodes */
    size_t count, capacity;
};

/* Of visits that are finished, aligned and have steps. Without pauses or steps there are no costs.
 * IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_pause_costs_find(const struct iwi_visits *visits, struct iwi_pause_costs *costs_p);
void iwi_pause_costs_release(struct iwi_pause_costs *costs);

#endif
