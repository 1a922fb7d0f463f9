/* Stored schedules: made, freed, turned into GOAL's form.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/base.h"
#include "program/program.h"

void iwi_schedule_free(struct iwi_schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    free(schedule->first_node);
    free(schedule->nodes);
    free(schedule->first_dep);
    free(schedule->deps);
    free(schedule->call_of);
    free(schedule);
}

iw_status iwi_schedule_new(const iw_log *log, uint32_t ranks, uint64_t nodes, uint64_t deps,
                           struct iwi_schedule **schedule_p)
{
    struct iwi_schedule *schedule = iwi_new_array(log, 1, sizeof *schedule);

    if (schedule == NULL) {
        return IW_ERR_NOMEM;
    }
    schedule->ranks = ranks;
    schedule->cpu_count = 1;
    schedule->nic_count = 1;
    schedule->first_node = iwi_new_array(log, (size_t)ranks + 1, sizeof *schedule->first_node);
    schedule->nodes =
        schedule->first_node == NULL ? NULL : iwi_new_array(log, nodes, sizeof *schedule->nodes);
    schedule->first_dep =
        schedule->nodes == NULL ? NULL : iwi_new_array(log, nodes + 1, sizeof *schedule->first_dep);
    schedule->deps = schedule->first_dep == NULL ? NULL : iwi_new_array(log, deps, sizeof *schedule->deps);
    if (schedule->deps == NULL) {
        iwi_schedule_free(schedule);
        return IW_ERR_NOMEM;
    }
    *schedule_p = schedule;
    return IW_OK;
}

/* The deps of one node of the DAG: those of the wait, and the node before it unless it is one of them.
 * Writes to `out` unless NULL; returns how many. `at` is the global node number, `local` the one in its rank.
 */
static uint64_t dag_deps(const struct iwi_schedule *in_order, uint64_t at, uint64_t local,
                         struct iwi_dep *out)
{
    const uint64_t first = in_order->first_dep[at];
    const uint64_t own = in_order->first_dep[at + 1] - first;
    bool is_previous_listed = local == 0;

    for (uint64_t i = 0; i < own; i++) {
        is_previous_listed |= in_order->deps[first + i].node + UINT64_C(1) == local;
        if (out != NULL) {
            out[i] = in_order->deps[first + i];
        }
    }
    if (is_previous_listed) {
        return own;
    }
    if (out != NULL) {
        const bool is_start = (in_order->nodes[at - 1].flags & IWI_NODE_NONBLOCKING) != 0;

        out[own] = (struct iwi_dep){(uint32_t)(local - 1), is_start};
    }
    return own + 1;
}

static uint64_t count_dag_deps(const struct iwi_schedule *in_order)
{
    uint64_t count = 0;

    for (uint32_t rank = 0; rank < in_order->ranks; rank++) {
        for (uint64_t at = in_order->first_node[rank]; at < in_order->first_node[rank + 1]; at++) {
            count += dag_deps(in_order, at, at - in_order->first_node[rank], NULL);
        }
    }
    return count;
}

static struct iwi_node dag_node(struct iwi_node node)
{
    if (node.kind == IWI_WAIT) {
        node.kind = IWI_CALC;
        node.amount = 0;
    }
    node.flags &= IWI_NODE_PHASE | IWI_NODE_SYNCHRONOUS;
    return node;
}

iw_status iwi_schedule_to_dag(const iw_log *log, const struct iwi_schedule *in_order,
                              struct iwi_schedule **dag_p)
{
    struct iwi_schedule *dag;
    uint64_t deps = 0;

    IW_TRY(iwi_schedule_new(log, in_order->ranks, in_order->first_node[in_order->ranks],
                            count_dag_deps(in_order), &dag));
    dag->cpu_count = in_order->cpu_count;
    dag->nic_count = in_order->nic_count;
    for (uint32_t rank = 0; rank < in_order->ranks; rank++) {
        const uint64_t first = in_order->first_node[rank];
        const uint64_t end = in_order->first_node[rank + 1];

        for (uint64_t at = first; at < end; at++) {
            dag->nodes[at] = dag_node(in_order->nodes[at]);
            deps += dag_deps(in_order, at, at - first, dag->deps + deps);
            dag->first_dep[at + 1] = deps;
        }
        dag->first_node[rank + 1] = end;
    }
    *dag_p = dag;
    return IW_OK;
}
