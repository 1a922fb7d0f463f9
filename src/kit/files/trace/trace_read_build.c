/* The calls of one rank, made of the events inside each MPI function.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "kit/files/trace/trace_read.h"

/* ---- open requests: found by their identifier, kept in the order in which they were made ---- */

enum { NONE = UINT32_MAX, FIRST_BUCKETS = 64 };

static uint32_t bucket_of(const struct iwi_open_requests *requests, uint64_t id)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (requests->bucket_count - 1);
}

struct iwi_request *iwi_open_requests_find(const struct iwi_open_requests *requests, uint64_t id)
{
    uint32_t at;

    if (requests->open == 0) {
        return NULL;
    }
    at = requests->buckets[bucket_of(requests, id)];
    while (at != NONE && requests->nodes[at].id != id) {
        at = requests->nodes[at].chain;
    }
    return at != NONE ? &requests->nodes[at] : NULL;
}

static void link_bucket(struct iwi_open_requests *requests, uint32_t at)
{
    uint32_t *bucket = &requests->buckets[bucket_of(requests, requests->nodes[at].id)];

    requests->nodes[at].chain = *bucket;
    *bucket = at;
}

static iw_status rehash(const iw_log *log, struct iwi_open_requests *requests)
{
    const uint32_t bucket_count = requests->bucket_count == 0 ? FIRST_BUCKETS : requests->bucket_count * 2;
    uint32_t *buckets = iwi_new_array(log, bucket_count, sizeof *buckets);

    if (buckets == NULL) {
        return IW_ERR_NOMEM;
    }
    free(requests->buckets);
    requests->buckets = buckets;
    requests->bucket_count = bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++) {
        buckets[i] = NONE;
    }
    if (requests->open > 0) {
        for (uint32_t at = requests->oldest; at != NONE; at = requests->nodes[at].newer) {
            link_bucket(requests, at);
        }
    }
    return IW_OK;
}

/* A node that is not in use. */
static iw_status take_node(const iw_log *log, struct iwi_open_requests *requests, uint32_t *at_p)
{
    if (requests->count > requests->open) {
        *at_p = requests->unused;
        requests->unused = requests->nodes[requests->unused].chain;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&requests->nodes, &requests->capacity, (size_t)requests->count + 1,
                    sizeof *requests->nodes));
    *at_p = requests->count++;
    return IW_OK;
}

struct iwi_request *iwi_open_requests_add(const iw_log *log, struct iwi_open_requests *requests, uint64_t id)
{
    struct iwi_request *request;
    uint32_t at;

    if ((requests->open >= requests->bucket_count && rehash(log, requests) != IW_OK) ||
        take_node(log, requests, &at) != IW_OK) {
        return NULL;
    }
    request = &requests->nodes[at];
    *request = (struct iwi_request){.id = id,
                                    .number = IWI_REQUEST_NONE,
                                    .older = requests->open > 0 ? requests->newest : NONE,
                                    .newer = NONE};
    if (requests->open > 0) {
        requests->nodes[requests->newest].newer = at;
    } else {
        requests->oldest = at;
    }
    requests->newest = at;
    requests->open++;
    link_bucket(requests, at);
    return request;
}

void iwi_open_requests_remove(struct iwi_open_requests *requests, struct iwi_request *request)
{
    const uint32_t at = (uint32_t)(request - requests->nodes);
    uint32_t *link = &requests->buckets[bucket_of(requests, request->id)];

    while (*link != at) {
        link = &requests->nodes[*link].chain;
    }
    *link = request->chain;
    if (request->older != NONE) {
        requests->nodes[request->older].newer = request->newer;
    } else {
        requests->oldest = request->newer;
    }
    if (request->newer != NONE) {
        requests->nodes[request->newer].older = request->older;
    } else {
        requests->newest = request->older;
    }
    request->chain = requests->unused;
    requests->unused = at;
    requests->open--;
}

struct iwi_request *iwi_open_requests_oldest(const struct iwi_open_requests *requests)
{
    return requests->open > 0 ? &requests->nodes[requests->oldest] : NULL;
}

void iwi_open_requests_release(struct iwi_open_requests *requests)
{
    free(requests->nodes);
    free(requests->buckets);
    *requests = (struct iwi_open_requests){0};
}

/* ---- one MPI function: its events in their order, or what its name alone tells ---- */

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

static iw_status build_call(struct iwi_builder *builder, uint8_t kind, struct iwi_call **call_p);

static iw_status add_opaque(struct iwi_builder *b, enum iwi_trace_gap gap, const char *name)
{
    struct iwi_call *call;

    iwi_build_note(b, gap, name);
    return build_call(b, IWI_CALL_OPAQUE, &call);
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
    IW_TRY(build_call(b, IWI_CALL_OPAQUE, &call));
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

/* ---- the end of a rank ---- */

IWI_COMPARE(compare_late, struct iwi_late, IWI_RISING(call), IWI_RISING(request))

/* Puts late completions behind those that their waits have already. */
static iw_status merge_late(struct iwi_builder *b)
{
    const size_t total = b->completed_count + b->late_count;
    uint32_t *merged = iwi_new_array(b->log, total, sizeof *merged);
    size_t used = 0, late = 0;

    if (merged == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sort(b->late, b->late_count, compare_late);
    for (size_t i = 0; i < b->call_count; i++) {
        struct iwi_call *call = &b->calls[i];
        const size_t first = used;

        if (call->kind == IWI_CALL_WAIT && call->request_count > 0) {
            memcpy(&merged[used], &b->completed[call->request], call->request_count * sizeof *merged);
            used += call->request_count;
        }
        while (late < b->late_count && b->late[late].call == i) {
            merged[used++] = b->late[late++].request;
        }
        if (used > first) {
            call->kind = IWI_CALL_WAIT;
        }
        if (call->kind == IWI_CALL_WAIT) {
            call->request = (uint32_t)first;
            call->request_count = (uint32_t)(used - first);
        }
    }
    free(b->completed);
    b->completed = merged;
    b->completed_count = used;
    return IW_OK;
}

/* Collectives that no completion explained. */
static void give_up_unknown(struct iwi_builder *b)
{
    for (size_t i = 0; i < b->call_count; i++) {
        struct iwi_call *call = &b->calls[i];

        if (call->kind == IWI_CALL_ICOLLECTIVE && call->comm == IWI_NO_COMM) {
            call->kind = IWI_CALL_OPAQUE;
            iwi_gap_note(b->gaps, IWI_GAP_COLLECTIVE, b->rank, i + 1, NULL);
        }
    }
}

/* Arrays grow by doubling; a trace may stay in memory for long. */
static void shrink(void **array, size_t count, size_t element_size)
{
    void *smaller = count > 0 ? realloc(*array, count * element_size) : NULL;

    if (smaller != NULL) {
        *array = smaller;
    }
}

static iw_status build_complete_late(struct iwi_builder *b, struct iwi_request *request);

iw_status iwi_build_end(struct iwi_builder *builder, iw_time end_ps, struct iwi_trace_rank *rank)
{
    struct iwi_request *request;

    while ((request = iwi_open_requests_oldest(&builder->requests)) != NULL) {
        IW_TRY(build_complete_late(builder, request));
    }
    if (builder->late_count > 0) {
        IW_TRY(merge_late(builder));
    }
    give_up_unknown(builder);
    shrink((void **)&builder->calls, builder->call_count, sizeof *builder->calls);
    shrink((void **)&builder->completed, builder->completed_count, sizeof *builder->completed);
    end_ps = iwi_max(end_ps, builder->end_ps);
    *rank = (struct iwi_trace_rank){
        .calls = builder->calls,
        .call_count = builder->call_count,
        .completed = builder->completed,
        .completed_count = builder->completed_count,
        .request_count = builder->request_count,
        .last_compute_wall_ps = builder->has_begun ? builder->wall_ps + end_ps - builder->end_ps : 0,
        .wall_ps = builder->has_begun ? end_ps - builder->begin_ps : 0,
    };
    builder->calls = NULL;
    builder->completed = NULL;
    return IW_OK;
}

/* ---- calls ---- */

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

static iw_status build_call(struct iwi_builder *builder, uint8_t kind, struct iwi_call **call_p)
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
        return build_call(builder, IWI_CALL_NOTHING, &last);
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

/* Closes a request whose completion the trace does not show: at the last call that may have completed it. */
static iw_status build_complete_late(struct iwi_builder *b, struct iwi_request *request)
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
        IW_TRY(build_complete_late(b, request));
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
    IW_TRY(build_call(builder, IWI_CALL_WAIT, &call));
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
        IW_TRY(build_call(b, IWI_CALL_OPAQUE, &call));
        return is_posted ? iwi_build_post(b, event->request, false) : IW_OK;
    }
    IW_TRY(build_call(b, is_buffered ? IWI_CALL_ISEND : kind, &call));
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

    IW_TRY(build_call(b, event->is_opaque ? IWI_CALL_OPAQUE : kind, &call));
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
