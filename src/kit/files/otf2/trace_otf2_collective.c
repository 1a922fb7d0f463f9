/* Records of collectives in an OTF2 archive.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_events.h"

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

    if (!iwi_otf2_get(e, attributes, IWI_ATTR_SIZES, &number)) {
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
        return iwi_otf2_refuse(e, "there is no list of sizes", number.uint32);
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
        e->seen_position = iwi_otf2_position(comm, comm->size, e->builder->rank);
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
    IW_TRY(iwi_otf2_translate(e, what->comm, 0, event));
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
        return iwi_otf2_refuse(e, "the rank is not in its communicator,", what->comm);
    }
    event->peer = is_rooted(event->op) ? what->root : 0;
    if (event->peer >= size) {
        return iwi_otf2_refuse(e, "the communicator has no root", what->root);
    }
    if (e->in->sizes == IWI_SIZES_ATTRIBUTE) {
        event->bytes = iwi_otf2_get(e, attributes, IWI_ATTR_BYTES, &bytes) ? bytes.uint64 : 0;
        event->sent = what->has_totals ? what->sent : iwi_bytes_of_collective(event->op, event->bytes, size);
        return find_sizes(e, attributes, what, event);
    } else {
        const bool has_sums = what->op == OTF2_COLLECTIVE_OP_ALLGATHERV ||
                              what->op == OTF2_COLLECTIVE_OP_ALLTOALLV ||
                              what->op == OTF2_COLLECTIVE_OP_ALLTOALLW;

        event->bytes =
            iwi_otf2_bytes(e->in->sizes, has_sums, event->op, size, me, what->sent, what->received);
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
        status = iwi_otf2_emit(user, time, &event);
    }
    return iwi_otf2_pass_on(user, status);
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
    if (iwi_otf2_get(e, attributes, IWI_ATTR_COMM, &comm) && iwi_otf2_get(e, attributes, IWI_ATTR_OP, &op)) {
        const struct collective what = {
            op.uint8, comm.commRef, iwi_otf2_get(e, attributes, IWI_ATTR_ROOT, &root) ? root.uint32 : 0, 0,
            0,        false};

        status = describe(e, attributes, &what, &event);
    }
    return iwi_otf2_pass_on(e, status == IW_OK ? iwi_otf2_emit(e, time, &event) : status);
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
    return iwi_otf2_pass_on(e, status == IW_OK ? iwi_otf2_emit(e, time, &event) : status);
}

void iwi_otf2_set_collectives(OTF2_EvtReaderCallbacks *callbacks)
{
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, on_icollective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, on_icollective_complete);
}
