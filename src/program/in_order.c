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
#include "program/in_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

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
static bool is_node_in_order(const struct iwi_schedule *dag, uint64_t first, uint64_t local, bool *is_open,
                             uint64_t *open_p)
{
    uint64_t before = 0; /* dependences on the operation before */

    for (uint64_t d = dag->first_dep[first + local]; d < dag->first_dep[first + local + 1]; d++) {
        const struct iwi_dep dep = dag->deps[d];

        if (dep.node + UINT64_C(1) == local) {
            before++;
            if (dep.is_start && !is_message(&dag->nodes[first + dep.node])) {
                return false;
            }
            is_open[dep.node] = dep.is_start;
            *open_p += dep.is_start;
        } else if (!dep.is_start && is_open[dep.node] && is_empty_calc(&dag->nodes[first + local])) {
            is_open[dep.node] = false;
            --*open_p;
        } else {
            return false;
        }
    }
    return before == (local > 0);
}

/* How many of the rank's operations are in order, from the first on: all but the last if one is never waited
 * for. */
static uint64_t count_in_order(const struct iwi_schedule *dag, uint32_t rank, bool *is_open)
{
    const uint64_t first = dag->first_node[rank];
    const uint64_t count = dag->first_node[rank + 1] - first;
    uint64_t open = 0;

    memset(is_open, 0, count * sizeof *is_open);
    for (uint64_t local = 0; local < count; local++) {
        if (!is_node_in_order(dag, first, local, is_open, &open)) {
            return local;
        }
    }
    return open == 0 ? count : count - 1;
}

static bool is_rank_in_order(const struct iwi_schedule *dag, uint32_t rank, bool *is_open)
{
    return count_in_order(dag, rank, is_open) == dag->first_node[rank + 1] - dag->first_node[rank];
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
        const uint64_t in_order = count_in_order(dag, rank, is_open);

        if (in_order < dag->first_node[rank + 1] - dag->first_node[rank] && found.ranks++ == 0) {
            found.rank = rank;
            found.node = in_order;
        }
    }
    free(is_open);
    *disorder_p = found;
    return IW_OK;
}

/* The node keeps of its dependences (`begin` to `end`) those on messages that it completes; they move to
 * `deps` on, which is not behind `begin`. Returns how many. */
static uint64_t keep_completed(struct iwi_schedule *schedule, uint64_t first, uint64_t node, uint64_t begin,
                               uint64_t end, uint64_t deps)
{
    const bool is_wait = is_empty_calc(&schedule->nodes[node]);
    uint64_t kept = 0;

    for (uint64_t d = begin; d < end; d++) {
        const struct iwi_dep dep = schedule->deps[d];
        struct iwi_node *other = &schedule->nodes[first + dep.node];

        if (is_message(other) && (is_wait || dep.is_start)) {
            other->flags |= IWI_NODE_NONBLOCKING;
        }
        if (is_message(other) && is_wait && !dep.is_start) {
            schedule->deps[deps + kept++] = dep;
        }
    }
    if (kept > 0) {
        schedule->nodes[node].kind = IWI_WAIT;
    }
    return kept;
}

static void put_in_order(struct iwi_schedule *schedule)
{
    uint64_t deps = 0, begin = 0;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        const uint64_t first = schedule->first_node[rank];

        for (uint64_t node = first; node < schedule->first_node[rank + 1]; node++) {
            const uint64_t end = schedule->first_dep[node + 1];

            schedule->first_dep[node] = deps;
            deps += keep_completed(schedule, first, node, begin, end, deps);
            begin = end;
        }
    }
    schedule->first_dep[schedule->first_node[schedule->ranks]] = deps;
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
        is_in_order = is_rank_in_order(schedule, rank, is_open);
    }
    free(is_open);
    if (is_in_order) {
        put_in_order(schedule);
    }
    return IW_OK;
}
