/* Traces of MPI programs in memory: made by readers (src/kit/files/trace), freed by whoever has them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "core/base/base.h"

struct iw_trace *iwi_trace_new(const iw_log *log, uint32_t rank_count)
{
    struct iw_trace *trace = iwi_new_array(log, 1, sizeof *trace);

    if (trace == NULL) {
        return NULL;
    }
    trace->ranks = iwi_new_array(log, rank_count, sizeof *trace->ranks);
    if (trace->ranks == NULL) {
        free(trace);
        return NULL;
    }
    trace->rank_count = rank_count;
    return trace;
}

void iwi_comm_label(const struct iw_trace *trace, uint32_t comm, char label[IWI_COMM_NAME_SIZE])
{
    const char *name = comm < trace->comm_count ? trace->comms[comm].name : "";

    if (comm == 0 && name[0] == '\0') {
        (void)snprintf(label, IWI_COMM_NAME_SIZE, "world");
    } else if (name[0] == '\0') {
        (void)snprintf(label, IWI_COMM_NAME_SIZE, "communicator %" PRIu32, comm);
    } else {
        (void)snprintf(label, IWI_COMM_NAME_SIZE, "%s", name);
    }
}

void iwi_trace_warn_of_neighbours(const iw_log *log, const struct iw_trace *trace)
{
    uint64_t count = 0;

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        for (uint64_t i = 0; i < trace->ranks[r].call_count; i++) {
            const struct iwi_call *call = &trace->ranks[r].calls[i];

            count += (call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE) &&
                     call->op == IWI_TRACE_NEIGHBOR;
        }
    }
    if (count > 0) {
        iwi_warn(log,
                 "%" PRIu64 " calls of neighbour collectives count as waiting for all ranks of their "
                 "communicator: blame in them may be wrong",
                 count);
    }
}

void iw_trace_free(iw_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    for (uint32_t r = 0; trace->mapping == NULL && r < trace->rank_count; r++) {
        free(trace->ranks[r].calls);
        free(trace->ranks[r].completed);
    }
    for (uint32_t c = 0; c < trace->comm_count; c++) {
        free(trace->comms[c].members);
    }
    if (trace->mapping != NULL) {
        (void)munmap(trace->mapping, trace->mapping_size);
    }
    free(trace->comms);
    free(trace->size_lists);
    free(trace->parts);
    free(trace->ranks);
    free(trace);
}

/* Refuses traces that no reader may hand on: bad indices, requests completed twice or never made. */

struct place {
    const iw_log *log;
    const struct iw_trace *trace;
    const struct iwi_trace_rank *rank;
    uint32_t number;
    uint8_t *request_states; /* 1: made, 2: completed */
};

static iw_status refuse(const struct place *place, uint64_t call, const char *why, uint64_t value)
{
    return iwi_fail(place->log, IW_ERR_FORMAT, "trace: rank %" PRIu32 " call %" PRIu64 ": %s %" PRIu64,
                    place->number, call, why, value);
}

static bool is_rooted(uint8_t op)
{
    return op == IWI_TRACE_BCAST || op == IWI_TRACE_REDUCE || op == IWI_TRACE_GATHER ||
           op == IWI_TRACE_SCATTER;
}

static iw_status check_message(const struct place *place, uint64_t i, const struct iwi_call *call)
{
    if (call->peer >= place->trace->rank_count) {
        return refuse(place, i, "no rank", call->peer);
    }
    return call->tag < 0 ? refuse(place, i, "bad tag -", (uint64_t) - (int64_t)call->tag) : IW_OK;
}

static iw_status check_sizes(const struct place *place, uint64_t i, const struct iwi_call *call)
{
    const struct iw_trace *trace = place->trace;
    const struct iwi_size_list *list;

    if (call->sizes == 0) {
        return IW_OK;
    }
    if (call->sizes > trace->size_list_count) {
        return refuse(place, i, "no list of sizes", call->sizes - 1);
    }
    list = &trace->size_lists[call->sizes - 1];
    if (list->first > trace->part_count || list->count > trace->part_count - list->first) {
        return refuse(place, i, "a bad list of sizes,", call->sizes - 1);
    }
    for (uint32_t k = 0; k < list->count; k++) {
        if (trace->parts[list->first + k].peer >= trace->comms[call->comm].size) {
            return refuse(place, i, "the communicator has no rank", trace->parts[list->first + k].peer);
        }
    }
    return IW_OK;
}

static iw_status check_collective(const struct place *place, uint64_t i, const struct iwi_call *call)
{
    if (call->op >= IWI_TRACE_OPS) {
        return refuse(place, i, "no collective", call->op);
    }
    if (is_rooted(call->op) && call->peer >= place->trace->comms[call->comm].size) {
        return refuse(place, i, "the communicator has no root", call->peer);
    }
    return check_sizes(place, i, call);
}

static iw_status check_made(const struct place *place, uint64_t i, uint32_t request)
{
    if (request >= place->rank->request_count || place->request_states[request] != 0) {
        return refuse(place, i, "invalid number of a new request", request);
    }
    place->request_states[request] = 1;
    return IW_OK;
}

static iw_status check_wait(const struct place *place, uint64_t i, const struct iwi_call *call)
{
    const uint64_t end = (uint64_t)call->request + call->request_count;

    if (call->request_count == 0 || end > place->rank->completed_count) {
        return refuse(place, i, "invalid number of completed requests", call->request_count);
    }
    for (uint64_t k = call->request; k < end; k++) {
        const uint32_t request = place->rank->completed[k];

        if (request >= place->rank->request_count || place->request_states[request] == 0) {
            return refuse(place, i, "completes an unknown request,", request);
        }
        if (place->request_states[request] == 2) {
            return refuse(place, i, "completes for the second time request", request);
        }
        place->request_states[request] = 2;
    }
    return IW_OK;
}

static iw_status check_kind(const struct place *place, uint64_t i, const struct iwi_call *call)
{
    switch (call->kind) {
    case IWI_CALL_SEND:
    case IWI_CALL_RECV: return check_message(place, i, call);
    case IWI_CALL_ISEND:
    case IWI_CALL_IRECV: IW_TRY(check_message(place, i, call)); return check_made(place, i, call->request);
    case IWI_CALL_COLLECTIVE: return check_collective(place, i, call);
    case IWI_CALL_ICOLLECTIVE:
        IW_TRY(check_collective(place, i, call));
        return check_made(place, i, call->request);
    case IWI_CALL_WAIT: return check_wait(place, i, call);
    case IWI_CALL_OPAQUE: return IW_OK;
    default: return refuse(place, i, "unknown kind", call->kind);
    }
}

static iw_status check_calls(const struct place *place)
{
    for (uint64_t i = 0; i < place->rank->call_count; i++) {
        const struct iwi_call *call = &place->rank->calls[i];

        if (call->compute_wall_ps < 0 || call->compute_wall_ps > IW_TIME_INPUT_MAX || call->call_ps < 0 ||
            call->call_ps > IW_TIME_INPUT_MAX || call->compute_cpu_ps < -1 ||
            call->compute_cpu_ps > IW_TIME_INPUT_MAX) {
            return refuse(place, i, "a time is negative or over 240 h in a call of kind", call->kind);
        }
        if (call->kind != IWI_CALL_WAIT && call->kind != IWI_CALL_OPAQUE &&
            call->comm >= place->trace->comm_count) {
            return refuse(place, i, "no communicator", call->comm);
        }
        IW_TRY(check_kind(place, i, call));
    }
    return IW_OK;
}

static iw_status check_comms(const iw_log *log, const struct iw_trace *trace)
{
    if (trace->rank_count == 0 || trace->comm_count == 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "trace: no ranks");
    }
    for (uint32_t c = 0; c < trace->comm_count; c++) {
        const struct iwi_comm *comm = &trace->comms[c];

        if (comm->size == 0 || comm->size > trace->rank_count ||
            (comm->members == NULL && comm->size != trace->rank_count)) {
            return iwi_fail(log, IW_ERR_FORMAT, "trace: communicator %" PRIu32 " has a bad size, %" PRIu32, c,
                            comm->size);
        }
        for (uint32_t i = 0; comm->members != NULL && i < comm->size; i++) {
            if (comm->members[i] >= trace->rank_count) {
                return iwi_fail(log, IW_ERR_FORMAT,
                                "trace: communicator %" PRIu32 " has rank %" PRIu32 " as member", c,
                                comm->members[i]);
            }
        }
    }
    return IW_OK;
}

iw_status iwi_trace_check(const iw_log *log, const struct iw_trace *trace)
{
    IW_TRY(check_comms(log, trace));
    for (uint32_t r = 0; r < trace->rank_count; r++) {
        struct place place = {log, trace, &trace->ranks[r], r, NULL};
        iw_status status;

        place.request_states = iwi_new_array(log, place.rank->request_count, 1);
        if (place.request_states == NULL) {
            return IW_ERR_NOMEM;
        }
        status = check_calls(&place);
        free(place.request_states);
        IW_TRY(status);
    }
    return IW_OK;
}

/* Which communicators of a trace span all replicas on more ranks than were traced, and which keep their size.
 */

bool iwi_comm_is_data_parallel(const char *name)
{
    static const char *const parts[] = {"dp", "data", "fsdp", "zero", "replicate"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcasestr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* A name in full means that one only: "communicator 1" is not "communicator 12". */
static bool has_exactly(const struct iw_trace *trace, const char *told)
{
    char label[IWI_COMM_NAME_SIZE];

    for (uint32_t comm = 0; told != NULL && comm < trace->comm_count; comm++) {
        iwi_comm_label(trace, comm, label);
        if (strcasecmp(label, told) == 0) {
            return true;
        }
    }
    return false;
}

struct iwi_growing iwi_trace_growing(const struct iw_trace *trace, const char *told)
{
    return (struct iwi_growing){trace, told, has_exactly(trace, told)};
}

/* Programs of MPI call their communicators anything: only what was asked for grows. */
bool iwi_comm_grows(const struct iwi_growing *growing, uint32_t comm)
{
    char label[IWI_COMM_NAME_SIZE];

    iwi_comm_label(growing->trace, comm, label);
    if (growing->told == NULL) {
        return growing->trace->is_training && iwi_comm_is_data_parallel(label);
    }
    return growing->is_exact ? strcasecmp(label, growing->told) == 0
                             : strcasestr(label, growing->told) != NULL;
}

iw_status iwi_trace_fixed_groups(const iw_log *log, const struct iw_trace *trace, const char *told,
                                 uint32_t *count_p)
{
    const struct iwi_growing growing = iwi_trace_growing(trace, told);
    bool *is_used = iwi_new_array(log, trace->comm_count, sizeof *is_used);
    uint32_t count = 0;

    if (is_used == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < trace->rank_count; rank++) {
        for (uint64_t c = 0; c < trace->ranks[rank].call_count; c++) {
            const struct iwi_call *call = &trace->ranks[rank].calls[c];

            if (call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE) {
                is_used[call->comm] = true;
            }
        }
    }
    for (uint32_t i = 0; i < trace->comm_count; i++) {
        const struct iwi_comm *comm = &trace->comms[i];

        count += is_used[i] && comm->members != NULL && comm->size > 1 && comm->size < trace->rank_count &&
                 !iwi_comm_grows(&growing, i);
    }
    free(is_used);
    *count_p = count;
    return IW_OK;
}
