/* GOAL graphs that are chains: the same as one operation after the other, so the flow engine can run them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "base/base.h"
#include "sim/plan.h"

/* Each node requires exactly the end of the one before it. */
static bool is_chain(const struct iwi_schedule *dag)
{
    for (uint32_t rank = 0; rank < dag->ranks; rank++) {
        for (uint64_t node = dag->first_node[rank]; node < dag->first_node[rank + 1]; node++) {
            const uint64_t dep_count = dag->first_dep[node + 1] - dag->first_dep[node];
            const struct iwi_dep *dep = &dag->deps[dag->first_dep[node]];
            const uint64_t index = node - dag->first_node[rank];

            if (dep_count != (index == 0 ? 0 : 1) ||
                (dep_count == 1 && (dep->is_start || dep->node != index - 1))) {
                return false;
            }
        }
    }
    return true;
}

iw_status iwi_schedule_from_chain(const iw_log *log, const struct iwi_schedule *dag,
                                  struct iwi_schedule **chain_p)
{
    const uint64_t node_count = dag->first_node[dag->ranks];
    struct iwi_schedule *chain;

    *chain_p = NULL;
    if (!is_chain(dag)) {
        return IW_OK;
    }
    IW_TRY(iwi_schedule_new(log, dag->ranks, node_count, 0, &chain));
    memcpy(chain->first_node, dag->first_node, (dag->ranks + (size_t)1) * sizeof *chain->first_node);
    memcpy(chain->nodes, dag->nodes, (size_t)node_count * sizeof *chain->nodes);
    chain->cpu_count = dag->cpu_count;
    chain->nic_count = dag->nic_count;
    chain->is_in_order = true;
    *chain_p = chain;
    return IW_OK;
}
