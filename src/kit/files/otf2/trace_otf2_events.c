/* Events of an OTF2 archive: gathered between Enter and Leave of an MPI function, then given to the builder.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_events.h"

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

static iw_status replay(struct iwi_otf2_events *e)
{
    const uint32_t callers = count_callers(e);

    e->builder->caps_cpu = callers > 1;
    if (callers > 1) {
        iwi_gap_note(e->builder->gaps, IWI_GAP_THREADS, e->builder->rank, callers, NULL);
    }
    if (e->builder->caps_cpu && !e->builder->lacks_completions) {
        IW_TRY(iwi_otf2_part_calls(e));
    }
    iwi_sort(e->buffer, e->buffer_count, by_time);
    e->is_buffered = false;
    for (size_t i = 0; i < e->buffer_count; i++) {
        IW_TRY(handle(e, &e->buffer[i]));
    }
    return IW_OK;
}

static iw_status read_locations(struct iwi_otf2_events *e)
{
    const struct iwi_def_location *locations = e->in->locations.items;

    for (size_t i = 0; i < e->in->locations.count; i++) {
        if (locations[i].rank == e->builder->rank) {
            IW_TRY(iwi_otf2_read_location(e, &locations[i]));
            e->thread++;
        }
    }
    return e->is_buffered ? replay(e) : IW_OK;
}

iw_status iwi_otf2_rank(struct iwi_otf2 *in, uint32_t rank, struct iwi_builder *builder, iw_time *end_ps_p)
{
    struct iwi_otf2_events e = {.in = in, .builder = builder, .seen_comm = IWI_NO_COMM};
    const struct iwi_def_location *locations = in->locations.items;
    iw_status status;

    for (size_t i = 0; i < in->locations.count; i++) {
        e.thread_count += locations[i].rank == rank;
    }
    e.is_buffered = e.thread_count > 1;
    e.threads = iwi_new_array(in->log, e.thread_count, sizeof *e.threads);
    if (e.threads == NULL) {
        return IW_ERR_NOMEM;
    }
    status = read_locations(&e);
    for (uint32_t i = 0; i < e.thread_count; i++) {
        free(e.threads[i].events);
    }
    free(e.threads);
    free(e.buffer);
    *end_ps_p = e.has_ended ? e.end_ps : builder->end_ps;
    return status;
}
