/* A binary heap of events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/event/event_queue.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/heap.h"

static bool is_before(const struct iwi_event *a, const struct iwi_event *b)
{
    if (a->time != b->time) {
        return a->time < b->time;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    return a->sequence < b->sequence;
}

IWI_HEAP(heap, iwi_event, is_before)

iw_status iwi_event_push(const iw_log *log, struct iwi_event_queue *queue, struct iwi_event event)
{
    void *heap = queue->heap;

    IW_TRY(iwi_grow(log, &heap, &queue->capacity, queue->count + 1, sizeof event));
    queue->heap = heap;
    heap_put(queue->heap, queue->count++, event);
    return IW_OK;
}

bool iwi_event_pop(struct iwi_event_queue *queue, struct iwi_event *event_p)
{
    if (queue->count == 0) {
        return false;
    }
    *event_p = heap_take(queue->heap, queue->count--);
    return true;
}

void iwi_event_queue_release(struct iwi_event_queue *queue)
{
    free(queue->heap);
    *queue = (struct iwi_event_queue){NULL, 0, 0};
}
