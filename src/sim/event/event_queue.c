/* A binary heap of events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/event/event_queue.h"

#include <stdlib.h>

#include "base/base.h"

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

iw_status iwi_event_push(const iw_log *log, struct iwi_event_queue *queue, struct iwi_event event)
{
    size_t hole = queue->count;
    void *heap = queue->heap;

    IW_TRY(iwi_grow(log, &heap, &queue->capacity, queue->count + 1, sizeof event));
    queue->heap = heap;
    queue->count++;
    while (hole > 0 && is_before(&event, &queue->heap[(hole - 1) / 2])) {
        queue->heap[hole] = queue->heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    queue->heap[hole] = event;
    return IW_OK;
}

bool iwi_event_pop(struct iwi_event_queue *queue, struct iwi_event *event_p)
{
    struct iwi_event last;
    size_t hole = 0;

    if (queue->count == 0) {
        return false;
    }
    *event_p = queue->heap[0];
    last = queue->heap[--queue->count];
    for (;;) {
        size_t child = 2 * hole + 1;

        if (child >= queue->count) {
            break;
        }
        if (child + 1 < queue->count && is_before(&queue->heap[child + 1], &queue->heap[child])) {
            child++;
        }
        if (!is_before(&queue->heap[child], &last)) {
            break;
        }
        queue->heap[hole] = queue->heap[child];
        hole = child;
    }
    if (queue->count > 0) {
        queue->heap[hole] = last;
    }
    return true;
}

void iwi_event_queue_release(struct iwi_event_queue *queue)
{
    free(queue->heap);
    *queue = (struct iwi_event_queue){NULL, 0, 0};
}
