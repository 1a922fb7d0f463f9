/* Tells graphs that are programs: each rank's operations one after the other, with waits for what goes on
 * beside them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * GOAL has no waits. iwi_schedule_to_dag() writes a program down as a graph; here such a graph becomes the
 * program again, so that a program takes as long in every form it can have. The rule is that of
 * docs/explanation/semantics.md, 8: every operation requires the one before it, or irequires it if that is a
 * message. Whatever else is required is a message that was irequired and not required since, and only a calc
 * of 0, the wait, may require it. None is left over in the end.
 */
#include "core/program/in_order.h"

#include <stdlib.h>

#include "core/base/base.h"

static bool is_message(const struct iwi_node *node)
{
    return node->kind == IWI_SEND || node->kind == IWI_RECV;
}

/* May be a wait. A phase of no work is none. */
static bool is_empty_calc(const struct iwi_node *node)
{
    return node->kind == IWI_CALC && node->amount == 0 && (node->flags & IWI_NODE_PHASE) == 0;
}

/* `is_open`: by node of the rank, messages that were irequired and not required since; `open_p` counts them.
 */
static bool is_node_in_order(const struct iwi_rank_graph *rank, uint64_t node, bool *is_open,
                             uint64_t *open_p)
{
    uint64_t before = 0; /* dependences on the operation before */

    is_open[node] = false;
    for (uint64_t d = rank->first[node]; d < rank->first[node + 1]; d++) {
        const struct iwi_dep dep = rank->deps[d];

        if (dep.node + UINT64_C(1) == node) {
            before++;
            if (dep.is_start && !is_message(&rank->nodes[dep.node])) {
                return false;
            }
            is_open[dep.node] = dep.is_start;
            *open_p += dep.is_start;
        } else if (dep.node < node && !dep.is_start && is_open[dep.node] &&
                   is_empty_calc(&rank->nodes[node])) {
            is_open[dep.node] = false;
            --*open_p;
        } else {
            return false;
        }
    }
    return before == (node > 0);
}

/* How many of the rank's operations are in order, from the first on: all but the last if one is never waited
 * for. */
static uint64_t count_in_order(const struct iwi_rank_graph *rank, bool *is_open)
{
    uint64_t open = 0;

    for (uint64_t node = 0; node < rank->count; node++) {
        if (!is_node_in_order(rank, node, is_open, &open)) {
            return node;
        }
    }
    return open == 0 ? rank->count : rank->count - 1;
}

bool iwi_rank_is_in_order(const struct iwi_rank_graph *rank, bool *is_open)
{
    return count_in_order(rank, is_open) == rank->count;
}

static struct iwi_rank_graph graph_of(const struct iwi_schedule *dag, uint32_t rank)
{
    const uint64_t first = dag->first_node[rank];

    return (struct iwi_rank_graph){.nodes = dag->nodes + first,
                                   .count = dag->first_node[rank + 1] - first,
                                   .first = dag->first_dep + first,
                                   .deps = dag->deps};
}

iw_status iwi_schedule_find_disorder(const iw_log *log, const struct iwi_schedule *dag,
                                     struct iwi_disorder *disorder_p)
{
    bool *is_open = iwi_new_array(log, (size_t)iwi_schedule_largest_rank(dag), sizeof *is_open);
    struct iwi_disorder found = {.ranks = 0};

    if (is_open == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < dag->ranks; rank++) {
        const struct iwi_rank_graph graph = graph_of(dag, rank);
        const uint64_t in_order = count_in_order(&graph, is_open);

        if (in_order < graph.count && found.ranks++ == 0) {
            found.rank = rank;
            found.node = in_order;
        }
    }
    free(is_open);
    *disorder_p = found;
    return IW_OK;
}

uint64_t iwi_rank_put_in_order(const struct iwi_rank_graph *rank, uint64_t node, uint64_t begin, uint64_t end,
                               struct iwi_dep *to)
{
    const bool is_wait = is_empty_calc(&rank->nodes[node]);
    uint64_t kept = 0;

    for (uint64_t d = begin; d < end; d++) {
        const struct iwi_dep dep = rank->deps[d];
        struct iwi_node *other = &rank->nodes[dep.node];

        if (is_message(other) && (is_wait || dep.is_start)) {
            other->flags |= IWI_NODE_NONBLOCKING;
        }
        if (is_message(other) && is_wait && !dep.is_start) {
            to[kept++] = dep;
        }
    }
    if (kept > 0) {
        rank->nodes[node].kind = IWI_WAIT;
    }
    return kept;
}

static void put_in_order(struct iwi_schedule *schedule)
{
    uint64_t deps = 0, begin = 0, longest = 0;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        const struct iwi_rank_graph graph = graph_of(schedule, rank);

        for (uint64_t node = 0; node < graph.count; node++) {
            const uint64_t end = graph.first[node + 1];
            const uint64_t kept = iwi_rank_put_in_order(&graph, node, begin, end, schedule->deps + deps);

            schedule->first_dep[schedule->first_node[rank] + node] = deps;
            deps += kept;
            longest = kept > longest ? kept : longest;
            begin = end;
        }
    }
    schedule->first_dep[schedule->first_node[schedule->ranks]] = deps;
    schedule->facts.longest_wait = longest;
    schedule->is_in_order = true;
}

iw_status iwi_schedule_put_in_order(const iw_log *log, struct iwi_schedule *schedule)
{
    bool *is_open;
    bool is_in_order = schedule->cpu_count == 1; /* a program has one CPU */

    if (schedule->is_in_order || !is_in_order) {
        return IW_OK;
    }
    is_open = iwi_new_array(log, (size_t)iwi_schedule_largest_rank(schedule), sizeof *is_open);
    if (is_open == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < schedule->ranks && is_in_order; rank++) {
        const struct iwi_rank_graph graph = graph_of(schedule, rank);

        is_in_order = iwi_rank_is_in_order(&graph, is_open);
    }
    free(is_open);
    if (is_in_order) {
        put_in_order(schedule);
    }
    return IW_OK;
}
