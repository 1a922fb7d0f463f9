/* Events in the order (time, kind, rank, sequence): a binary heap.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_EVENT_QUEUE_H
#define IWI_EVENT_QUEUE_H

#include <stdbool.h>

#include <idlewave/time.h>

/* At one instant messages are seen first, then operations become ready, then CPUs choose what to do next;
 * last of all memory is shared among those who use it from then on. */
enum iwi_event_kind {
    IWI_EVENT_NIC_IN,   /* `object` is a message whose first byte is at the NIC of its receiver; rank = source
                         */
    IWI_EVENT_NOTICE,   /* `object` is a message that a rank with wildcards can see now; rank = its source */
    IWI_EVENT_RELEASE,  /* `object` is a node that has one dependence less */
    IWI_EVENT_ARRIVED,  /* `object` is a receive whose message is there, or a send whose transfer started */
    IWI_EVENT_DISPATCH, /* `object` is a CPU that may be free */
    IWI_EVENT_NIC_OUT,  /* `object` is a message that could leave its node; rank = its source */
    IWI_EVENT_CORE,     /* `object` is a rank in a phase that moves bytes: a detour begins or ends */
    IWI_EVENT_MEMORY    /* `object` is a domain: a rank has moved all, or others use it than before */
};

struct iwi_event {
    iw_time time;
    uint32_t kind, rank;
    uint64_t sequence, object;
    uint64_t cause; /* release: what let the node go, for explaining (event_path.h) */
};

struct iwi_event_queue {
    struct iwi_event *heap;
    size_t count, capacity;
};

IW_NODISCARD iw_status iwi_event_push(const iw_log *log, struct iwi_event_queue *queue,
                                      struct iwi_event event);

/* Takes the first event; false if there is none. */
bool iwi_event_pop(struct iwi_event_queue *queue, struct iwi_event *event_p);

void iwi_event_queue_release(struct iwi_event_queue *queue);

#endif
