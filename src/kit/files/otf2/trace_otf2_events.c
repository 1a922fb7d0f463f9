/* Events of an OTF2 archive in order: gathered between Enter and Leave of an MPI function, then given to the
 * builder.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_read.h"

#include <stdlib.h>

#include "core/base/order.h"

/* ---- one thread ---- */

static iw_status gather(struct iwi_otf2_events *e, struct iwi_otf2_thread *thread,
                        const struct iwi_trace_event *event)
{
    IW_TRY(iwi_grow(e->in->log, (void **)&thread->events, &thread->capacity, thread->count + 1,
                    sizeof *thread->events));
    thread->events[thread->count] = *event;
    if (thread->region->function.op == IWI_TRACE_NEIGHBOR) { /* its records are those of plain collectives */
        thread->events[thread->count].op = IWI_TRACE_NEIGHBOR;
    }
    thread->count++;
    return IW_OK;
}

static iw_status start_function(struct iwi_otf2_events *e, struct iwi_otf2_thread *thread)
{
    const struct iwi_call_span span = {thread->span.enter_ps, thread->span.enter_ps, thread->span.cpu_ps,
                                       thread->span.poll_ps, 0};
    const size_t count = thread->count;

    thread->count = 0;
    thread->has_started = true;
    thread->given = iwi_bytes_given(thread->events, count);
    return iwi_build_part(e->builder, thread->region->function, thread->region->text, &span, thread->events,
                          count);
}

/* The computing before it was told when it started. It is one call. */
static iw_status close_started(struct iwi_otf2_events *e, struct iwi_otf2_thread *thread)
{
    const struct iwi_function wait = {IWI_FN_WAITALL, 0, 0};
    const struct iwi_call_span span = {thread->span.enter_ps, thread->span.leave_ps, 0, 0, 0};

    thread->has_started = false;
    iwi_use_function(e->builder->uses, thread->region->text,
                     iwi_max(0, thread->span.leave_ps - thread->span.enter_ps), thread->given);
    if (thread->count == 0) {
        return IW_OK;
    }
    e->builder->functions--; /* the same function still */
    return iwi_build_part(e->builder, wait, thread->region->text, &span, thread->events, thread->count);
}

static iw_status close_function(struct iwi_otf2_events *e, struct iwi_otf2_thread *thread,
                                const struct iwi_otf2_raw *raw)
{
    const struct iwi_def_region *region = thread->region;

    thread->open_depth = 0;
    thread->span.leave_ps = raw->time_ps;
    thread->span.unknown = raw->unknown;
    if (thread->has_started) {
        return close_started(e, thread);
    }
    switch (region->function.kind) {
    case IWI_FN_INIT:
        if (e->builder->call_count == 0) {
            iwi_build_begin(e->builder, raw->time_ps);
        }
        return IW_OK;
    case IWI_FN_LOCAL:
        iwi_use_function(e->builder->uses, region->text,
                         iwi_max(0, thread->span.leave_ps - thread->span.enter_ps), 0);
        iwi_build_local(e->builder, &thread->span);
        return IW_OK;
    case IWI_FN_FINALIZE:
        e->end_ps = thread->span.enter_ps;
        e->has_ended = true;
        return IW_OK;
    default:
        return iwi_build(e->builder, region->function, region->text, &thread->span, thread->events,
                         thread->count);
    }
}

static void enter(struct iwi_otf2_events *e, struct iwi_otf2_thread *thread, const struct iwi_otf2_raw *raw)
{
    const struct iwi_def_region *region = iwi_defs_find(&e->in->regions, raw->region);

    thread->depth++;
    if (thread->open_depth == 0 && region != NULL && region->function.kind != IWI_FN_NONE) {
        thread->open_depth = thread->depth;
        thread->region = region;
        thread->count = 0;
        thread->span =
            (struct iwi_call_span){.enter_ps = raw->time_ps, .cpu_ps = raw->cpu_ps, .poll_ps = raw->poll_ps};
    }
}

/* Time while recording was off is nobody's. */
static void switch_recording(struct iwi_otf2_events *e, const struct iwi_otf2_raw *raw)
{
    if (raw->type == IWI_RAW_OFF) {
        e->builder->wall_ps += iwi_max(0, raw->time_ps - e->builder->end_ps);
        iwi_build_note(e->builder, IWI_GAP_OFF, NULL);
    }
    e->builder->end_ps = iwi_max(e->builder->end_ps, raw->time_ps);
}

static iw_status handle(struct iwi_otf2_events *e, const struct iwi_otf2_raw *raw)
{
    struct iwi_otf2_thread *thread = &e->threads[raw->thread];
    const struct iwi_call_span instant = {raw->time_ps, raw->time_ps, -1, 0, 0};
    const struct iwi_function no_function = {IWI_FN_NONE, 0, 0};

    if (!e->builder->has_begun) {
        iwi_build_begin(e->builder, raw->time_ps);
    }
    if (e->has_ended) {
        return IW_OK;
    }
    switch (raw->type) {
    case IWI_RAW_ENTER: enter(e, thread, raw); return IW_OK;
    case IWI_RAW_LEAVE: {
        const bool closes = thread->open_depth != 0 && thread->depth == thread->open_depth;

        thread->depth -= thread->depth > 0;
        return closes ? close_function(e, thread, raw) : IW_OK;
    }
    case IWI_RAW_STARTED: return start_function(e, thread);
    case IWI_RAW_ON:
    case IWI_RAW_OFF: switch_recording(e, raw); return IW_OK;
    default:
        return thread->open_depth != 0 ? gather(e, thread, &raw->event)
                                       : iwi_build(e->builder, no_function, NULL, &instant, &raw->event, 1);
    }
}

iw_status iwi_otf2_handle(struct iwi_otf2_events *e, const struct iwi_otf2_raw *raw)
{
    if (!e->is_buffered) {
        return handle(e, raw);
    }
    IW_TRY(iwi_grow(e->in->log, (void **)&e->buffer, &e->buffer_capacity, e->buffer_count + 1,
                    sizeof *e->buffer));
    e->buffer[e->buffer_count] = *raw;
    e->buffer[e->buffer_count].sequence = e->buffer_count;
    e->buffer_count++;
    return IW_OK;
}

/* ---- several threads of a rank, in one order in which each can go on ---- */

/* A message may be received before the call that sends it returns, and other threads go on meanwhile. So what
 * calls start counts from their Enter, and what they wait for from their Leave: whatever a Leave needs was
 * started before, on all ranks. Collectives are not parted: which one of a communicator's is meant tells only
 * their order.
 */

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

static iw_status enter_turn(struct parting *p, const struct iwi_otf2_raw *raw)
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
    case IWI_RAW_ENTER: return enter_turn(p, raw);
    case IWI_RAW_LEAVE: return leave(p, raw);
    case IWI_RAW_EVENT: return p->open_depth != 0 ? add_event(p, raw) : add(p, *raw, raw->time_ps);
    default: return add(p, *raw, raw->time_ps);
    }
}

/* Parts calls of several threads, whose records are in the buffer one thread after the other, into what they
 * start and what they wait for. */
static iw_status otf2_part_calls(struct iwi_otf2_events *e)
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

/* ---- all threads of a rank ---- */

IWI_COMPARE(by_time, struct iwi_otf2_raw, IWI_RISING(time_ps), IWI_RISING(sequence))

/* Marks and counts the threads that call MPI; those that only compute do not count. */
static uint32_t count_callers(struct iwi_otf2_events *e)
{
    uint32_t callers = 0;

    for (size_t i = 0; i < e->buffer_count; i++) {
        const struct iwi_otf2_raw *raw = &e->buffer[i];
        const struct iwi_def_region *region =
            raw->type == IWI_RAW_ENTER ? iwi_defs_find(&e->in->regions, raw->region) : NULL;

        if (raw->type == IWI_RAW_EVENT || (region != NULL && region->function.kind > IWI_FN_FINALIZE)) {
            callers += !e->threads[raw->thread].calls;
            e->threads[raw->thread].calls = true;
        }
    }
    return callers;
}

iw_status iwi_otf2_replay(struct iwi_otf2_events *e)
{
    const uint32_t callers = count_callers(e);

    e->builder->caps_cpu = callers > 1;
    if (callers > 1) {
        iwi_gap_note(e->builder->gaps, IWI_GAP_THREADS, e->builder->rank, callers, NULL);
    }
    if (e->builder->caps_cpu && !e->builder->lacks_completions) {
        IW_TRY(otf2_part_calls(e));
    }
    iwi_sort(e->buffer, e->buffer_count, by_time);
    e->is_buffered = false;
    for (size_t i = 0; i < e->buffer_count; i++) {
        IW_TRY(handle(e, &e->buffer[i]));
    }
    return IW_OK;
}
