/* What a rank has to do next: a heap by (time, kind, cause, node) for each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_QUEUE_H
#define IWI_GRAPH_QUEUE_H

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/heap.h"

struct iwi_graph_event {
    iw_time time;
    uint64_t what;
};

enum { IWI_GRAPH_ROOM = 4 }; /* events that are kept in place */

struct iwi_graph_queue {
    uint32_t count, capacity;       /* capacity 0: IWI_GRAPH_ROOM, in place */
    struct iwi_graph_event *events; /* else */
    struct iwi_graph_event room[IWI_GRAPH_ROOM];
};

static inline struct iwi_graph_event *iwi_graph_events(struct iwi_graph_queue *queue)
{
    return queue->capacity == 0 ? queue->room : queue->events;
}

/* An operation (a node within its rank) is ready for the CPU. */
static inline uint64_t iwi_graph_ready(uint32_t node)
{
    return UINT64_C(1) << 63 | node;
}

/* A receive is to be posted. `cause` grows by 2 with each operation that the CPU takes, and is that of the
 * one that let the receive go; 1 more at the end of a send, which is told by its NIC. What happens at one
 * instant happens in this order. */
static inline uint64_t iwi_graph_post(uint32_t cause, uint32_t node)
{
    return (uint64_t)cause << 32 | node;
}

static inline bool iwi_graph_is_ready(const struct iwi_graph_event *event)
{
    return event->what >> 63 != 0;
}

static inline uint32_t iwi_graph_cause(const struct iwi_graph_event *event)
{
    return (uint32_t)(event->what >> 32);
}

static inline bool iwi_graph_before(const struct iwi_graph_event *a, const struct iwi_graph_event *b)
{
    return a->time < b->time || (a->time == b->time && a->what < b->what);
}

static inline bool iwi_graph_queue_is_full(const struct iwi_graph_queue *queue)
{
    return queue->count >= IWI_GRAPH_ROOM && (queue->capacity == 0 || queue->count == queue->capacity);
}

static inline iw_status iwi_graph_queue_grow(const iw_log *log, struct iwi_graph_queue *queue)
{
    struct iwi_graph_event *events = queue->events;
    size_t capacity = queue->capacity;

    IW_TRY(iwi_grow(log, (void **)&events, &capacity, (size_t)queue->count * 2, sizeof *events));
    if (queue->capacity == 0) {
        memcpy(events, queue->room, sizeof queue->room);
    }
    queue->events = events;
    queue->capacity = (uint32_t)capacity;
    return IW_OK;
}

IWI_HEAP(iwi_graph_heap, iwi_graph_event, iwi_graph_before)

/* There is room for it. */
static inline void iwi_graph_queue_put(struct iwi_graph_queue *queue, struct iwi_graph_event event)
{
    iwi_graph_heap_put(iwi_graph_events(queue), queue->count++, event);
}

/* Takes the first of at least one. */
static inline struct iwi_graph_event iwi_graph_queue_take(struct iwi_graph_queue *queue)
{
    return iwi_graph_heap_take(iwi_graph_events(queue), queue->count--);
}

#endif
