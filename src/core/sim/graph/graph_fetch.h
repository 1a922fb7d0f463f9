/* Fetches into the cache what ranks that come later in a window will need.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_FETCH_H
#define IWI_GRAPH_FETCH_H

#include "core/sim/graph/graph_state.h"

/* So many ranks, or messages, ahead: a rank itself, what it needs first, and what that leads to. */
enum { IWI_GRAPH_AHEAD = 12, IWI_GRAPH_FURTHER = 24, IWI_GRAPH_FURTHEST = 36 };

/* The node that a rank will take first, by what is known now. */
static inline uint32_t iwi_graph_next_node(const struct graph_rank *rank)
{
    const struct iwi_graph_event *first = rank->queue.capacity == 0 ? rank->queue.room : rank->queue.events;

    return rank->first + (uint32_t)first->what;
}

/* First the queue of a rank, then the node that this says, then its only successor, if it is a receive.
 * `ranks` are those from the one at hand on. */
static inline void iwi_graph_fetch(const struct graph_run *run, const uint32_t *ranks, size_t left)
{
    if (left > IWI_GRAPH_FURTHEST) {
        const struct graph_rank *rank = &run->ranks[ranks[IWI_GRAPH_FURTHEST]];

        __builtin_prefetch(rank, 1);
        __builtin_prefetch(rank->queue.room, 1);
    }
    if (left > IWI_GRAPH_FURTHER) {
        const uint32_t node = iwi_graph_next_node(&run->ranks[ranks[IWI_GRAPH_FURTHER]]);

        __builtin_prefetch(&run->nodes[node], 1);
        __builtin_prefetch(&run->windows->ops[node]);
    }
    if (left > IWI_GRAPH_AHEAD) {
        const struct graph_rank *rank = &run->ranks[ranks[IWI_GRAPH_AHEAD]];
        const struct iwi_graph_op *op = &run->windows->ops[iwi_graph_next_node(rank)];

        if (op->kind == IWI_GRAPH_RECV && op->peer != UINT32_MAX) {
            __builtin_prefetch(&run->nodes[rank->first + op->peer], 1);
            __builtin_prefetch(&run->windows->ops[rank->first + op->peer]);
        }
    }
}

#endif
