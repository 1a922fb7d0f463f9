/* Visits of traced MPI programs: collectives, messages, what ranks compute between calls, and steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits_reader.h"

#include <idlewave/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/program/message_pairs.h"
#include "kit/files/trace/trace_open.h"

/* ---- steps ---- */

struct taking {
    struct iwi_visits *visits;
    size_t *count; /* of each rank */
    iw_status status;
};

static void take_step(void *arg, uint32_t rank, const iw_step *step)
{
    struct taking *taking = arg;
    const struct iwi_visit_step taken = {.rank = rank,
                                         .number = (uint32_t)taking->count[rank]++,
                                         .begin_ps = step->begin_ps,
                                         .end_ps = iw_step_end(step)};

    if (taking->status == IW_OK) {
        taking->status = iwi_visits_add_step(taking->visits, &taken);
    }
}

static bool is_even(const size_t *count, uint32_t ranks)
{
    for (uint32_t r = 1; r < ranks; r++) {
        if (count[r] != count[0]) {
            return false;
        }
    }
    return true;
}

/* Of the steps of a rank, in order: the one that an instant lies in. */
static uint32_t step_at(const struct iwi_visit_step *steps, size_t count, iw_time at_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, count, steps[at].begin_ps <= at_ps);
    return steps[at - 1].number;
}

/* The steps of each rank lie one behind another, `count` of them. */
static void place(struct iwi_visits *visits, size_t count, const size_t *first)
{
    for (size_t i = 0; i < visits->visit_count; i++) {
        struct iwi_visit *visit = &visits->visits[i];

        visit->step = step_at(&visits->steps[first[visit->rank]], count, visit->enter_ps);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        struct iwi_stretch *stretch = &visits->stretches[i];

        stretch->step = step_at(&visits->steps[first[stretch->rank]], count, stretch->begin_ps);
    }
}

static iw_status take_steps(const iw_log *log, const struct iw_trace *trace, struct taking *taking)
{
    const iw_step_sink sink = {take_step, taking};
    iw_time gap_ps;

    IW_TRY(iwi_trace_step_gap(log, trace, &gap_ps));
    iwi_trace_steps(trace, gap_ps, &sink);
    return taking->status;
}

/* Steps as timelines find them (format/trace/trace_steps.h), and the step of each visit and stretch. Where
 * ranks have different numbers of steps there are none: the borders were not found. */
static iw_status visits_steps_of_trace(const iw_log *log, const struct iw_trace *trace,
                                       struct iwi_visits *visits)
{
    struct taking taking = {.visits = visits};
    iw_status status;

    taking.count = iwi_new_array(log, trace->rank_count, sizeof *taking.count);
    if (taking.count == NULL) {
        return IW_ERR_NOMEM;
    }
    status = take_steps(log, trace, &taking);
    if (status == IW_OK && !is_even(taking.count, trace->rank_count)) {
        visits->step_count = 0;
    }
    if (status == IW_OK && visits->step_count > 0) {
        const size_t count = taking.count[0];

        for (uint32_t r = 0; r < trace->rank_count; r++) { /* told rank by rank */
            taking.count[r] = r * count;
        }
        place(visits, count, taking.count);
    }
    free(taking.count);
    return status;
}

/* ---- visits ---- */

/* A request that is open: what became of it is known when it is waited for. */
struct request {
    uint64_t call, sequence;
    bool is_open;
};

struct filler {
    const iw_log *log;
    const struct iw_trace *trace;
    struct iwi_visits *visits;
    iw_time zero_ps;
    uint64_t *first, *partner; /* numbers of calls, of the other half of messages */
    uint32_t *group_of;        /* of each communicator */
    uint64_t *used;            /* of the rank: collectives on each communicator so far */
    struct request *requests;  /* of the rank */
    uint32_t rank;
};

static const uint8_t op_of[IWI_TRACE_OPS] = {
    [IWI_TRACE_BARRIER] = IWI_VISIT_BARRIER,
    [IWI_TRACE_BCAST] = IWI_VISIT_BROADCAST,
    [IWI_TRACE_REDUCE] = IWI_VISIT_REDUCE,
    [IWI_TRACE_ALLREDUCE] = IWI_VISIT_ALLREDUCE,
    [IWI_TRACE_GATHER] = IWI_VISIT_GATHER,
    [IWI_TRACE_SCATTER] = IWI_VISIT_SCATTER,
    [IWI_TRACE_ALLGATHER] = IWI_VISIT_ALLGATHER,
    [IWI_TRACE_ALLTOALL] = IWI_VISIT_ALLTOALL,
    [IWI_TRACE_REDUCE_SCATTER] = IWI_VISIT_REDUCE_SCATTER,
    [IWI_TRACE_SCAN] = IWI_VISIT_OTHER,
    [IWI_TRACE_EXSCAN] = IWI_VISIT_OTHER,
    [IWI_TRACE_COMM_CREATE] = IWI_VISIT_OTHER,
    [IWI_TRACE_NEIGHBOR] = IWI_VISIT_OTHER,
};

/* ---- ranks and communicators ---- */

static iw_status add_ranks(struct filler *f)
{
    for (uint32_t r = 0; r < f->trace->rank_count; r++) {
        uint32_t index;

        IW_TRY(iwi_visits_rank(f->visits, r, f->trace->ranks[r].node, &index)); /* the index is r */
    }
    return IW_OK;
}

static iw_status add_groups(struct filler *f)
{
    uint32_t *world = iwi_new_array(f->log, f->trace->rank_count, sizeof *world);
    iw_status status = world != NULL ? IW_OK : IW_ERR_NOMEM;

    for (uint32_t r = 0; status == IW_OK && r < f->trace->rank_count; r++) {
        world[r] = r;
    }
    for (uint32_t c = 0; status == IW_OK && c < f->trace->comm_count; c++) {
        const struct iwi_comm *comm = &f->trace->comms[c];
        char name[IWI_COMM_NAME_SIZE];

        iwi_comm_label(f->trace, c, name);
        status = iwi_visits_group(f->visits, name, comm->members != NULL ? comm->members : world, comm->size,
                                  comm->size, &f->group_of[c]);
    }
    free(world);
    return status;
}

/* ---- visits ---- */

static uint32_t root_of(const struct iw_trace *trace, const struct iwi_call *call)
{
    const struct iwi_comm *comm = &trace->comms[call->comm];

    return comm->members != NULL ? comm->members[call->peer] : call->peer;
}

static iw_time leave_of(const struct iwi_call *call)
{
    return call->enter_ps + call->call_ps;
}

/* `end`: the call in which it was completed, at first the same. */
static iw_status add_visit(const struct filler *f, const struct iwi_call *call, const struct iwi_call *end,
                           iw_time end_enter_ps, struct iwi_visit visit)
{
    visit.rank = f->rank;
    visit.group = f->group_of[call->comm];
    visit.step = IWI_VISIT_NO_STEP;
    visit.bytes = call->bytes;
    visit.enter_ps = iwi_min(call->enter_ps, end_enter_ps) - f->zero_ps;
    visit.leave_ps = leave_of(end) - f->zero_ps;
    visit.ahead_ps = iwi_max(0, end_enter_ps - call->enter_ps);
    return iwi_visits_add(f->visits, &visit);
}

static iw_status visit_collective(const struct filler *f, const struct iwi_call *call,
                                  const struct iwi_call *end, iw_time end_enter_ps, uint64_t sequence)
{
    const bool has_root = call->op == IWI_TRACE_BCAST || call->op == IWI_TRACE_SCATTER;

    return add_visit(f, call, end, end_enter_ps,
                     (struct iwi_visit){.op = op_of[call->op],
                                        .sequence = sequence,
                                        .has_root = has_root,
                                        .root = has_root ? root_of(f->trace, call) : 0});
}

static iw_status visit_message(const struct filler *f, const struct iwi_call *call, uint64_t number,
                               const struct iwi_call *end, iw_time end_enter_ps)
{
    const uint64_t partner = f->partner[number];
    const bool is_sender = call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND;

    if (partner == IWI_NO_PARTNER || call->peer == f->rank) {
        return IW_OK;
    }
    return add_visit(f, call, end, end_enter_ps,
                     (struct iwi_visit){.op = IWI_VISIT_MESSAGE,
                                        .sequence = is_sender ? number : partner,
                                        .has_root = true,
                                        .root = is_sender ? f->rank : call->peer});
}

static iw_status visit_request(const struct filler *f, const struct request *request,
                               const struct iwi_call *end, iw_time end_enter_ps)
{
    const struct iwi_call *call = &f->trace->ranks[f->rank].calls[request->call];

    return call->kind == IWI_CALL_ICOLLECTIVE
               ? visit_collective(f, call, end, end_enter_ps, request->sequence)
               : visit_message(f, call, f->first[f->rank] + request->call, end, end_enter_ps);
}

static iw_status complete(struct filler *f, const struct iwi_call *wait, iw_time enter_ps)
{
    const struct iwi_trace_rank *rank = &f->trace->ranks[f->rank];

    for (uint32_t k = 0; k < wait->request_count; k++) {
        struct request *request = &f->requests[rank->completed[wait->request + k]];

        IW_TRY(visit_request(f, request, wait, enter_ps));
        request->is_open = false;
    }
    return IW_OK;
}

static iw_status take_call(struct filler *f, uint64_t i, iw_time enter_ps)
{
    const struct iwi_call *call = &f->trace->ranks[f->rank].calls[i];
    struct request request = {.call = i, .is_open = true};

    switch (call->kind) {
    case IWI_CALL_COLLECTIVE: return visit_collective(f, call, call, enter_ps, f->used[call->comm]++);
    case IWI_CALL_SEND:
    case IWI_CALL_RECV: return visit_message(f, call, f->first[f->rank] + i, call, enter_ps);
    case IWI_CALL_ICOLLECTIVE: request.sequence = f->used[call->comm]++; break;
    case IWI_CALL_ISEND:
    case IWI_CALL_IRECV: break;
    case IWI_CALL_WAIT: return complete(f, call, enter_ps);
    default: return IW_OK;
    }
    f->requests[call->request] = request;
    return IW_OK;
}

/* ---- a rank ---- */

static iw_status add_stretch(const struct filler *f, iw_time begin_ps, iw_time length_ps)
{
    const struct iwi_stretch stretch = {.rank = f->rank,
                                        .step = IWI_VISIT_NO_STEP,
                                        .begin_ps = begin_ps - f->zero_ps,
                                        .end_ps = begin_ps + length_ps - f->zero_ps};

    return length_ps > 0 ? iwi_visits_add_stretch(f->visits, &stretch) : IW_OK;
}

/* Polls that found nothing are no calls: before a call that completes or receives something they waited for
 * it, and the call began with them. */
static iw_time enter_of(const struct iwi_call *call, iw_time computed_ps)
{
    const bool is_waited_for = call->kind == IWI_CALL_WAIT || call->kind == IWI_CALL_RECV;

    return is_waited_for ? iwi_min(call->enter_ps, computed_ps) : call->enter_ps;
}

static iw_status add_open(struct filler *f)
{
    const struct iwi_trace_rank *rank = &f->trace->ranks[f->rank];

    for (uint32_t k = 0; k < rank->request_count; k++) {
        if (f->requests[k].is_open) { /* nobody waited for it: freed, or the run ended */
            const struct iwi_call *call = &rank->calls[f->requests[k].call];

            IW_TRY(visit_request(f, &f->requests[k], call, call->enter_ps));
        }
    }
    return IW_OK;
}

static iw_status add_rank(struct filler *f)
{
    const struct iwi_trace_rank *rank = &f->trace->ranks[f->rank];
    iw_time at_ps = rank->call_count > 0 ? rank->calls[0].enter_ps - rank->calls[0].compute_wall_ps : 0;

    memset(f->used, 0, f->trace->comm_count * sizeof *f->used);
    for (uint64_t i = 0; i < rank->call_count; i++) {
        const struct iwi_call *call = &rank->calls[i];
        const iw_time compute_ps = iwi_min(call->compute_wall_ps, iwi_max(0, call->enter_ps - at_ps));

        IW_TRY(add_stretch(f, at_ps, compute_ps));
        IW_TRY(take_call(f, i, enter_of(call, at_ps + compute_ps)));
        at_ps = iwi_max(at_ps, leave_of(call));
    }
    IW_TRY(add_open(f));
    return add_stretch(f, at_ps, rank->last_compute_wall_ps);
}

static iw_status add_all_ranks(struct filler *f)
{
    for (f->rank = 0; f->rank < f->trace->rank_count; f->rank++) {
        iw_status status;

        f->requests = iwi_new_array(f->log, f->trace->ranks[f->rank].request_count, sizeof *f->requests);
        status = f->requests != NULL ? add_rank(f) : IW_ERR_NOMEM;
        free(f->requests);
        f->requests = NULL;
        IW_TRY(status);
    }
    return IW_OK;
}

/* ---- all of it ---- */

static void place_zero(struct filler *f)
{
    f->zero_ps = INT64_MAX;
    for (uint32_t r = 0; r < f->trace->rank_count; r++) {
        const struct iwi_trace_rank *rank = &f->trace->ranks[r];

        if (rank->call_count > 0) {
            f->zero_ps = iwi_min(f->zero_ps, rank->calls[0].enter_ps - rank->calls[0].compute_wall_ps);
        }
    }
    f->zero_ps = f->zero_ps == INT64_MAX ? 0 : f->zero_ps;
}

static iw_status prepare(struct filler *f)
{
    const uint32_t ranks = f->trace->rank_count, comms = f->trace->comm_count;

    f->first = iwi_new_array(f->log, (size_t)ranks + 1, sizeof *f->first);
    f->group_of = iwi_new_array(f->log, comms, sizeof *f->group_of);
    f->used = iwi_new_array(f->log, comms, sizeof *f->used);
    if (f->first == NULL || f->group_of == NULL || f->used == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        f->first[r + 1] = f->first[r] + f->trace->ranks[r].call_count;
    }
    f->partner = iwi_new_array(f->log, (size_t)f->first[ranks], sizeof *f->partner);
    if (f->partner == NULL) {
        return IW_ERR_NOMEM;
    }
    place_zero(f);
    return iwi_trace_pair_messages(f->log, f->trace, f->first, f->partner, f->first[ranks]);
}

iw_status iwi_visits_of_trace(const iw_log *log, const struct iw_trace *trace, struct iwi_visits *visits)
{
    struct filler f = {.log = log, .trace = trace, .visits = visits};
    iw_status status = prepare(&f);

    iwi_trace_warn_of_neighbours(log, trace);
    status = status == IW_OK ? add_ranks(&f) : status;
    status = status == IW_OK ? add_groups(&f) : status;
    status = status == IW_OK ? add_all_ranks(&f) : status;
    status = status == IW_OK ? visits_steps_of_trace(log, trace, visits) : status;
    free(f.first);
    free(f.partner);
    free(f.group_of);
    free(f.used);
    return status == IW_OK ? iwi_visits_finish(visits) : status;
}

/* ---- as one of the formats ---- */

static bool is_mpi(const struct iwi_visits_head *head)
{
    return iwi_trace_is_readable(head->path);
}

static iw_status check(const iw_log *log, const char *path, const struct iw_trace *trace)
{
    if (strcmp(trace->origin, "liballprof") == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': ranks of liballprof traces have separate clocks, so arrival order is unknown; "
                        "use OTF2 traces ('idlewave trace' writes them)",
                        path);
    }
    return IW_OK;
}

static iw_status read_mpi(const iw_log *log, const char *const *paths, size_t count,
                          struct iwi_visits *visits)
{
    iw_trace *trace;
    iw_status status;

    if (count > 1) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' and '%s' are traces of two runs: give one of them", paths[0],
                        paths[1]);
    }
    IW_TRY(iw_trace_open(log, paths[0], &trace));
    (void)snprintf(visits->origin, sizeof visits->origin, "%s", trace->origin);
    status = check(log, paths[0], trace);
    if (status == IW_OK) {
        status = iwi_visits_of_trace(log, trace, visits);
    }
    visits->trace = trace;
    return status;
}

const struct iwi_visits_reader iwi_visits_mpi = {
    .origin = "MPI", .what = "traces of MPI programs (OTF2)", .is = is_mpi, .read = read_mpi};
