/* Calls of several threads of a rank in one order in which each can go on when its turn comes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A message may be received before the call that sends it returns, and other threads go on meanwhile. So what
 * calls start counts from their Enter, and what they wait for from their Leave: whatever a Leave needs was
 * started before, on all ranks. Collectives are not parted: which one of a communicator's is meant tells only
 * their order.
 */
#include "kit/files/otf2/trace_otf2_events.h"

#include <stdlib.h>

/* Of messages whose halves are apart. Neither tracers nor iwi_build_post() number so. */
#define FIRST_REQUEST (UINT64_C(1) << 63)

struct parting {
    struct iwi_otf2_events *e;
    struct iwi_otf2_raw *raws; /* parted */
    size_t count, capacity;
    uint32_t thread, depth, open_depth; /* open_depth: of the MPI function that is open; 0: none */
    size_t opened;                      /* its place among the raws */
    uint8_t flags;
    uint64_t next_request;
};

static iw_status add(struct parting *p, struct iwi_otf2_raw raw, iw_time time_ps)
{
    IW_TRY(iwi_grow(p->e->in->log, (void **)&p->raws, &p->capacity, p->count + 1, sizeof *p->raws));
    raw.time_ps = time_ps;
    raw.sequence = p->count;
    p->raws[p->count++] = raw;
    return IW_OK;
}

static iw_status enter(struct parting *p, const struct iwi_otf2_raw *raw)
{
    const struct iwi_def_region *region = iwi_defs_find(&p->e->in->regions, raw->region);

    p->depth++;
    if (p->open_depth == 0 && region != NULL && region->function.kind != IWI_FN_NONE) {
        p->open_depth = p->depth;
        p->opened = p->count;
        p->flags = region->function.flags;
    }
    return add(p, *raw, raw->time_ps);
}

/* A message of a blocking call becomes one with a request; collectives and completions stay where they are.
 */
static iw_status add_event(struct parting *p, const struct iwi_otf2_raw *raw)
{
    struct iwi_otf2_raw started = *raw;
    const uint8_t type = raw->event.type;

    if (type == IWI_EV_COLLECTIVE || type >= IWI_EV_COMPLETED) {
        return add(p, *raw, raw->time_ps);
    }
    if (type == IWI_EV_RECV ||
        (type == IWI_EV_SEND && ((raw->event.flags | p->flags) & IWI_FN_BUFFERED) == 0)) {
        started.event.type = type == IWI_EV_RECV ? IWI_EV_IRECV_POSTED : IWI_EV_ISEND;
        started.event.request = p->next_request++;
    }
    return add(p, started, p->raws[p->opened].time_ps);
}

static bool is_start(const struct iwi_otf2_raw *raw)
{
    return raw->type == IWI_RAW_EVENT && raw->event.type < IWI_EV_COMPLETED &&
           raw->event.type != IWI_EV_COLLECTIVE;
}

static iw_status leave(struct parting *p, const struct iwi_otf2_raw *raw)
{
    const bool closes = p->open_depth != 0 && p->depth == p->open_depth;
    const size_t end = p->count;
    bool has_started = false;

    p->depth -= p->depth > 0;
    for (size_t i = p->opened + 1; closes && i < end; i++) {
        struct iwi_otf2_raw done = *raw;

        if (!is_start(&p->raws[i])) {
            continue;
        }
        has_started = true;
        if (p->raws[i].event.request >= FIRST_REQUEST) {
            done.type = IWI_RAW_EVENT;
            done.event =
                (struct iwi_trace_event){.type = IWI_EV_COMPLETED, .request = p->raws[i].event.request};
            IW_TRY(add(p, done, raw->time_ps));
        }
    }
    if (has_started) {
        struct iwi_otf2_raw started = *raw;

        started.type = IWI_RAW_STARTED;
        IW_TRY(add(p, started, p->raws[p->opened].time_ps));
    }
    p->open_depth = closes ? 0 : p->open_depth;
    return add(p, *raw, raw->time_ps);
}

static iw_status part(struct parting *p, const struct iwi_otf2_raw *raw)
{
    if (raw->thread != p->thread) {
        p->thread = raw->thread;
        p->depth = p->open_depth = 0;
    }
    switch (raw->type) {
    case IWI_RAW_ENTER: return enter(p, raw);
    case IWI_RAW_LEAVE: return leave(p, raw);
    case IWI_RAW_EVENT: return p->open_depth != 0 ? add_event(p, raw) : add(p, *raw, raw->time_ps);
    default: return add(p, *raw, raw->time_ps);
    }
}

iw_status iwi_otf2_part_calls(struct iwi_otf2_events *e)
{
    struct parting p = {.e = e, .thread = UINT32_MAX, .next_request = FIRST_REQUEST};

    for (size_t i = 0; i < e->buffer_count; i++) {
        const iw_status status = part(&p, &e->buffer[i]);

        if (status != IW_OK) {
            free(p.raws);
            return status;
        }
    }
    free(e->buffer);
    e->buffer = p.raws;
    e->buffer_count = p.count;
    e->buffer_capacity = p.capacity;
    return IW_OK;
}
