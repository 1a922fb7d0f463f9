/* What a rank has to do next: a heap by (time, kind, node).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_QUEUE_H
#define IWI_GRAPH_QUEUE_H

#include <stdbool.h>

#include <idlewave/time.h>

#include "core/base/heap.h"

struct iwi_graph_event {
    iw_time time;
    uint64_t what;
};

/* An operation (a node within its rank) is ready for the CPU. */
static inline uint64_t iwi_graph_ready(uint32_t node)
{
    return UINT64_C(1) << 63 | node;
}

/* A receive is posted, before the CPU takes anything at that instant. */
static inline uint64_t iwi_graph_post(uint32_t node)
{
    return node;
}

static inline bool iwi_graph_is_ready(const struct iwi_graph_event *event)
{
    return event->what >> 63 != 0;
}

static inline bool iwi_graph_before(const struct iwi_graph_event *a, const struct iwi_graph_event *b)
{
    return a->time < b->time || (a->time == b->time && a->what < b->what);
}

IWI_HEAP(iwi_graph_heap, iwi_graph_event, iwi_graph_before)

#endif
