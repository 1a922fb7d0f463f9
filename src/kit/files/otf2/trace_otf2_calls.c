/* Reads the records of an OTF2 archive: functions, collectives and messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_read.h"

#include <stdlib.h>

/* ---- time, attributes, ranks of communicators ---- */

/* Values near the end of the range are MPI_PROC_NULL, which EZTrace writes as it is. */
#define FIRST_NULL UINT32_C(0xfffffff0)

static OTF2_CallbackCode otf2_pass_on(struct iwi_otf2_events *e, iw_status status)
{
    e->status = status;
    return status == IW_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static iw_status otf2_refuse(const struct iwi_otf2_events *e, const char *why, uint64_t value)
{
    return iwi_fail(e->in->log, IW_ERR_FORMAT, "'%s': rank %" PRIu32 ", event %" PRIu64 ": %s %" PRIu64,
                    e->in->path, e->builder->rank, e->event_number + 1, why, value);
}

static bool otf2_get(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                     enum iwi_otf2_attribute which, OTF2_AttributeValue *value_p)
{
    OTF2_Type type;
    const uint32_t id = e->in->attributes[which];

    return list != NULL && id != OTF2_UNDEFINED_ATTRIBUTE && OTF2_AttributeList_TestAttributeByID(list, id) &&
           OTF2_AttributeList_GetAttributeByID(list, id, &type, value_p) == OTF2_SUCCESS;
}

static iw_time otf2_get_ns(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                           enum iwi_otf2_attribute which)
{
    OTF2_AttributeValue value;

    if (!otf2_get(e, list, which, &value) || value.uint64 > IW_TIME_INPUT_MAX / IW_PS_PER_NS) {
        return -1;
    }
    return (iw_time)value.uint64 * IW_PS_PER_NS;
}

/* From format 3 on MPI_COMM_WORLD is left out. */
static bool otf2_get_comm(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                          OTF2_AttributeValue *value_p)
{
    value_p->commRef = 0;
    return otf2_get(e, list, IWI_ATTR_COMM, value_p) || e->in->format > 2;
}

static iw_status to_ps(struct iwi_otf2_events *e, uint64_t ticks, iw_time *ps_p)
{
    __extension__ typedef __int128 wide;
    wide ps;

    if (!e->in->has_offset) { /* some tracers leave it 0 */
        e->in->offset_ticks = ticks;
        e->in->has_offset = true;
    }
    ps = ((wide)ticks - (wide)e->in->offset_ticks) * IW_PS_PER_S / (wide)e->in->resolution_hz;
    if (ps < -(wide)IW_TIME_INPUT_MAX || ps > IW_TIME_INPUT_MAX) {
        return otf2_refuse(e, "its time is more than 10 days after the start, in ticks:", ticks);
    }
    if (ps < e->last_ps) {
        iwi_build_note(e->builder, IWI_GAP_CLOCK, NULL);
        ps = e->last_ps;
    }
    e->last_ps = (iw_time)ps;
    *ps_p = e->last_ps;
    return IW_OK;
}

static iw_status otf2_raw_begin(struct iwi_otf2_events *e, uint64_t ticks, uint32_t type,
                                struct iwi_otf2_raw *raw)
{
    *raw = (struct iwi_otf2_raw){.type = type, .thread = e->thread, .cpu_ps = -1};
    IW_TRY(to_ps(e, ticks, &raw->time_ps));
    e->event_number++;
    return IW_OK;
}

static iw_status otf2_emit(struct iwi_otf2_events *e, uint64_t ticks, const struct iwi_trace_event *event)
{
    struct iwi_otf2_raw raw;

    IW_TRY(otf2_raw_begin(e, ticks, IWI_RAW_EVENT, &raw));
    raw.event = *event;
    return iwi_otf2_handle(e, &raw);
}

/* ---- communicators ---- */

/* Position of `rank` among `count` members; its number if all ranks are members, UINT32_MAX if it is none. */
static uint32_t otf2_position(const struct iwi_comm *comm, uint32_t count, uint32_t rank)
{
    for (uint32_t i = 0; comm->members != NULL && i < count; i++) {
        if (comm->members[i] == rank) {
            return i;
        }
    }
    return comm->members == NULL ? rank : UINT32_MAX;
}

/* Puts index of the communicator and world rank of `peer` into the event. */
static iw_status otf2_translate(struct iwi_otf2_events *e, uint32_t ref, uint32_t peer,
                                struct iwi_trace_event *event)
{
    const struct iwi_def_comm *def = iwi_defs_find(&e->in->comm_defs, ref);
    const uint32_t rank = e->builder->rank;
    uint32_t first = 0, count = 1;

    event->peer = IWI_PEER_NULL;
    if (peer >= FIRST_NULL) {
        return IW_OK;
    }
    if (def == NULL || def->form == IWI_COMM_UNKNOWN) {
        iwi_build_note(e->builder, IWI_GAP_MEMBERS, NULL);
        event->is_opaque = true;
        event->peer = 0;
        return IW_OK;
    }
    if (def->form == IWI_COMM_SELF) {
        e->in->uses_self = true;
        event->comm = e->in->self_base + rank;
        event->peer = rank;
        return IW_OK;
    }
    event->comm = def->index;
    count = e->in->comms[def->index].size;
    if (def->form == IWI_COMM_INTER) {
        const bool is_in_first =
            otf2_position(&e->in->comms[def->index], def->first_size, rank) != UINT32_MAX;

        first = is_in_first ? def->first_size : 0;
        count = is_in_first ? count - def->first_size : def->first_size;
    }
    if (peer >= count) {
        return otf2_refuse(e, "its communicator has no rank", peer);
    }
    event->peer =
        e->in->comms[def->index].members != NULL ? e->in->comms[def->index].members[first + peer] : peer;
    return IW_OK;
}

/* ---- sizes of collectives: from what tracers write to what a call has ---- */

static uint64_t divide_up(uint64_t bytes, uint64_t by)
{
    return by > 0 ? bytes / by + (bytes % by != 0) : bytes;
}

/* The part of one of `size` ranks. With MPI_IN_PLACE Score-P leaves the rank itself out: then only the
 * quotient by size - 1 is a whole number of words. */
static uint64_t share(uint64_t bytes, uint64_t size)
{
    const bool is_whole = bytes % size == 0 && bytes / size % 4 == 0;

    if (!is_whole && size > 1 && bytes % (size - 1) == 0 && bytes / (size - 1) % 4 == 0) {
        return bytes / (size - 1);
    }
    return divide_up(bytes, size);
}

static uint64_t from_totals(uint8_t op, uint32_t size, uint32_t me, uint64_t sent, uint64_t received)
{
    switch (op) {
    case IWI_TRACE_BCAST: return received > 0 ? received : share(sent, size);
    case IWI_TRACE_REDUCE:
    case IWI_TRACE_GATHER: return sent > 0 ? sent : divide_up(received, size - 1);
    case IWI_TRACE_SCATTER: return received > 0 ? received : divide_up(sent, size - 1);
    case IWI_TRACE_ALLREDUCE:
    case IWI_TRACE_ALLTOALL:
    case IWI_TRACE_REDUCE_SCATTER: return share(sent, size);
    case IWI_TRACE_ALLGATHER: return share(received, size);
    case IWI_TRACE_SCAN:
    case IWI_TRACE_EXSCAN: /* sent to ranks from this one on, received from those up to it */
        return sent % (size - me) == 0 ? sent / (size - me) : divide_up(received, (uint64_t)me + 1);
    case IWI_TRACE_NEIGHBOR: return sent;
    default: return 0;
    }
}

/* Bytes of a collective as struct iwi_call has them; has_sums: of a form that names a count for each member.
 */
static uint64_t otf2_bytes(enum iwi_otf2_sizes sizes, bool has_sums, uint8_t op, uint32_t size, uint32_t me,
                           uint64_t sent, uint64_t received)
{
    if (op == IWI_TRACE_BARRIER || op == IWI_TRACE_COMM_CREATE) {
        return 0;
    }
    if (sizes == IWI_SIZES_EACH && !has_sums) {
        return op == IWI_TRACE_SCATTER || sent == 0 ? received : sent;
    }
    return from_totals(op, size, me, sent, received);
}

/* ---- collectives ---- */

enum { NOT_FOLLOWED = UINT8_MAX };
enum { OP_NEIGHBOR = UINT8_MAX }; /* idlewave.op of a neighbour collective, docs/reference/formats/trace.md */

static const uint8_t ops[] = {
    [OTF2_COLLECTIVE_OP_BARRIER] = IWI_TRACE_BARRIER,
    [OTF2_COLLECTIVE_OP_BCAST] = IWI_TRACE_BCAST,
    [OTF2_COLLECTIVE_OP_GATHER] = IWI_TRACE_GATHER,
    [OTF2_COLLECTIVE_OP_GATHERV] = IWI_TRACE_GATHER,
    [OTF2_COLLECTIVE_OP_SCATTER] = IWI_TRACE_SCATTER,
    [OTF2_COLLECTIVE_OP_SCATTERV] = IWI_TRACE_SCATTER,
    [OTF2_COLLECTIVE_OP_ALLGATHER] = IWI_TRACE_ALLGATHER,
    [OTF2_COLLECTIVE_OP_ALLGATHERV] = IWI_TRACE_ALLGATHER,
    [OTF2_COLLECTIVE_OP_ALLTOALL] = IWI_TRACE_ALLTOALL,
    [OTF2_COLLECTIVE_OP_ALLTOALLV] = IWI_TRACE_ALLTOALL,
    [OTF2_COLLECTIVE_OP_ALLTOALLW] = IWI_TRACE_ALLTOALL,
    [OTF2_COLLECTIVE_OP_ALLREDUCE] = IWI_TRACE_ALLREDUCE,
    [OTF2_COLLECTIVE_OP_REDUCE] = IWI_TRACE_REDUCE,
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = IWI_TRACE_REDUCE_SCATTER,
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = IWI_TRACE_REDUCE_SCATTER,
    [OTF2_COLLECTIVE_OP_SCAN] = IWI_TRACE_SCAN,
    [OTF2_COLLECTIVE_OP_EXSCAN] = IWI_TRACE_EXSCAN,
    [OTF2_COLLECTIVE_OP_CREATE_HANDLE] = IWI_TRACE_COMM_CREATE,
};

static bool is_rooted(uint8_t op)
{
    return op == IWI_TRACE_BCAST || op == IWI_TRACE_REDUCE || op == IWI_TRACE_GATHER ||
           op == IWI_TRACE_SCATTER;
}

struct collective {
    uint8_t op; /* libotf2's */
    uint32_t comm, root;
    uint64_t sent, received;
    bool has_totals; /* sent and received are those of the record */
};

/* The record has a size for each rank. MPI_Reduce_scatter has one too, but is mostly even. */
static bool is_v(uint8_t op)
{
    return op == OTF2_COLLECTIVE_OP_GATHERV || op == OTF2_COLLECTIVE_OP_SCATTERV ||
           op == OTF2_COLLECTIVE_OP_ALLGATHERV || op == OTF2_COLLECTIVE_OP_ALLTOALLV ||
           op == OTF2_COLLECTIVE_OP_ALLTOALLW;
}

static uint64_t sum_of(const struct iwi_otf2 *in, const struct iwi_size_list *list)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        sum += in->parts[list->first + i].bytes;
    }
    return sum;
}

/* Tracers of format 1 tell a part by what is sent or received in all; alltoallv only the mean. */
static void find_own_part(const struct collective *what, struct iwi_trace_event *event)
{
    if (!what->has_totals || event->op == IWI_TRACE_ALLTOALL) {
        event->flags |= IWI_FN_MEANS;
        return;
    }
    event->bytes = event->op == IWI_TRACE_SCATTER ? what->received : what->sent;
    event->flags |= IWI_FN_SIZED;
}

/* Our own traces: what goes to whom. */
static iw_status find_sizes(struct iwi_otf2_events *e, const OTF2_AttributeList *attributes,
                            const struct collective *what, struct iwi_trace_event *event)
{
    const struct iwi_def_sizes *found;
    OTF2_AttributeValue number;

    if (!otf2_get(e, attributes, IWI_ATTR_SIZES, &number)) {
        const bool has_sizes = is_v(what->op) || what->op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER;

        if (e->in->format > 1) {
            event->flags |= has_sizes ? IWI_FN_SIZED : 0;
        } else if (is_v(what->op)) {
            find_own_part(what, event);
        }
        return IW_OK;
    }
    if (number.uint32 == UINT32_MAX) { /* found no room */
        event->flags |= IWI_FN_MEANS;
        return IW_OK;
    }
    found = iwi_defs_find(&e->in->size_lists, (uint64_t)e->builder->rank << 32 | number.uint32);
    if (found == NULL) {
        return otf2_refuse(e, "missing list of sizes", number.uint32);
    }
    event->sizes = (uint32_t)(found - (const struct iwi_def_sizes *)e->in->size_lists.items) + 1;
    event->flags |= IWI_FN_SIZED;
    event->sent = what->has_totals ? what->sent : sum_of(e->in, &found->list);
    return IW_OK;
}

/* The rank's own place in a communicator, which may be long to search. */
static uint32_t own_position(struct iwi_otf2_events *e, uint32_t index)
{
    if (e->seen_comm != index) {
        const struct iwi_comm *comm = &e->in->comms[index];

        e->seen_comm = index;
        e->seen_position = otf2_position(comm, comm->size, e->builder->rank);
    }
    return e->seen_position;
}

static iw_status describe(struct iwi_otf2_events *e, const OTF2_AttributeList *attributes,
                          const struct collective *what, struct iwi_trace_event *event)
{
    const struct iwi_def_comm *def = iwi_defs_find(&e->in->comm_defs, what->comm);
    OTF2_AttributeValue bytes;
    uint32_t size, me;
    bool is_self;

    if (what->op == OP_NEIGHBOR) {
        event->op = IWI_TRACE_NEIGHBOR;
    } else {
        event->op = what->op < sizeof ops ? ops[what->op] : NOT_FOLLOWED;
    }
    IW_TRY(otf2_translate(e, what->comm, 0, event));
    event->is_opaque = event->is_opaque || event->op == NOT_FOLLOWED || def->form == IWI_COMM_INTER;
    if (event->is_opaque) {
        if (event->op == NOT_FOLLOWED) {
            iwi_build_note(e->builder, IWI_GAP_OPAQUE, NULL);
        } else if (def != NULL && def->form == IWI_COMM_INTER) {
            iwi_build_note(e->builder, IWI_GAP_INTERCOMM, NULL);
        }
        return IW_OK;
    }
    is_self = event->comm >= e->in->comm_count;
    size = is_self ? 1 : e->in->comms[event->comm].size;
    me = is_self ? 0 : own_position(e, event->comm);
    if (me >= size) {
        return otf2_refuse(e, "the rank is not in its communicator,", what->comm);
    }
    event->peer = is_rooted(event->op) ? what->root : 0;
    if (event->peer >= size) {
        return otf2_refuse(e, "the communicator has no root", what->root);
    }
    if (e->in->sizes == IWI_SIZES_ATTRIBUTE) {
        event->bytes = otf2_get(e, attributes, IWI_ATTR_BYTES, &bytes) ? bytes.uint64 : 0;
        event->sent = what->has_totals ? what->sent : iwi_bytes_of_collective(event->op, event->bytes, size);
        return find_sizes(e, attributes, what, event);
    } else {
        const bool has_sums = what->op == OTF2_COLLECTIVE_OP_ALLGATHERV ||
                              what->op == OTF2_COLLECTIVE_OP_ALLTOALLV ||
                              what->op == OTF2_COLLECTIVE_OP_ALLTOALLW;

        event->bytes = otf2_bytes(e->in->sizes, has_sums, event->op, size, me, what->sent, what->received);
        event->sent = e->in->sizes == IWI_SIZES_TOTAL
                          ? what->sent
                          : iwi_bytes_of_collective(event->op, event->bytes, size);
        event->flags |= is_v(what->op) ? IWI_FN_MEANS : 0;
    }
    return IW_OK;
}

static OTF2_CallbackCode on_collective(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                       void *user, OTF2_AttributeList *attributes, OTF2_CollectiveOp op,
                                       OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
    struct iwi_trace_event event = {.type = IWI_EV_COLLECTIVE};
    const struct collective what = {op, comm, root, sent, received, true};
    iw_status status = describe(user, attributes, &what, &event);

    (void)location;
    (void)at;
    if (status == IW_OK) {
        status = otf2_emit(user, time, &event);
    }
    return otf2_pass_on(user, status);
}

/* Our own traces tell at once what is asked for, others when it is complete. */
static OTF2_CallbackCode on_icollective_request(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                                void *user, OTF2_AttributeList *attributes, uint64_t request)
{
    struct iwi_otf2_events *e = user;
    struct iwi_trace_event event = {
        .type = IWI_EV_ICOLLECTIVE_POSTED, .comm = IWI_NO_COMM, .request = request};
    OTF2_AttributeValue comm, op, root;
    iw_status status = IW_OK;

    (void)location;
    (void)at;
    if (otf2_get_comm(e, attributes, &comm) && otf2_get(e, attributes, IWI_ATTR_OP, &op)) {
        const struct collective what = {
            op.uint8, comm.commRef, otf2_get(e, attributes, IWI_ATTR_ROOT, &root) ? root.uint32 : 0, 0,
            0,        false};

        status = describe(e, attributes, &what, &event);
    }
    return otf2_pass_on(e, status == IW_OK ? otf2_emit(e, time, &event) : status);
}

/* NOLINTNEXTLINE(readability-function-size): its parameters are libotf2's */
static OTF2_CallbackCode on_icollective_complete(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                                 void *user, OTF2_AttributeList *attributes,
                                                 OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                                 uint64_t sent, uint64_t received, uint64_t request)
{
    struct iwi_otf2_events *e = user;
    struct iwi_trace_event event = {.type = IWI_EV_ICOLLECTIVE, .request = request};
    const struct collective what = {op, comm, root, sent, received, true};
    iw_status status = IW_OK;

    (void)location;
    (void)at;
    if (e->in->sizes != IWI_SIZES_ATTRIBUTE) {
        status = describe(e, attributes, &what, &event);
    }
    return otf2_pass_on(e, status == IW_OK ? otf2_emit(e, time, &event) : status);
}

static void otf2_set_collectives(OTF2_EvtReaderCallbacks *callbacks)
{
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, on_icollective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, on_icollective_complete);
}

/* ---- messages ---- */

static iw_status message(struct iwi_otf2_events *e, uint64_t ticks, const OTF2_AttributeList *attributes,
                         struct iwi_trace_event event, uint32_t peer, uint32_t comm, uint32_t tag)
{
    OTF2_AttributeValue mode;

    IW_TRY(otf2_translate(e, comm, peer, &event));
    if (tag > INT32_MAX && event.peer != IWI_PEER_NULL) {
        return otf2_refuse(e, "its tag is not a tag,", tag);
    }
    event.tag = (int32_t)(tag & INT32_MAX);
    if (otf2_get(e, attributes, IWI_ATTR_MODE, &mode)) {
        event.flags = mode.uint8 == 1 ? IWI_FN_BUFFERED : (mode.uint8 == 2 ? IWI_FN_SYNCHRONOUS : 0);
    }
    return otf2_emit(e, ticks, &event);
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                 OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    const struct iwi_trace_event event = {.type = IWI_EV_SEND, .bytes = bytes};

    (void)location;
    (void)at;
    return otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

static OTF2_CallbackCode on_recv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                 OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    const struct iwi_trace_event event = {.type = IWI_EV_RECV, .bytes = bytes};

    (void)location;
    (void)at;
    return otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    const struct iwi_trace_event event = {.type = IWI_EV_ISEND, .bytes = bytes, .request = request};

    (void)location;
    (void)at;
    return otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

static OTF2_CallbackCode on_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    const struct iwi_trace_event event = {.type = IWI_EV_IRECV, .bytes = bytes, .request = request};

    (void)location;
    (void)at;
    return otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

/* What was posted helps if the receive is never seen to complete. */
static OTF2_CallbackCode on_irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                          void *user, OTF2_AttributeList *attributes, uint64_t request)
{
    struct iwi_otf2_events *e = user;
    struct iwi_trace_event event = {.type = IWI_EV_IRECV_POSTED,
                                    .comm = IWI_NO_COMM,
                                    .peer = IWI_PEER_UNKNOWN,
                                    .tag = IWI_TAG_UNKNOWN,
                                    .request = request};
    OTF2_AttributeValue comm, source, tag;
    iw_status status = IW_OK;

    (void)location;
    (void)at;
    if (otf2_get_comm(e, attributes, &comm) && otf2_get(e, attributes, IWI_ATTR_POSTED_SOURCE, &source)) {
        const bool is_any = source.int32 < 0;

        status = otf2_translate(e, comm.commRef, is_any ? 0 : (uint32_t)source.int32, &event);
        event.peer = is_any && !event.is_opaque ? IWI_PEER_UNKNOWN : event.peer;
        event.tag = otf2_get(e, attributes, IWI_ATTR_POSTED_TAG, &tag) && tag.int32 >= 0 ? tag.int32
                                                                                         : IWI_TAG_UNKNOWN;
    }
    return otf2_pass_on(e, status == IW_OK ? otf2_emit(e, time, &event) : status);
}

static OTF2_CallbackCode completed(struct iwi_otf2_events *e, uint64_t time, uint8_t type, uint64_t request)
{
    const struct iwi_trace_event event = {.type = type, .request = request};

    return otf2_pass_on(e, otf2_emit(e, time, &event));
}

static OTF2_CallbackCode on_isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                           void *user, OTF2_AttributeList *attributes, uint64_t request)
{
    (void)location;
    (void)at;
    (void)attributes;
    return completed(user, time, IWI_EV_COMPLETED, request);
}

static OTF2_CallbackCode on_cancelled(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                      OTF2_AttributeList *attributes, uint64_t request)
{
    (void)location;
    (void)at;
    (void)attributes;
    return completed(user, time, IWI_EV_CANCELLED, request);
}

static void otf2_set_messages(OTF2_EvtReaderCallbacks *callbacks)
{
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
}

/* ---- regions ---- */

/* Our own traces from format 3 on leave out what is all of the time since the last Leave but failed polls. */
static iw_time cpu_time(const struct iwi_otf2_events *e, const OTF2_AttributeList *attributes,
                        const struct iwi_otf2_raw *raw)
{
    const iw_time told_ps = otf2_get_ns(e, attributes, IWI_ATTR_CPU_NS);

    if (told_ps >= 0 || e->in->format < 3 || !e->has_left) {
        return told_ps;
    }
    return iwi_max(0, raw->time_ps - e->leave_ps - raw->poll_ps);
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
    struct iwi_otf2_events *e = user;
    struct iwi_otf2_raw raw;
    iw_status status = otf2_raw_begin(e, time, IWI_RAW_ENTER, &raw);

    (void)location;
    (void)at;
    raw.region = region;
    raw.poll_ps = iwi_max(0, otf2_get_ns(e, attributes, IWI_ATTR_POLL_NS));
    raw.cpu_ps = cpu_time(e, attributes, &raw);
    if (status == IW_OK) {
        status = iwi_otf2_handle(e, &raw);
    }
    return otf2_pass_on(e, status);
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
    struct iwi_otf2_events *e = user;
    struct iwi_otf2_raw raw;
    OTF2_AttributeValue unknown;
    iw_status status = otf2_raw_begin(e, time, IWI_RAW_LEAVE, &raw);

    (void)location;
    (void)at;
    (void)region;
    raw.unknown = otf2_get(e, attributes, IWI_ATTR_UNKNOWN, &unknown) ? unknown.uint64 : 0;
    e->leave_ps = raw.time_ps;
    e->has_left = true;
    if (status == IW_OK) {
        status = iwi_otf2_handle(e, &raw);
    }
    return otf2_pass_on(e, status);
}

static OTF2_CallbackCode on_switch(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                   OTF2_AttributeList *attributes, OTF2_MeasurementMode mode)
{
    struct iwi_otf2_events *e = user;
    struct iwi_otf2_raw raw;
    iw_status status = otf2_raw_begin(e, time, mode == OTF2_MEASUREMENT_ON ? IWI_RAW_ON : IWI_RAW_OFF, &raw);

    (void)location;
    (void)at;
    (void)attributes;
    e->leave_ps = raw.time_ps;
    e->has_left = true;
    if (status == IW_OK) {
        status = iwi_otf2_handle(e, &raw);
    }
    return otf2_pass_on(e, status);
}

/* ---- reading ---- */

static OTF2_EvtReaderCallbacks *callbacks(void)
{
    OTF2_EvtReaderCallbacks *cb = OTF2_EvtReaderCallbacks_New();

    if (cb != NULL) {
        OTF2_EvtReaderCallbacks_SetEnterCallback(cb, on_enter);
        OTF2_EvtReaderCallbacks_SetLeaveCallback(cb, on_leave);
        OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(cb, on_switch);
        otf2_set_messages(cb);
        otf2_set_collectives(cb);
    }
    return cb;
}

static iw_status read_events(struct iwi_otf2_events *e, const struct iwi_def_location *location,
                             OTF2_EvtReader *evt_reader)
{
    uint64_t count = 0;
    OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(e->in->reader, evt_reader, &count);

    IW_TRY(e->status);
    if (code != OTF2_SUCCESS) {
        return iwi_fail(e->in->log, IW_ERR_TRUNCATED,
                        "'%s': the events of rank %" PRIu32 " (location %" PRIu64 ") break off after %" PRIu64
                        " records: %s",
                        e->in->path, e->builder->rank, location->id, count, OTF2_Error_GetDescription(code));
    }
    if (count < location->event_count) {
        return iwi_fail(e->in->log, IW_ERR_TRUNCATED,
                        "'%s': rank %" PRIu32 " (location %" PRIu64 ") has %" PRIu64
                        " records instead of %" PRIu64,
                        e->in->path, e->builder->rank, location->id, count, location->event_count);
    }
    return IW_OK;
}

/* Reads the events of one location. */
static iw_status otf2_read_location(struct iwi_otf2_events *e, const struct iwi_def_location *location)
{
    OTF2_EvtReader *evt_reader = OTF2_Reader_GetEvtReader(e->in->reader, location->id);
    OTF2_EvtReaderCallbacks *cb;
    iw_status status;

    if (evt_reader == NULL) {
        return iwi_fail(e->in->log, IW_ERR_IO,
                        "'%s': cannot read the events of rank %" PRIu32 " (location %" PRIu64 ")",
                        e->in->path, e->builder->rank, location->id);
    }
    e->last_ps = -IW_TIME_INPUT_MAX;
    e->has_left = false;
    e->event_number = 0;
    cb = callbacks();
    (void)OTF2_Reader_RegisterEvtCallbacks(e->in->reader, evt_reader, cb, e);
    OTF2_EvtReaderCallbacks_Delete(cb);
    status = read_events(e, location, evt_reader);
    (void)OTF2_Reader_CloseEvtReader(e->in->reader, evt_reader);
    return status;
}

static iw_status read_locations(struct iwi_otf2_events *e)
{
    const struct iwi_def_location *locations = e->in->locations.items;

    for (size_t i = 0; i < e->in->locations.count; i++) {
        if (locations[i].rank == e->builder->rank) {
            IW_TRY(otf2_read_location(e, &locations[i]));
            e->thread++;
        }
    }
    return e->is_buffered ? iwi_otf2_replay(e) : IW_OK;
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
