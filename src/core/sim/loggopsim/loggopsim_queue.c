/* Binary heap of events and pairing heaps of waiting elements for LogGOPSim's rules.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/loggopsim/loggopsim.h"

#include "core/base/heap.h"

static bool is_before(const struct iwi_lgs_event *a, const struct iwi_lgs_event *b)
{
    return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->serial < b->serial);
}

IWI_HEAP(heap, iwi_lgs_event, is_before)

iw_status iwi_lgs_push(const iw_log *log, struct iwi_lgs_queue *queue, struct iwi_lgs_event event)
{
    void *events = queue->events;

    IW_TRY(iwi_grow(log, &events, &queue->capacity, queue->count + 1, sizeof *queue->events));
    queue->events = events;
    heap_put(queue->events, queue->count++, event);
    return IW_OK;
}

bool iwi_lgs_pop(struct iwi_lgs_queue *queue, struct iwi_lgs_event *event_p)
{
    if (queue->count == 0) {
        return false;
    }
    *event_p = heap_take(queue->events, queue->count--);
    return true;
}

/* Joins two heaps, neither empty; the older root becomes the root of both. */
static uint64_t join(struct iwi_lgs_element *elements, uint64_t a, uint64_t b)
{
    const uint64_t root = elements[a].serial < elements[b].serial ? a : b;
    const uint64_t other = root == a ? b : a;

    elements[other].next = elements[root].child;
    elements[root].child = other;
    elements[root].next = IWI_LGS_NONE;
    return root;
}

uint64_t iwi_lgs_take_first(struct iwi_lgs_group *group, struct iwi_lgs_element *elements)
{
    const uint64_t taken = group->first;
    uint64_t rest = elements[taken].child, pairs = IWI_LGS_NONE, root = IWI_LGS_NONE;

    /* The pairing heap's two passes: join children two by two, then all pairs. */
    while (rest != IWI_LGS_NONE) {
        uint64_t a = rest;
        const uint64_t b = elements[a].next;

        rest = b == IWI_LGS_NONE ? IWI_LGS_NONE : elements[b].next;
        if (b != IWI_LGS_NONE) {
            a = join(elements, a, b);
        }
        elements[a].next = pairs;
        pairs = a;
    }
    while (pairs != IWI_LGS_NONE) {
        const uint64_t pair = pairs;

        pairs = elements[pair].next;
        elements[pair].next = IWI_LGS_NONE;
        root = root == IWI_LGS_NONE ? pair : join(elements, root, pair);
    }
    group->first = root;
    elements[taken].child = IWI_LGS_NONE;
    elements[taken].next = IWI_LGS_NONE;
    return taken;
}

static bool is_same_need(struct iwi_lgs_need a, struct iwi_lgs_need b)
{
    return a.rank == b.rank && a.kind == b.kind && a.cpu == b.cpu && a.nic == b.nic;
}

static iw_status find_group(const iw_log *log, struct iwi_lgs_groups *groups, struct iwi_lgs_need need,
                            uint64_t *group_p)
{
    void *array = groups->groups;
    uint64_t g = groups->first_of_rank[need.rank];

    while (g != IWI_LGS_NONE && !is_same_need(groups->groups[g].need, need)) {
        g = groups->groups[g].next;
    }
    if (g == IWI_LGS_NONE) {
        IW_TRY(iwi_grow(log, &array, &groups->capacity, groups->count + 1, sizeof *groups->groups));
        groups->groups = array;
        g = groups->count++;
        groups->groups[g] = (struct iwi_lgs_group){.need = need,
                                                   .first = IWI_LGS_NONE,
                                                   .next = groups->first_of_rank[need.rank],
                                                   .wake_serial = IWI_LGS_NONE};
        groups->first_of_rank[need.rank] = g;
    }
    *group_p = g;
    return IW_OK;
}

iw_status iwi_lgs_wait(const iw_log *log, struct iwi_lgs_groups *groups, struct iwi_lgs_element *elements,
                       struct iwi_lgs_need need, uint64_t node, uint64_t *group_p)
{
    struct iwi_lgs_group *group;

    IW_TRY(find_group(log, groups, need, group_p));
    group = &groups->groups[*group_p];
    elements[node].child = IWI_LGS_NONE;
    elements[node].next = IWI_LGS_NONE;
    group->first = group->first == IWI_LGS_NONE ? node : join(elements, group->first, node);
    return IW_OK;
}
