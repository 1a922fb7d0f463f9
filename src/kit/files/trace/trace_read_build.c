/* The calls of one rank, made of the events inside each MPI function.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "kit/files/trace/trace_read.h"

void iwi_builder_init(struct iwi_builder *builder, const iw_log *log, struct iwi_gaps *gaps, uint32_t rank)
{
    *builder = (struct iwi_builder){.log = log, .gaps = gaps, .rank = rank};
}

void iwi_builder_release(struct iwi_builder *builder)
{
    free(builder->calls);
    free(builder->completed);
    free(builder->late);
    iwi_open_requests_release(&builder->requests);
}

void iwi_build_begin(struct iwi_builder *builder, iw_time time_ps)
{
    builder->has_begun = true;
    builder->begin_ps = time_ps;
    builder->end_ps = time_ps;
    builder->wall_ps = 0;
    builder->cpu_ps = 0;
}

/* Time outside of MPI since the function before. */
static void add_compute(struct iwi_builder *b, const struct iwi_call_span *span)
{
    iw_time wall_ps, cpu_ps;

    if (!b->has_begun) {
        iwi_build_begin(b, span->enter_ps);
    }
    b->enter_ps = iwi_max(span->enter_ps, b->end_ps);
    wall_ps = iwi_max(0, b->enter_ps - b->end_ps - span->poll_ps);
    cpu_ps = b->caps_cpu ? iwi_min(span->cpu_ps, wall_ps) : span->cpu_ps;
    b->wall_ps += wall_ps;
    b->cpu_ps = b->cpu_ps < 0 || cpu_ps < 0 ? -1 : b->cpu_ps + cpu_ps;
    b->has_cpu = b->has_cpu || span->cpu_ps >= 0;
}

void iwi_build_enter(struct iwi_builder *builder, const struct iwi_call_span *span)
{
    builder->functions++;
    add_compute(builder, span);
}

void iwi_build_local(struct iwi_builder *builder, const struct iwi_call_span *span)
{
    iw_time inside_ps;

    add_compute(builder, span);
    inside_ps = iwi_max(0, span->leave_ps - builder->enter_ps);
    builder->wall_ps += inside_ps;
    builder->cpu_ps += builder->cpu_ps < 0 ? 0 : inside_ps;
    builder->end_ps = iwi_max(builder->end_ps, span->leave_ps);
}

iw_status iwi_build_call(struct iwi_builder *builder, uint8_t kind, struct iwi_call **call_p)
{
    struct iwi_call *call;

    IW_TRY(iwi_grow(builder->log, (void **)&builder->calls, &builder->call_capacity, builder->call_count + 1,
                    sizeof *builder->calls));
    call = &builder->calls[builder->call_count++];
    *call = (struct iwi_call){.kind = kind,
                              .function = builder->function,
                              .compute_wall_ps = builder->wall_ps,
                              .compute_cpu_ps = builder->cpu_ps,
                              .enter_ps = builder->enter_ps};
    builder->wall_ps = 0;
    builder->cpu_ps = 0;
    *call_p = call;
    return IW_OK;
}

/* The time of a function belongs to its last call. */
void iwi_build_leave(struct iwi_builder *builder, iw_time leave_ps)
{
    leave_ps = iwi_max(leave_ps, builder->enter_ps);
    if (builder->call_count > 0) {
        builder->calls[builder->call_count - 1].call_ps += leave_ps - builder->enter_ps;
    }
    builder->end_ps = leave_ps;
}

/* Several in a row are one. */
iw_status iwi_build_nothing(struct iwi_builder *builder)
{
    struct iwi_call *last = builder->call_count > 0 ? &builder->calls[builder->call_count - 1] : NULL;

    if (last == NULL || last->kind != IWI_CALL_NOTHING) {
        return iwi_build_call(builder, IWI_CALL_NOTHING, &last);
    }
    last->compute_wall_ps += builder->wall_ps;
    last->compute_cpu_ps =
        last->compute_cpu_ps < 0 || builder->cpu_ps < 0 ? -1 : last->compute_cpu_ps + builder->cpu_ps;
    builder->wall_ps = 0;
    builder->cpu_ps = 0;
    return IW_OK;
}

/* ---- requests ---- */

static iw_status number_request(struct iwi_builder *b, uint32_t *number_p)
{
    if (b->request_count >= IWI_REQUEST_NONE - 1) {
        return iwi_fail(b->log, IW_ERR_RANGE, "rank %" PRIu32 " makes more than %" PRIu32 " requests",
                        b->rank, b->request_count);
    }
    *number_p = b->request_count++;
    return IW_OK;
}

iw_status iwi_build_complete_late(struct iwi_builder *b, struct iwi_request *request)
{
    const uint64_t at = request->polled > 0 ? request->polled : (b->lacks_completions ? b->last_wait : 0);

    if (request->number == IWI_REQUEST_NONE) {
        iwi_open_requests_remove(&b->requests, request);
        return IW_OK;
    }
    if (at < request->call + 2) { /* index at - 1 must be behind the call that made it */
        iwi_build_note(b, IWI_GAP_NEVER_COMPLETED, NULL);
        iwi_open_requests_remove(&b->requests, request);
        return IW_OK;
    }
    IW_TRY(iwi_grow(b->log, (void **)&b->late, &b->late_capacity, b->late_count + 1, sizeof *b->late));
    b->late[b->late_count++] = (struct iwi_late){.call = at - 1, .request = request->number};
    iwi_open_requests_remove(&b->requests, request);
    return IW_OK;
}

iw_status iwi_build_post(struct iwi_builder *b, uint64_t id, bool is_known)
{
    struct iwi_request *request = iwi_open_requests_find(&b->requests, id);

    if (request != NULL) {
        IW_TRY(iwi_build_complete_late(b, request));
    }
    request = iwi_open_requests_add(b->log, &b->requests, id);
    if (request == NULL) {
        return IW_ERR_NOMEM;
    }
    request->call = b->call_count - 1;
    if (is_known) {
        IW_TRY(number_request(b, &request->number));
        b->calls[request->call].request = request->number;
    }
    return IW_OK;
}

iw_status iwi_build_wait(struct iwi_builder *builder)
{
    struct iwi_call *call;

    if (builder->completed_count > UINT32_MAX) {
        return iwi_fail(builder->log, IW_ERR_RANGE,
                        "rank %" PRIu32 " completes more than %" PRIu32 " requests", builder->rank,
                        UINT32_MAX);
    }
    IW_TRY(iwi_build_call(builder, IWI_CALL_WAIT, &call));
    call->request = (uint32_t)builder->completed_count;
    builder->last_wait = builder->call_count;
    return IW_OK;
}

iw_status iwi_build_complete(struct iwi_builder *builder, struct iwi_request *request)
{
    const uint32_t number = request->number;

    iwi_open_requests_remove(&builder->requests, request);
    if (number == IWI_REQUEST_NONE) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(builder->log, (void **)&builder->completed, &builder->completed_capacity,
                    builder->completed_count + 1, sizeof *builder->completed));
    builder->completed[builder->completed_count++] = number;
    builder->calls[builder->call_count - 1].request_count++;
    return IW_OK;
}

/* ---- events ---- */

static void describe(struct iwi_call *call, const struct iwi_trace_event *event)
{
    call->op = event->op;
    call->comm = event->comm;
    call->peer = event->peer;
    call->tag = event->tag;
    call->bytes = event->bytes;
}

static iw_status add_message(struct iwi_builder *b, uint8_t kind, const struct iwi_trace_event *event)
{
    const bool is_send = kind == IWI_CALL_SEND || kind == IWI_CALL_ISEND;
    const bool is_posted = kind == IWI_CALL_ISEND || kind == IWI_CALL_IRECV;
    const bool is_buffered = kind == IWI_CALL_SEND && (event->flags & IWI_FN_BUFFERED) != 0;
    struct iwi_call *call;

    if (event->peer == IWI_PEER_NULL) {
        IW_TRY(iwi_build_nothing(b));
        return is_posted ? iwi_build_post(b, event->request, false) : IW_OK;
    }
    if (event->is_opaque) {
        IW_TRY(iwi_build_call(b, IWI_CALL_OPAQUE, &call));
        return is_posted ? iwi_build_post(b, event->request, false) : IW_OK;
    }
    IW_TRY(iwi_build_call(b, is_buffered ? IWI_CALL_ISEND : kind, &call));
    describe(call, event);
    call->op = 0;
    call->flags = is_send && (event->flags & IWI_FN_SYNCHRONOUS) != 0 ? IWI_CALL_SYNCHRONOUS : 0;
    if (is_buffered) {
        return number_request(b, &call->request);
    }
    return is_posted ? iwi_build_post(b, event->request, true) : IW_OK;
}

static iw_status add_collective(struct iwi_builder *b, uint8_t kind, const struct iwi_trace_event *event)
{
    struct iwi_call *call;

    IW_TRY(iwi_build_call(b, event->is_opaque ? IWI_CALL_OPAQUE : kind, &call));
    if (!event->is_opaque) {
        describe(call, event);
        call->flags = (event->flags & IWI_FN_SIZED) != 0 ? IWI_CALL_SIZED : 0;
        call->sizes = event->sizes;
    }
    return kind == IWI_CALL_ICOLLECTIVE ? iwi_build_post(b, event->request, !event->is_opaque) : IW_OK;
}

/* What is known only now, of the call that made the request. */
static void tell_maker(struct iwi_builder *b, const struct iwi_request *request,
                       const struct iwi_trace_event *event)
{
    struct iwi_call *maker = &b->calls[request->call];

    if (event->type == IWI_EV_IRECV && event->peer == IWI_PEER_NULL) {
        return; /* EZTrace without a status: the source stays unknown */
    }
    if (event->type == IWI_EV_IRECV && maker->kind == IWI_CALL_IRECV) {
        describe(maker, event);
        maker->op = 0;
    } else if (event->type == IWI_EV_ICOLLECTIVE && maker->kind == IWI_CALL_ICOLLECTIVE &&
               maker->comm == IWI_NO_COMM) {
        describe(maker, event);
        maker->kind = event->is_opaque ? IWI_CALL_OPAQUE : IWI_CALL_ICOLLECTIVE;
    }
}

static iw_status add_completion(struct iwi_builder *b, const struct iwi_trace_event *event)
{
    struct iwi_request *request = iwi_open_requests_find(&b->requests, event->request);

    if (request == NULL) {
        if (event->request < IWI_HALF_SEND) {
            iwi_build_note(b, IWI_GAP_UNKNOWN_REQUEST, NULL);
        }
        return IW_OK;
    }
    if (request->number != IWI_REQUEST_NONE) {
        tell_maker(b, request, event);
        if (event->type == IWI_EV_CANCELLED) {
            b->calls[request->call].kind = IWI_CALL_NOTHING;
        }
    }
    return iwi_build_complete(b, request);
}

iw_status iwi_build_event(struct iwi_builder *builder, const struct iwi_trace_event *event)
{
    switch (event->type) {
    case IWI_EV_SEND: return add_message(builder, IWI_CALL_SEND, event);
    case IWI_EV_RECV: return add_message(builder, IWI_CALL_RECV, event);
    case IWI_EV_ISEND: return add_message(builder, IWI_CALL_ISEND, event);
    case IWI_EV_IRECV_POSTED: return add_message(builder, IWI_CALL_IRECV, event);
    case IWI_EV_COLLECTIVE: return add_collective(builder, IWI_CALL_COLLECTIVE, event);
    case IWI_EV_ICOLLECTIVE_POSTED: return add_collective(builder, IWI_CALL_ICOLLECTIVE, event);
    default: return add_completion(builder, event);
    }
}
