/* What a rank has to do next: its own events, and messages that it can see.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Most ranks have a handful of events. So the next ones are kept sorted, where the rank itself is; a heap has
 * those that are later than all of these, if there are any.
 */
#ifndef IWI_WINDOW_QUEUE_H
#define IWI_WINDOW_QUEUE_H

#include <stdbool.h>

#include <idlewave/time.h>

#include "core/base/heap.h"

/* In the order in which they happen at one instant. Messages that can be seen (enum iwi_event_kind) come
 * before all of them. */
enum iwi_window_event_kind {
    IWI_WINDOW_POST, /* a receive is ready */
    IWI_WINDOW_TOLD, /* a send ends: others learn of it */
    IWI_WINDOW_SERVE /* a CPU is free, or an operation is ready for it */
};

struct iwi_window_event {
    iw_time time;
    uint64_t what; /* kind, CPU, is_ready, node: the order of events at one instant */
};

static inline uint64_t iwi_window_what(enum iwi_window_event_kind kind, uint32_t node)
{
    return (uint64_t)kind << 62 | node;
}

/* A CPU serves what waited for it before what is ready only now. */
static inline uint64_t iwi_window_serve(uint32_t cpu, bool is_ready, uint32_t node)
{
    return (uint64_t)IWI_WINDOW_SERVE << 62 | (uint64_t)cpu << 33 | (uint64_t)is_ready << 32 | node;
}

static inline enum iwi_window_event_kind iwi_window_kind_of(uint64_t what)
{
    return (enum iwi_window_event_kind)(what >> 62);
}

static inline uint32_t iwi_window_cpu_of(uint64_t what)
{
    return (uint32_t)(what >> 33) & 0xff;
}

static inline bool iwi_window_is_ready(uint64_t what)
{
    return (what >> 32 & 1) != 0;
}

/* A message on its way to `to`, or the answer to one that goes by rendezvous. */
struct iwi_window_message {
    iw_time
        notice; /* from when on a receive can meet it; eager: its arrival. Answer: start of the transfer */
    uint64_t bytes;
    uint32_t from, to;
    uint32_t tag;    /* or the receive that it meets, if is_fixed */
    uint32_t number; /* of its sender's messages, in the order of starting */
    uint32_t send;   /* node within its rank */
    bool is_rendezvous, is_answer, is_fixed;
};

#define IWI_WINDOW_NONE UINT32_MAX

enum { IWI_WINDOW_NEAR = 16 };

struct iwi_window_queue {
    uint32_t begin, end; /* of those in `near`; begin == end: there are no events at all */
    struct iwi_window_event near[IWI_WINDOW_NEAR]; /* sorted */
    struct iwi_window_event *far;                  /* a heap: none of them is before one of `near` */
    uint32_t far_count, far_capacity;
};

struct iwi_window_inbox {
    struct iwi_window_message *messages;
    uint32_t count, capacity;
};

static inline bool iwi_window_event_before(const struct iwi_window_event *a, const struct iwi_window_event *b)
{
    /* as one number, since no branch can be foreseen here: times are not negative */
    return ((unsigned __int128)(uint64_t)a->time << 64 | a->what) <
           ((unsigned __int128)(uint64_t)b->time << 64 | b->what);
}

/* Those of one instant by (source, number). */
static inline bool iwi_window_message_before(const struct iwi_window_message *a,
                                             const struct iwi_window_message *b)
{
    if (a->notice != b->notice) {
        return a->notice < b->notice;
    }
    return a->from != b->from ? a->from < b->from : a->number < b->number;
}

IWI_HEAP(iwi_window_events, iwi_window_event, iwi_window_event_before)
IWI_HEAP(iwi_window_messages, iwi_window_message, iwi_window_message_before)

/* The later half of those that are near gets far. */
static inline void iwi_window_queue_spill(struct iwi_window_queue *queue)
{
    while (queue->end > IWI_WINDOW_NEAR / 2) {
        iwi_window_events_put(queue->far, queue->far_count++, queue->near[--queue->end]);
    }
}

/* There is room for IWI_WINDOW_NEAR more in the heap. */
static inline void iwi_window_queue_put(struct iwi_window_queue *queue, struct iwi_window_event event)
{
    uint32_t at;

    if (queue->end == IWI_WINDOW_NEAR) {
        for (at = queue->begin; at < queue->end; at++) {
            queue->near[at - queue->begin] = queue->near[at];
        }
        queue->end -= queue->begin;
        queue->begin = 0;
        if (queue->end == IWI_WINDOW_NEAR) {
            iwi_window_queue_spill(queue);
        }
    }
    if (queue->far_count > 0 && !iwi_window_event_before(&event, &queue->near[queue->end - 1])) {
        iwi_window_events_put(queue->far, queue->far_count++, event);
        return;
    }
    for (at = queue->end++; at > queue->begin && iwi_window_event_before(&event, &queue->near[at - 1]);
         at--) {
        queue->near[at] = queue->near[at - 1];
    }
    queue->near[at] = event;
}

/* There is at least one. */
static inline struct iwi_window_event iwi_window_queue_take(struct iwi_window_queue *queue)
{
    const struct iwi_window_event first = queue->near[queue->begin++];

    if (queue->begin == queue->end) {
        queue->begin = queue->end = 0;
        while (queue->far_count > 0 && queue->end < IWI_WINDOW_NEAR / 2) {
            queue->near[queue->end++] = iwi_window_events_take(queue->far, queue->far_count--);
        }
    }
    return first;
}

static inline void iwi_window_inbox_put(struct iwi_window_inbox *inbox, struct iwi_window_message message)
{
    iwi_window_messages_put(inbox->messages, inbox->count++, message);
}

static inline struct iwi_window_message iwi_window_inbox_take(struct iwi_window_inbox *inbox)
{
    return iwi_window_messages_take(inbox->messages, inbox->count--);
}

#endif
