/* One call of a liballprof trace. What its line lacks: requests have only the addresses of the program's
 * variables, tests do not say whether they succeeded, waits for one of several do not say for which.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/files/trace/trace_allprof.h"

iw_status iwi_allprof_refuse(const struct iwi_allprof_reading *in, const char *why)
{
    return iwi_fail(in->log, IW_ERR_FORMAT, "'%s:%zu': %s %s", in->text->path, in->lines.number,
                    in->line.name[0] != '\0' ? in->line.name : "the line", why);
}

/* ---- communicators and messages ---- */

/* The rank's own number of the line's communicator; a handle with another rank or size is another one. */
static iw_status find_comm(struct iwi_allprof_reading *in, uint32_t *index_p)
{
    const struct iwi_allprof_line *line = &in->line;
    struct iwi_allprof_rank *rank = in->rank;

    for (size_t i = rank->comm_count; i-- > 0;) {
        const struct iwi_allprof_comm *comm = &rank->comms[i];

        if (comm->handle == line->comm && comm->rank == line->comm_rank && comm->size == line->comm_size) {
            *index_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(in->log, (void **)&rank->comms, &rank->comm_capacity, rank->comm_count + 1,
                    sizeof *rank->comms));
    rank->comms[rank->comm_count] = (struct iwi_allprof_comm){.handle = line->comm,
                                                              .rank = line->comm_rank,
                                                              .size = line->comm_size,
                                                              .line = in->lines.number,
                                                              .global = IWI_NO_COMM};
    *index_p = (uint32_t)rank->comm_count++;
    return IW_OK;
}

/* Both MPIs use -1 and -2, the other way round. */
static iw_status set_peer(struct iwi_allprof_reading *in, int64_t peer, int64_t tag,
                          struct iwi_trace_event *event)
{
    const int64_t any = in->is_mpich ? -2 : -1, null = in->is_mpich ? -1 : -2;

    if (peer >= (int64_t)in->line.comm_size || (peer < 0 && peer != any && peer != null)) {
        return iwi_allprof_refuse(in, "has a partner that is not in its communicator");
    }
    event->peer = peer == any ? IWI_PEER_UNKNOWN : (peer == null ? IWI_PEER_NULL : (uint32_t)peer);
    event->tag = (int32_t)tag;
    if (event->type == IWI_EV_SEND || event->type == IWI_EV_ISEND) {
        return peer == any || (tag < 0 && peer != null)
                   ? iwi_allprof_refuse(in, "sends to anyone or with any tag")
                   : IW_OK;
    }
    return IW_OK;
}

/* An int, printed as if it were an address; its highest byte says that it is a communicator. */
static bool has_mpich_handle(const struct iwi_allprof_line *line)
{
    const uint64_t high = line->comm >> 32;

    return (high == 0 || high == UINT32_MAX) && (line->comm >> 24 & 0x3f) == 4;
}

/* side 0: what is sent or the only one; 1: what a Sendrecv receives. */
static iw_status make_event(struct iwi_allprof_reading *in, uint8_t type, int side,
                            struct iwi_trace_event *event)
{
    const struct iwi_allprof_line *line = &in->line;
    const int size_side = side == 1 && line->size[1] > 0 ? 1 : 0; /* Sendrecv_replace has one */

    *event = (struct iwi_trace_event){.type = type, .request = line->request, .flags = line->function.flags};
    event->bytes = (uint64_t)(line->count[size_side] * line->size[size_side]);
    in->is_mpich = in->is_mpich || has_mpich_handle(line);
    in->has_int_requests = in->has_int_requests || line->request % 8 != 0;
    IW_TRY(find_comm(in, &event->comm));
    return set_peer(in, line->peer[side], line->tag[side], event);
}

static bool is_name(const struct iwi_allprof_reading *in, const char *name)
{
    return strcmp(in->line.name + 4, name) == 0;
}

static iw_status build_message(struct iwi_allprof_reading *in, const struct iwi_call_span *span)
{
    const bool is_receive = strstr(in->line.name, "recv") != NULL || strstr(in->line.name, "Recv") != NULL;
    const bool is_posted = in->line.name[4] == 'I';
    struct iwi_trace_event events[2];

    if (in->line.function.kind == IWI_FN_SENDRECV) {
        IW_TRY(make_event(in, IWI_EV_SEND, 0, &events[0]));
        IW_TRY(make_event(in, IWI_EV_RECV, 1, &events[1]));
        return iwi_build(in->builder, in->line.function, in->line.name, span, events, 2);
    }
    IW_TRY(make_event(in,
                      is_receive ? (is_posted ? IWI_EV_IRECV_POSTED : IWI_EV_RECV)
                                 : (is_posted ? IWI_EV_ISEND : IWI_EV_SEND),
                      0, &events[0]));
    return iwi_build(in->builder, in->line.function, in->line.name, span, events, 1);
}

/* ---- persistent requests ---- */

static struct iwi_allprof_persistent *find_persistent(struct iwi_allprof_reading *in, uint64_t address)
{
    for (size_t i = 0; i < in->persistent_count; i++) {
        if (in->persistent[i].address == address) {
            return &in->persistent[i];
        }
    }
    return NULL;
}

static iw_status keep_persistent(struct iwi_allprof_reading *in)
{
    struct iwi_allprof_persistent *entry = find_persistent(in, in->line.request);
    struct iwi_trace_event event;

    IW_TRY(make_event(in, is_name(in, "Recv_init") ? IWI_EV_IRECV_POSTED : IWI_EV_ISEND, 0, &event));
    event.flags = is_name(in, "Ssend_init") ? IWI_FN_SYNCHRONOUS : 0;
    if (entry == NULL) {
        IW_TRY(iwi_grow(in->log, (void **)&in->persistent, &in->persistent_capacity, in->persistent_count + 1,
                        sizeof *in->persistent));
        entry = &in->persistent[in->persistent_count++];
    }
    *entry = (struct iwi_allprof_persistent){in->line.request, event};
    return IW_OK;
}

/* Distance of the requests in an array: handles are addresses with Open MPI, int with MPICH and in Fortran.
 */
static uint64_t stride(const struct iwi_allprof_reading *in)
{
    return in->has_int_requests ? 4 : 8;
}

static iw_status build_start(struct iwi_allprof_reading *in, const struct iwi_call_span *span)
{
    const uint64_t count = is_name(in, "Start") ? 1 : (uint64_t)in->line.count[0];
    const size_t before = in->builder->call_count;

    iwi_build_enter(in->builder, span);
    for (size_t i = 0; i < in->persistent_count; i++) {
        const struct iwi_allprof_persistent *entry = &in->persistent[i];
        const uint64_t distance = entry->address - in->line.request;

        if (entry->address >= in->line.request && distance / stride(in) < count &&
            distance % stride(in) == 0) {
            IW_TRY(iwi_build_event(in->builder, &entry->event));
        }
    }
    if (in->builder->call_count == before) {
        iwi_build_note(in->builder, IWI_GAP_UNKNOWN_REQUEST, in->line.name);
        IW_TRY(iwi_build_nothing(in->builder));
    }
    iwi_build_leave(in->builder, span->leave_ps);
    return IW_OK;
}

static void free_request(struct iwi_allprof_reading *in)
{
    struct iwi_allprof_persistent *entry = find_persistent(in, in->line.request);
    struct iwi_request *request = iwi_open_requests_find(&in->builder->requests, in->line.request);

    if (entry != NULL) {
        *entry = in->persistent[--in->persistent_count];
    }
    if (request != NULL) {
        iwi_open_requests_remove(&in->builder->requests, request);
    }
}

/* ---- waits and tests ---- */

/* Calls `take` for each open request of the line's array, oldest first, until it wants no more. */
static iw_status for_requests(struct iwi_allprof_reading *in,
                              iw_status (*take)(struct iwi_allprof_reading *in, struct iwi_request *request,
                                                bool *wants_more))
{
    struct iwi_open_requests *requests = &in->builder->requests;
    const uint64_t first = in->line.request;
    const bool is_single = is_name(in, "Wait") || is_name(in, "Test");
    const uint64_t count = is_single ? 1 : (uint64_t)in->line.count[0];
    bool wants_more = true;
    uint32_t at = requests->open > 0 ? requests->oldest : UINT32_MAX;

    if (is_single) {
        struct iwi_request *request = iwi_open_requests_find(requests, first);

        return request != NULL ? take(in, request, &wants_more) : IW_OK;
    }
    while (at != UINT32_MAX && wants_more) {
        struct iwi_request *request = &requests->nodes[at];

        at = request->newer;
        if (request->id >= first && (request->id - first) / stride(in) < count) {
            IW_TRY(take(in, request, &wants_more));
        }
    }
    return IW_OK;
}

static iw_status complete(struct iwi_allprof_reading *in, struct iwi_request *request, bool *wants_more)
{
    const uint8_t kind = in->line.function.kind;

    *wants_more = kind == IWI_FN_WAITALL;
    if (kind == IWI_FN_WAITANY || kind == IWI_FN_WAITSOME) {
        iwi_build_note(in->builder, IWI_GAP_COMPLETION, in->line.name);
    }
    return iwi_build_complete(in->builder, request);
}

/* The last test of a request before it is used again was the one that found it complete. */
static iw_status mark_polled(struct iwi_allprof_reading *in, struct iwi_request *request, bool *wants_more)
{
    *wants_more = true;
    if (request->polled == 0) {
        iwi_build_note(in->builder, IWI_GAP_COMPLETION, in->line.name);
    }
    request->polled = in->builder->call_count;
    return IW_OK;
}

static iw_status build_wait(struct iwi_allprof_reading *in, const struct iwi_call_span *span)
{
    iwi_build_enter(in->builder, span);
    if (in->line.function.kind == IWI_FN_TEST) {
        IW_TRY(iwi_build_nothing(in->builder));
        IW_TRY(for_requests(in, mark_polled));
    } else {
        IW_TRY(iwi_build_wait(in->builder));
        IW_TRY(for_requests(in, complete));
    }
    iwi_build_leave(in->builder, span->leave_ps);
    return IW_OK;
}

/* ---- collectives ---- */

/* MPI_IN_PLACE: 1 with Open MPI, all bits set with MPICH. */
static bool is_in_place(uint64_t address)
{
    return address == 1 || address == UINT64_MAX;
}

static iw_status collective_bytes(struct iwi_allprof_reading *in, uint64_t *bytes_p)
{
    const struct iwi_allprof_line *line = &in->line;
    const uint64_t sent = (uint64_t)(line->count[0] * line->size[0]);
    const uint64_t received = (uint64_t)(line->count[1] * line->size[1]);
    uint64_t total;

    switch (line->function.op) {
    case IWI_TRACE_SCATTER: *bytes_p = is_in_place(line->buffer[1]) ? sent : received; break;
    case IWI_TRACE_GATHER:
    case IWI_TRACE_ALLGATHER:
    case IWI_TRACE_ALLTOALL: *bytes_p = is_in_place(line->buffer[0]) ? received : sent; break;
    default: *bytes_p = sent; break;
    }
    if (line->sum_of > 0 && line->function.op != IWI_TRACE_GATHER && line->function.op != IWI_TRACE_SCATTER) {
        const uint64_t size = (uint64_t)(line->size[0] > 0 ? line->size[0] : line->size[1]);

        if (__builtin_mul_overflow(line->sum, size, &total)) {
            return iwi_allprof_refuse(in, "has counts that are too large");
        }
        *bytes_p = total / line->sum_of + (total % line->sum_of != 0);
    }
    return IW_OK;
}

static iw_status keep_making(struct iwi_allprof_reading *in, uint32_t parent)
{
    struct iwi_allprof_rank *rank = in->rank;

    IW_TRY(iwi_grow(in->log, (void **)&rank->made, &rank->made_capacity, rank->made_count + 1,
                    sizeof *rank->made));
    rank->made[rank->made_count++] = (struct iwi_allprof_made){
        .how = is_name(in, "Comm_dup") ? IWI_MADE_DUP
                                       : (is_name(in, "Comm_split") ? IWI_MADE_SPLIT : IWI_MADE_OTHER),
        .parent = parent,
        .number = rank->comms[parent].made++,
        .color = in->line.color,
        .key = in->line.key,
        .line = in->lines.number};
    return IW_OK;
}

static bool is_rooted(uint8_t op)
{
    return op == IWI_TRACE_BCAST || op == IWI_TRACE_REDUCE || op == IWI_TRACE_GATHER ||
           op == IWI_TRACE_SCATTER;
}

static iw_status build_collective(struct iwi_allprof_reading *in, const struct iwi_call_span *span)
{
    const struct iwi_allprof_line *line = &in->line;
    const bool is_posted = line->function.kind == IWI_FN_ICOLLECTIVE;
    struct iwi_trace_event event = {.type = is_posted ? IWI_EV_ICOLLECTIVE_POSTED : IWI_EV_COLLECTIVE,
                                    .op = line->function.op,
                                    .request = line->request};

    if (is_rooted(event.op) && (line->root < 0 || line->root >= (int64_t)line->comm_size)) {
        return iwi_allprof_refuse(in, "has a root that is not in its communicator");
    }
    event.peer = is_rooted(event.op) ? (uint32_t)line->root : 0;
    IW_TRY(find_comm(in, &event.comm));
    if (event.op == IWI_TRACE_COMM_CREATE) {
        IW_TRY(keep_making(in, event.comm));
    } else if (event.op != IWI_TRACE_BARRIER && !line->has_sizes) {
        iwi_build_note(in->builder, IWI_GAP_SIZES, line->name);
    } else {
        IW_TRY(collective_bytes(in, &event.bytes));
        event.sent = iwi_bytes_of_collective(event.op, event.bytes, line->comm_size);
        event.flags = line->sum_of > 0 ? IWI_FN_MEANS : 0;
    }
    return iwi_build(in->builder, line->function, line->name, span, &event, 1);
}

/* Counts what does not go through iwi_build(). */
static void use(struct iwi_allprof_reading *in, const struct iwi_call_span *span)
{
    in->builder->function = iwi_use_number(in->builder->uses, in->line.name);
    iwi_use_function(in->builder->uses, in->line.name, iwi_max(0, span->leave_ps - span->enter_ps), 0);
}

iw_status iwi_allprof_build(struct iwi_allprof_reading *in, const struct iwi_call_span *span)
{
    const struct iwi_allprof_line *line = &in->line;

    if (line->is_understood && strstr(line->name, "_init") != NULL) {
        iwi_build_local(in->builder, span);
        return keep_persistent(in);
    }
    switch (line->is_understood ? line->function.kind : IWI_FN_NONE) {
    case IWI_FN_P2P:
    case IWI_FN_SENDRECV: return build_message(in, span);
    case IWI_FN_START: use(in, span); return build_start(in, span);
    case IWI_FN_REQUEST_FREE:
        iwi_build_local(in->builder, span);
        free_request(in);
        return IW_OK;
    case IWI_FN_WAIT:
    case IWI_FN_WAITANY:
    case IWI_FN_WAITSOME:
    case IWI_FN_WAITALL:
    case IWI_FN_TEST: use(in, span); return build_wait(in, span);
    case IWI_FN_COLLECTIVE:
    case IWI_FN_ICOLLECTIVE: return build_collective(in, span);
    default: break;
    }
    if (line->function.kind == IWI_FN_LOCAL) {
        iwi_build_local(in->builder, span);
        return IW_OK;
    }
    return iwi_build(in->builder, line->function, line->name, span, NULL, 0);
}
