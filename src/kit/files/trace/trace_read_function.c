/* One MPI function: its events in their order, or what its name alone tells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_read.h"

static bool has_event(const struct iwi_trace_event *events, size_t count, uint8_t type)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].type == type) {
            return true;
        }
    }
    return false;
}

/* The receive first, as MPI libraries do. */
static iw_status add_sendrecv(struct iwi_builder *b, struct iwi_trace_event *recv,
                              struct iwi_trace_event *send)
{
    const struct iwi_trace_event done[] = {{.type = IWI_EV_COMPLETED, .request = IWI_HALF_RECV},
                                           {.type = IWI_EV_COMPLETED, .request = IWI_HALF_SEND}};

    recv->type = IWI_EV_IRECV_POSTED;
    recv->request = IWI_HALF_RECV;
    send->type = IWI_EV_ISEND;
    send->request = IWI_HALF_SEND;
    IW_TRY(iwi_build_event(b, recv));
    IW_TRY(iwi_build_event(b, send));
    IW_TRY(iwi_build_wait(b));
    IW_TRY(iwi_build_event(b, &done[0]));
    return iwi_build_event(b, &done[1]);
}

/* EZTrace names any request of the array, and a source of its own making: only what fits is believed. */
static bool is_believed(const struct iwi_builder *b, const struct iwi_trace_event *event)
{
    const struct iwi_request *request;

    if (!b->lacks_completions || event->type != IWI_EV_IRECV) {
        return true;
    }
    request = iwi_open_requests_find(&b->requests, event->request);
    return request != NULL && b->calls[request->call].kind == IWI_CALL_IRECV;
}

static iw_status add_completions(struct iwi_builder *b, struct iwi_function function,
                                 const struct iwi_trace_event *events, size_t count, bool *is_explained)
{
    bool has_wait = false;

    for (size_t i = 0; i < count; i++) {
        if (events[i].type < IWI_EV_COMPLETED || !is_believed(b, &events[i])) {
            continue;
        }
        *is_explained = true;
        if (function.kind == IWI_FN_REQUEST_FREE && events[i].type == IWI_EV_CANCELLED) {
            struct iwi_request *request = iwi_open_requests_find(&b->requests, events[i].request);

            if (request != NULL) { /* the message travels on, nobody waits for it */
                iwi_open_requests_remove(&b->requests, request);
            }
            continue;
        }
        if (!has_wait) {
            IW_TRY(iwi_build_wait(b));
            has_wait = true;
        }
        IW_TRY(iwi_build_event(b, &events[i]));
    }
    return IW_OK;
}

/* *is_explained: the events tell what the function did. */
static iw_status add_events(struct iwi_builder *b, struct iwi_function function,
                            const struct iwi_trace_event *events, size_t count, bool *is_explained)
{
    const bool is_pair = has_event(events, count, IWI_EV_SEND) && has_event(events, count, IWI_EV_RECV);
    struct iwi_trace_event recv = {0}, send = {0};

    for (size_t i = 0; i < count; i++) {
        struct iwi_trace_event event = events[i];

        event.flags |= function.flags;
        *is_explained = *is_explained || event.type < IWI_EV_COMPLETED;
        if (is_pair && event.type == IWI_EV_RECV) {
            recv = event;
        } else if (is_pair && event.type == IWI_EV_SEND) {
            send = event;
        } else if (event.type < IWI_EV_COMPLETED) {
            IW_TRY(iwi_build_event(b, &event));
        }
    }
    if (is_pair) {
        IW_TRY(add_sendrecv(b, &recv, &send));
    }
    return add_completions(b, function, events, count, is_explained);
}

/* A wait of a trace that does not tell what was completed. */
static iw_status guess_completions(struct iwi_builder *b, struct iwi_function function, const char *name)
{
    struct iwi_request *request = iwi_open_requests_oldest(&b->requests);

    if (request == NULL || function.kind == IWI_FN_TEST) {
        IW_TRY(iwi_build_nothing(b));
        b->last_wait = b->call_count;
        return IW_OK;
    }
    iwi_build_note(b, IWI_GAP_COMPLETION, name);
    IW_TRY(iwi_build_wait(b));
    do {
        IW_TRY(iwi_build_complete(b, request));
        request = iwi_open_requests_oldest(&b->requests);
    } while (function.kind == IWI_FN_WAITALL && request != NULL);
    return IW_OK;
}

static iw_status add_opaque(struct iwi_builder *b, enum iwi_trace_gap gap, const char *name)
{
    struct iwi_call *call;

    iwi_build_note(b, gap, name);
    return iwi_build_call(b, IWI_CALL_OPAQUE, &call);
}

/* Where a trace does not tell a wait for a file from one for MPI_PROC_NULL, the latter is no longer than
 * this. */
#define NOTHING_PS (10 * IW_PS_PER_US)

/* Completes no message. If it waited for something else, polls before it did so too. */
static iw_status add_wait(struct iwi_builder *b, struct iwi_function function, const char *name,
                          const struct iwi_call_span *span)
{
    const bool may_be_unknown = b->lacks_unknown && function.kind != IWI_FN_TEST;
    struct iwi_call *call;

    if (b->lacks_completions) {
        return guess_completions(b, function, name);
    }
    if (span->unknown == 0 && (!may_be_unknown || span->leave_ps - span->enter_ps <= NOTHING_PS)) {
        return iwi_build_nothing(b);
    }
    iwi_build_note(b, IWI_GAP_WAITS, name);
    IW_TRY(iwi_build_call(b, IWI_CALL_OPAQUE, &call));
    call->call_ps = span->unknown > 0 ? span->poll_ps : 0;
    return IW_OK;
}

static iw_status add_without_events(struct iwi_builder *b, struct iwi_function function, const char *name,
                                    const struct iwi_call_span *span)
{
    switch (function.kind) {
    case IWI_FN_WAIT:
    case IWI_FN_WAITANY:
    case IWI_FN_WAITSOME:
    case IWI_FN_WAITALL:
    case IWI_FN_TEST: return add_wait(b, function, name, span);
    case IWI_FN_P2P:
    case IWI_FN_SENDRECV: return b->lacks_null ? iwi_build_nothing(b) : add_opaque(b, IWI_GAP_NO_EVENT, name);
    case IWI_FN_COLLECTIVE: return add_opaque(b, IWI_GAP_COLLECTIVE, name);
    case IWI_FN_ICOLLECTIVE:
        IW_TRY(add_opaque(b, IWI_GAP_COLLECTIVE, name));
        /* keeps its place among the requests, so that the wait for it takes no other one */
        return b->lacks_completions ? iwi_build_post(b, IWI_HALF_SEND - b->call_count, false) : IW_OK;
    case IWI_FN_OPAQUE: return add_opaque(b, IWI_GAP_OPAQUE, name);
    default: return iwi_build_nothing(b);
    }
}

uint64_t iwi_bytes_of_collective(uint8_t op, uint64_t bytes, uint32_t size)
{
    return op == IWI_TRACE_ALLTOALL || op == IWI_TRACE_REDUCE_SCATTER ? bytes * size : bytes;
}

uint64_t iwi_bytes_given(const struct iwi_trace_event *events, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const uint8_t type = events[i].type;

        if (type == IWI_EV_SEND || type == IWI_EV_ISEND) {
            bytes += events[i].bytes;
        } else if (type == IWI_EV_COLLECTIVE || type == IWI_EV_ICOLLECTIVE_POSTED) {
            bytes += events[i].sent;
        }
    }
    return bytes;
}

/* What collectives lack, and waits that are not for messages alone. */
static void note_lacks(struct iwi_builder *b, const char *name, const struct iwi_call_span *span,
                       const struct iwi_trace_event *events, size_t count)
{
    bool completes = false;

    for (size_t i = 0; i < count; i++) {
        const struct iwi_trace_event *event = &events[i];
        const bool is_collective = event->type == IWI_EV_COLLECTIVE || event->type == IWI_EV_ICOLLECTIVE ||
                                   event->type == IWI_EV_ICOLLECTIVE_POSTED;

        completes |= event->type >= IWI_EV_COMPLETED;
        if (!is_collective || event->is_opaque || event->comm == IWI_NO_COMM) {
            continue;
        }
        if (event->op == IWI_TRACE_NEIGHBOR && event->sizes == 0 && event->type != IWI_EV_ICOLLECTIVE) {
            iwi_build_note(b, IWI_GAP_NEIGHBOR, name);
        } else if (event->op != IWI_TRACE_NEIGHBOR && (event->flags & IWI_FN_MEANS) != 0) {
            iwi_build_note(b, IWI_GAP_MEANS, name);
        }
    }
    if (completes && span->unknown > 0) {
        iwi_build_note(b, IWI_GAP_MIXED_WAIT, name);
    }
}

iw_status iwi_build(struct iwi_builder *builder, struct iwi_function function, const char *name,
                    const struct iwi_call_span *span, const struct iwi_trace_event *events, size_t count)
{
    iwi_use_function(builder->uses, name, iwi_max(0, span->leave_ps - span->enter_ps),
                     iwi_bytes_given(events, count));
    return iwi_build_part(builder, function, name, span, events, count);
}

iw_status iwi_build_part(struct iwi_builder *builder, struct iwi_function function, const char *name,
                         const struct iwi_call_span *span, const struct iwi_trace_event *events, size_t count)
{
    const uint64_t before = builder->call_count;
    bool is_explained = false;

    builder->function = iwi_use_number(builder->uses, name);
    iwi_build_enter(builder, span);
    note_lacks(builder, name, span, events, count);
    IW_TRY(add_events(builder, function, events, count, &is_explained));
    if (!is_explained) {
        IW_TRY(add_without_events(builder, function, name, span));
    } else if (builder->call_count == before) {
        IW_TRY(iwi_build_nothing(builder));
    }
    iwi_build_leave(builder, span->leave_ps);
    return IW_OK;
}
