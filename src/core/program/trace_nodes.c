/* The calls of each traced rank become operations in order: computation, messages, waits, collectives.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Two walks over each rank's calls: the first counts, the second fills in.
 * A nonblocking collective runs in the wait that completes it, or (iw_async) beside what follows its start;
 * then it is an operation that the wait completes, like a message. Otherwise collectives of one communicator
 * run in the order in which they were started: whoever completes one, or starts a blocking one, first runs
 * those before it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/lookup.h"
#include "core/program/trace_build.h"

#define NO_REQUEST UINT64_MAX             /* not made, left out, or completed */
#define IS_COLLECTIVE (UINT64_C(1) << 63) /* a request that is a collective: its index is in the rest */

struct pending {
    uint32_t comm;
    uint64_t collective;
};

struct walk {
    struct iwi_trace_build *build;
    struct iwi_schedule *schedule; /* NULL: counting */
    struct iwi_index tags;
    uint32_t rank;
    uint32_t call;                    /* its number in the rank */
    uint64_t first_node, nodes, deps; /* of all ranks so far */
    uint64_t unfinished_receives;
    /* of the rank: */
    uint64_t *next;     /* comm_count: collectives started */
    uint64_t *limit;    /* comm_count: scratch of a wait, 0 outside */
    uint64_t *requests; /* node within the rank, IS_COLLECTIVE | index, NO_REQUEST */
    bool *is_completed; /* by some wait */
    size_t request_capacity, completed_capacity;
    struct pending *pending; /* in the order of starting */
    size_t pending_count, pending_capacity;
};

static void put_node(struct walk *w, struct iwi_node node)
{
    if (w->schedule != NULL) {
        w->schedule->nodes[w->nodes] = node;
        w->schedule->call_of[w->nodes] = w->call;
        w->schedule->first_dep[w->nodes] = w->deps;
    }
    w->nodes++;
}

static void put_dep(struct walk *w, uint64_t node)
{
    if (w->schedule != NULL) {
        w->schedule->deps[w->deps] = (struct iwi_dep){(uint32_t)node, false};
    }
    w->deps++;
}

/* ---- computation ---- */

static iw_status put_compute(struct walk *w, iw_time wall_ps, iw_time cpu_ps)
{
    const iw_trace_opts *opts = w->build->opts;
    const iw_time traced = opts->clock != IW_COMPUTE_WALL && cpu_ps >= 0 ? cpu_ps : wall_ps;
    const double scaled = (double)traced * opts->compute_scale;

    if (traced < 0 || scaled > (double)IW_TIME_INPUT_MAX) {
        return iwi_fail(w->build->log, IW_ERR_RANGE,
                        "rank %" PRIu32 ", call %" PRIu32
                        ": the computation before it must last between 0 and 10 days",
                        w->rank, w->call);
    }
    if (traced > 0 && scaled >= 0.5) {
        /* exact where nothing is scaled: a double has not all digits of a picosecond count */
        const iw_time work = opts->compute_scale == 1 ? traced : (iw_time)llround(scaled);

        put_node(w, (struct iwi_node){.kind = IWI_CALC, .flags = IWI_NODE_PHASE, .amount = (uint64_t)work});
    }
    return IW_OK;
}

static iw_status put_opaque(struct walk *w, const struct iwi_call *call)
{
    if (call->call_ps < 0 || call->call_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(w->build->log, IW_ERR_RANGE,
                        "rank %" PRIu32 ", call %" PRIu32 " must last between 0 and 10 days", w->rank,
                        w->call);
    }
    if (call->call_ps > 0) {
        put_node(w, (struct iwi_node){.kind = IWI_CALC, .amount = (uint64_t)call->call_ps});
    }
    return IW_OK;
}

/* ---- messages ---- */

static iw_status put_message(struct walk *w, const struct iwi_call *call)
{
    const bool is_send = call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND;
    const bool is_nonblocking = call->kind == IWI_CALL_ISEND || call->kind == IWI_CALL_IRECV;
    const bool is_synchronous = is_send && (call->flags & IWI_CALL_SYNCHRONOUS) != 0;
    const struct iwi_index_key key = {(uint64_t)call->comm << 32 | (uint32_t)call->tag, 0};
    uint32_t tag = 0;

    if (w->build->opts->drops_p2p) {
        return IW_OK;
    }
    if (call->kind == IWI_CALL_IRECV && !w->is_completed[call->request]) {
        w->unfinished_receives += w->schedule != NULL;
        return IW_OK;
    }
    if (w->schedule != NULL) {
        IW_TRY(iwi_index_number(w->build->log, &w->tags, key, &tag));
    }
    if (is_nonblocking) {
        w->requests[call->request] = w->nodes - w->first_node;
    }
    put_node(w, (struct iwi_node){.kind = is_send ? IWI_SEND : IWI_RECV,
                                  .flags = (uint8_t)((is_nonblocking ? IWI_NODE_NONBLOCKING : 0) |
                                                     (is_synchronous ? IWI_NODE_SYNCHRONOUS : 0)),
                                  .peer = call->peer,
                                  .tag = tag,
                                  .amount = call->bytes});
    return IW_OK;
}

/* ---- collectives ---- */

static bool has_messages_on(const struct walk *w, uint32_t comm)
{
    return w->build->program->comms[comm].size > 1 || iwi_trace_is_wide(w->build->program, comm);
}

static void put_collective(struct walk *w, uint32_t comm, uint64_t collective)
{
    if (has_messages_on(w, comm)) {
        put_node(w, (struct iwi_node){.kind = IWI_COLLECTIVE, .amount = collective});
    }
}

static void start_aside(struct walk *w, const struct iwi_call *call, uint64_t collective)
{
    if (has_messages_on(w, call->comm)) {
        w->requests[call->request] = w->nodes - w->first_node;
        put_node(w, (struct iwi_node){
                        .kind = IWI_COLLECTIVE, .flags = IWI_NODE_NONBLOCKING, .amount = collective});
        w->build->program->has_aside = true;
    }
}

/* Runs what has been started on communicators up to their limit, in the order of starting. */
static void run_pending(struct walk *w)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->pending_count; i++) {
        if (w->pending[i].collective < w->limit[w->pending[i].comm]) {
            put_collective(w, w->pending[i].comm, w->pending[i].collective);
        } else {
            w->pending[kept++] = w->pending[i];
        }
    }
    w->pending_count = kept;
}

static iw_status start_collective(struct walk *w, const struct iwi_call *call)
{
    void *pending = w->pending;
    uint64_t collective;

    if (w->build->opts->drops_collectives) {
        return IW_OK;
    }
    collective = w->build->first_collective[call->comm] + w->next[call->comm]++;
    if (call->kind == IWI_CALL_ICOLLECTIVE && w->build->opts->async != IW_ASYNC_WAIT) {
        start_aside(w, call, collective);
        return IW_OK;
    }
    if (call->kind == IWI_CALL_COLLECTIVE) {
        w->limit[call->comm] = collective;
        run_pending(w);
        w->limit[call->comm] = 0;
        put_collective(w, call->comm, collective);
        return IW_OK;
    }
    IW_TRY(iwi_grow(w->build->log, &pending, &w->pending_capacity, w->pending_count + 1, sizeof *w->pending));
    w->pending = pending;
    w->pending[w->pending_count++] = (struct pending){call->comm, collective};
    w->requests[call->request] = IS_COLLECTIVE | collective;
    return IW_OK;
}

/* ---- waits ---- */

/* Sets (or clears) how far the collectives among the requests of a wait go. */
static void limit_collectives(struct walk *w, const uint32_t *completed, uint32_t count, bool is_set)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t request = w->requests[completed[i]];

        if (request != NO_REQUEST && (request & IS_COLLECTIVE) != 0) {
            const uint64_t collective = request & ~IS_COLLECTIVE;
            uint64_t *limit = &w->limit[w->build->program->collectives[collective].comm];

            *limit = !is_set ? 0 : collective + 1 > *limit ? collective + 1 : *limit;
        }
    }
}

static void put_wait(struct walk *w, const uint32_t *completed, uint32_t count)
{
    bool has_messages = false;

    limit_collectives(w, completed, count, true);
    run_pending(w);
    limit_collectives(w, completed, count, false);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t request = w->requests[completed[i]];

        has_messages |= request != NO_REQUEST && (request & IS_COLLECTIVE) == 0;
    }
    if (has_messages) {
        put_node(w, (struct iwi_node){.kind = IWI_WAIT});
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t request = w->requests[completed[i]];

        if (request != NO_REQUEST && (request & IS_COLLECTIVE) == 0) {
            put_dep(w, request);
        }
        w->requests[completed[i]] = NO_REQUEST;
    }
}

/* ---- ranks ---- */

static iw_status begin_rank(struct walk *w, uint32_t rank)
{
    const struct iwi_trace_rank *calls = &w->build->trace->ranks[rank];
    void *requests = w->requests, *is_completed = w->is_completed;

    IW_TRY(iwi_grow(w->build->log, &requests, &w->request_capacity, calls->request_count, sizeof(uint64_t)));
    w->requests = requests;
    IW_TRY(
        iwi_grow(w->build->log, &is_completed, &w->completed_capacity, calls->request_count, sizeof(bool)));
    w->is_completed = is_completed;
    for (uint32_t i = 0; i < calls->request_count; i++) {
        w->requests[i] = NO_REQUEST;
        w->is_completed[i] = false;
    }
    for (uint64_t i = 0; i < calls->completed_count; i++) {
        w->is_completed[calls->completed[i]] = true;
    }
    memset(w->next, 0, w->build->trace->comm_count * sizeof *w->next);
    w->pending_count = 0;
    w->rank = rank;
    w->first_node = w->nodes;
    return IW_OK;
}

static iw_status walk_call(struct walk *w, const struct iwi_call *call)
{
    IW_TRY(put_compute(w, call->compute_wall_ps, call->compute_cpu_ps));
    switch ((enum iwi_call_kind)call->kind) {
    case IWI_CALL_SEND:
    case IWI_CALL_ISEND:
    case IWI_CALL_RECV:
    case IWI_CALL_IRECV: return put_message(w, call);
    case IWI_CALL_WAIT:
        put_wait(w, w->build->trace->ranks[w->rank].completed + call->request, call->request_count);
        return IW_OK;
    case IWI_CALL_COLLECTIVE:
    case IWI_CALL_ICOLLECTIVE: return start_collective(w, call);
    case IWI_CALL_OPAQUE: return put_opaque(w, call);
    }
    return IW_OK;
}

/* What was never waited for ends with the rank: collectives run, sends are waited for. */
static void end_rank(struct walk *w)
{
    const uint32_t request_count = w->build->trace->ranks[w->rank].request_count;
    bool has_sends = false;

    for (size_t i = 0; i < w->pending_count; i++) {
        put_collective(w, w->pending[i].comm, w->pending[i].collective);
    }
    for (uint32_t i = 0; i < request_count; i++) {
        const uint64_t request = w->requests[i];

        if (request != NO_REQUEST && (request & IS_COLLECTIVE) == 0) {
            if (!has_sends) {
                put_node(w, (struct iwi_node){.kind = IWI_WAIT});
                has_sends = true;
            }
            put_dep(w, request);
        }
    }
}

static iw_status walk_rank(struct walk *w, uint32_t rank)
{
    const struct iwi_trace_rank *calls = &w->build->trace->ranks[rank];

    IW_TRY(begin_rank(w, rank));
    if (calls->call_count >= UINT32_MAX / 4) {
        return iwi_fail(w->build->log, IW_ERR_RANGE, "rank %" PRIu32 " has over 2^30 calls", rank);
    }
    for (uint64_t c = 0; c < calls->call_count; c++) {
        w->call = (uint32_t)c;
        IW_TRY(walk_call(w, &calls->calls[c]));
    }
    IW_TRY(put_compute(w, calls->last_compute_wall_ps, -1));
    end_rank(w);
    if (w->nodes - w->first_node > UINT32_MAX) {
        return iwi_fail(w->build->log, IW_ERR_RANGE, "rank %" PRIu32 " has over 2^32 operations", rank);
    }
    return IW_OK;
}

static iw_status walk_all(struct walk *w)
{
    w->nodes = w->deps = 0;
    for (uint32_t rank = 0; rank < w->build->trace->rank_count; rank++) {
        if (w->schedule != NULL) {
            w->schedule->first_node[rank] = w->nodes;
        }
        IW_TRY(walk_rank(w, rank));
    }
    return IW_OK;
}

static iw_status keep_tags(struct walk *w)
{
    struct iwi_trace_program *program = w->build->program;

    program->tags = iwi_new_array(w->build->log, w->tags.count, sizeof *program->tags);
    if (program->tags == NULL) {
        return IW_ERR_NOMEM;
    }
    program->tag_count = w->tags.count;
    for (uint32_t i = 0; i < w->tags.count; i++) {
        const uint64_t key = w->tags.keys[i].a;

        program->tags[i] = (struct iwi_trace_tag){(uint32_t)(key >> 32), (int32_t)(uint32_t)key};
    }
    return IW_OK;
}

static iw_status build_schedule(struct walk *w)
{
    struct iwi_trace_program *program = w->build->program;
    const iw_log *log = w->build->log;

    w->next = iwi_new_array(log, w->build->trace->comm_count, sizeof *w->next);
    w->limit = iwi_new_array(log, w->build->trace->comm_count, sizeof *w->limit);
    if (w->next == NULL || w->limit == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(walk_all(w));
    IW_TRY(iwi_schedule_new(log, program->base, w->nodes, w->deps, &program->schedule));
    program->schedule->is_in_order = true;
    program->schedule->call_of = iwi_new_array(log, (size_t)w->nodes, sizeof(uint32_t));
    if (program->schedule->call_of == NULL) {
        return IW_ERR_NOMEM;
    }
    w->schedule = program->schedule;
    IW_TRY(walk_all(w));
    program->schedule->first_node[program->base] = w->nodes;
    program->schedule->first_dep[w->nodes] = w->deps;
    return keep_tags(w);
}

iw_status iwi_trace_build_nodes(struct iwi_trace_build *build)
{
    struct walk w = {.build = build};
    const iw_status status = build_schedule(&w);

    if (status == IW_OK && w.unfinished_receives > 0) {
        iwi_warn(build->log, "ignoring %" PRIu64 " receives that the trace never completes",
                 w.unfinished_receives);
    }
    iwi_index_release(&w.tags);
    free(w.next);
    free(w.limit);
    free(w.requests);
    free(w.is_completed);
    free(w.pending);
    return status;
}
