/* Calls and communicators of a liballprof trace.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "kit/files/trace/trace_allprof.h"

/* ---- who is in which communicator: lines have only a handle, a rank and a size ---- */

/* World is known. The k-th communicator that the members of a known one make of it is made by all of them
 * together, so what they said when they made it tells its members: MPI_Comm_dup keeps them, MPI_Comm_split
 * sorts them by colour and key. In other ways of making one the members are found by the rank that each says
 * it has. The handle follows: it is the first new one behind the making whose rank and size fit.
 */

struct resolving {
    const iw_log *log;
    struct iwi_allprof_rank *ranks;
    struct iw_trace *trace;
    size_t comm_capacity;
};

/* One member of a communicator that makes another. */
struct maker {
    uint32_t rank, parent_rank;
    const struct iwi_allprof_made *made;
};

static iw_status add_comm(struct resolving *r, uint32_t size, const uint32_t *members, uint32_t *index_p)
{
    uint32_t *copy = NULL;

    IW_TRY(iwi_grow(r->log, (void **)&r->trace->comms, &r->comm_capacity, (size_t)r->trace->comm_count + 1,
                    sizeof *r->trace->comms));
    if (members != NULL) {
        copy = iwi_new_array(r->log, size, sizeof *copy);
        if (copy == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(copy, members, size * sizeof *copy);
    }
    r->trace->comms[r->trace->comm_count] = (struct iwi_comm){.size = size, .members = copy};
    *index_p = r->trace->comm_count++;
    return IW_OK;
}

static uint32_t member(const struct iwi_comm *comm, uint32_t i)
{
    return comm->members != NULL ? comm->members[i] : i;
}

/* What the rank made as the `number`-th of this communicator. */
static const struct iwi_allprof_made *find_made(const struct iwi_allprof_rank *rank, uint32_t global,
                                                uint32_t number)
{
    for (size_t i = 0; i < rank->made_count; i++) {
        if (rank->comms[rank->made[i].parent].global == global && rank->made[i].number == number) {
            return &rank->made[i];
        }
    }
    return NULL;
}

/* The first handle without a meaning that came up behind the making; size 0: of any rank and size. */
static struct iwi_allprof_comm *find_new(const struct iwi_allprof_rank *rank,
                                         const struct iwi_allprof_made *made, uint32_t comm_rank,
                                         uint32_t size)
{
    for (size_t i = 0; i < rank->comm_count; i++) {
        struct iwi_allprof_comm *comm = &rank->comms[i];

        if (comm->global == IWI_NO_COMM && comm->line > made->line &&
            (size == 0 || (comm->rank == comm_rank && comm->size == size))) {
            return comm;
        }
    }
    return NULL;
}

static void name_handle(struct resolving *r, const struct maker *maker, uint32_t comm_rank, uint32_t index)
{
    struct iwi_allprof_comm *comm =
        find_new(&r->ranks[maker->rank], maker->made, comm_rank, r->trace->comms[index].size);

    if (comm != NULL) {
        comm->global = index;
    }
}

IWI_COMPARE(by_color, struct maker, IWI_RISING(made->color), IWI_RISING(made->key), IWI_RISING(parent_rank))

/* Makers from `first` to `end` are the members, in order. A dup has all colours and keys 0. */
static iw_status add_part(struct resolving *r, const struct maker *makers, uint32_t count, uint32_t *members)
{
    uint32_t index;
    bool is_world = count == r->trace->rank_count;

    for (uint32_t i = 0; i < count; i++) {
        members[i] = makers[i].rank;
        is_world = is_world && members[i] == i;
    }
    IW_TRY(add_comm(r, count, is_world ? NULL : members, &index));
    for (uint32_t i = 0; i < count; i++) {
        name_handle(r, &makers[i], i, index);
    }
    return IW_OK;
}

static iw_status add_split(struct resolving *r, struct maker *makers, uint32_t count, uint32_t *members)
{
    iwi_sort(makers, count, by_color);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && makers[end].made->color == makers[first].made->color; end++) {
        }
        if (makers[first].made->color >= 0) { /* else MPI_UNDEFINED: these get none */
            IW_TRY(add_part(r, &makers[first], end - first, members));
        }
    }
    return IW_OK;
}

/* The members by what they say: each rank of the new communicator must be there once. */
static iw_status add_other(struct resolving *r, const struct maker *makers, uint32_t count, uint32_t *members)
{
    uint32_t size = 0, found = 0, index;
    bool *is_set = iwi_new_array(r->log, count, sizeof *is_set);
    iw_status status = is_set != NULL ? IW_OK : IW_ERR_NOMEM;

    for (uint32_t i = 0; status == IW_OK && i < count; i++) {
        const struct iwi_allprof_comm *comm = find_new(&r->ranks[makers[i].rank], makers[i].made, 0, 0);

        if (comm == NULL) {
            continue;
        }
        size = size == 0 ? comm->size : size;
        if (comm->size != size || comm->rank >= count || is_set[comm->rank]) {
            size = UINT32_MAX; /* several communicators, as from MPI_Cart_sub: nobody knows which */
            break;
        }
        is_set[comm->rank] = true;
        members[comm->rank] = makers[i].rank;
        found++;
    }
    if (status == IW_OK && size > 0 && found == size) {
        status = add_comm(r, size, members, &index);
        for (uint32_t i = 0; status == IW_OK && i < count; i++) {
            struct iwi_allprof_comm *comm = find_new(&r->ranks[makers[i].rank], makers[i].made, 0, 0);

            if (comm != NULL) {
                comm->global = index;
            }
        }
    }
    free(is_set);
    return status;
}

/* The `number`-th that is made of `parent`; *is_made false if not all its members made one. */
static iw_status resolve_made(struct resolving *r, uint32_t parent, uint32_t number, struct maker *makers,
                              uint32_t *members, bool *is_made)
{
    const uint32_t count = r->trace->comms[parent].size;
    uint32_t how = IWI_MADE_OTHER;

    *is_made = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = member(&r->trace->comms[parent], i);
        const struct iwi_allprof_made *made = find_made(&r->ranks[rank], parent, number);

        if (made == NULL || (i > 0 && made->how != how)) {
            return IW_OK;
        }
        how = made->how;
        makers[i] = (struct maker){rank, i, made};
    }
    *is_made = true;
    return how == IWI_MADE_OTHER ? add_other(r, makers, count, members)
                                 : add_split(r, makers, count, members);
}

/* World's handle, and those of MPI_COMM_SELF and of second names of world that nobody made. */
static iw_status name_leftovers(struct resolving *r)
{
    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        uint32_t self = IWI_NO_COMM;

        for (size_t i = 0; i < r->ranks[rank].comm_count; i++) {
            struct iwi_allprof_comm *comm = &r->ranks[rank].comms[i];

            if (comm->global != IWI_NO_COMM) {
                continue;
            }
            if (comm->size == r->trace->rank_count && comm->rank == rank) {
                comm->global = 0;
            } else if (comm->size == 1) {
                if (self == IWI_NO_COMM) {
                    IW_TRY(add_comm(r, 1, &rank, &self));
                }
                comm->global = self;
            }
        }
    }
    return IW_OK;
}

static iw_status name_world(struct resolving *r)
{
    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        bool has_world = false;

        for (size_t i = 0; i < r->ranks[rank].comm_count; i++) {
            struct iwi_allprof_comm *comm = &r->ranks[rank].comms[i];

            if (comm->size > r->trace->rank_count) {
                return iwi_fail(r->log, IW_ERR_TRUNCATED,
                                "the trace has the files of %" PRIu32 " ranks, but rank %" PRIu32
                                " uses a communicator of %" PRIu32 " (line %" PRIu64 "): files are missing",
                                r->trace->rank_count, rank, comm->size, comm->line);
            }
            if (!has_world && comm->size == r->trace->rank_count && comm->rank == rank) {
                comm->global = 0;
                has_world = true;
            }
        }
    }
    return IW_OK;
}

/* Communicators that are found are added at the end, and looked at in their turn. */
static iw_status resolve(struct resolving *r, struct maker *makers, uint32_t *members)
{
    uint32_t index;

    IW_TRY(add_comm(r, r->trace->rank_count, NULL, &index));
    IW_TRY(name_world(r));
    for (uint32_t parent = 0; parent < r->trace->comm_count; parent++) {
        bool is_made = true;

        for (uint32_t number = 0; is_made; number++) {
            IW_TRY(resolve_made(r, parent, number, makers, members, &is_made));
        }
    }
    return name_leftovers(r);
}

iw_status iwi_allprof_resolve(const iw_log *log, struct iwi_allprof_rank *ranks, struct iw_trace *trace)
{
    struct resolving r = {.log = log, .ranks = ranks, .trace = trace};
    struct maker *makers = iwi_new_array(log, trace->rank_count, sizeof *makers);
    uint32_t *members = iwi_new_array(log, trace->rank_count, sizeof *members);
    iw_status status = IW_ERR_NOMEM;

    if (makers != NULL && members != NULL) {
        status = resolve(&r, makers, members);
    }
    free(makers);
    free(members);
    return status;
}

/* ---- one call ---- */

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
