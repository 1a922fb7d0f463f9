/* Recording point-to-point calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <string.h>

#include "mpi/trace/comms.h"
#include "mpi/trace/tracer.h"

/* Only of MPI's own types, whose handles are never given to others, MPI is asked once. */
uint64_t iwi_type_ask_size(MPI_Datatype type)
{
    struct iwi_sized_type *cached =
        &iwi_self->cached_types[iwi_slot_of((uint64_t)(uintptr_t)type, IWI_TYPE_CACHE)];
    MPI_Count size = 0;
    int integers, addresses, types, combiner;

    /* of MPI_DATATYPE_NULL MPI would end the program */
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) {
        return 0;
    }
    if (cached->type != type || !cached->is_asked) {
        bool is_named = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
                        combiner == MPI_COMBINER_NAMED;
        *cached = (struct iwi_sized_type){type, (uint64_t)size, true, is_named};
    }
    return (uint64_t)size;
}

/* The bytes of a message, where this MPI keeps them. */
static uint64_t kept_bytes(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return status->_ucount;
#elif defined(MPICH_VERSION)
    return (uint64_t)(uint32_t)status->count_lo | (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#else
    (void)status;
    return UINT64_MAX;
#endif
}

void iwi_try_statuses(void)
{
    static const MPI_Count TRIED[] = {0, 1, 4711, (MPI_Count)5 << 31};

    iwi_tracer.knows_statuses = true;
    for (size_t i = 0; i < sizeof TRIED / sizeof *TRIED; i++) {
        MPI_Status status;
        MPI_Count bytes = -1;
        memset(&status, 0, sizeof status);
        iwi_tracer.knows_statuses =
            PMPI_Status_set_elements_x(&status, MPI_BYTE, TRIED[i]) == MPI_SUCCESS &&
            PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes == TRIED[i] &&
            kept_bytes(&status) == (uint64_t)bytes && iwi_tracer.knows_statuses;
    }
}

bool iwi_received_bytes(const MPI_Status *status, uint64_t *bytes_p)
{
    MPI_Count bytes = 0;

    if (iwi_tracer.knows_statuses) {
        bytes = (MPI_Count)kept_bytes(status);
    } else if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS) {
        return false;
    }
    *bytes_p = bytes >= 0 ? (uint64_t)bytes : *bytes_p;
    return bytes >= 0;
}

static int32_t or_wildcard(int value, int wildcard)
{
    return value == wildcard ? -1 : value;
}

void iwi_on_send(struct iwi_thread *thread, const struct iwi_message_args *args, enum iwi_send_mode mode)
{
    if (!thread->is_writing || args->peer == MPI_PROC_NULL) {
        return;
    }
    struct iwi_traced_comm *comm = iwi_comm_find(thread, args->comm);
    if (comm != NULL) {
        const struct iwi_record_message message = {.kind = IWI_RECORD_SEND,
                                                   .mode = (uint8_t)mode,
                                                   .comm = comm->id,
                                                   .peer = args->peer,
                                                   .tag = args->tag,
                                                   .bytes = iwi_bytes_of(args->count, args->type)};
        iwi_put_message(thread, &message);
    }
}

static void write_received(struct iwi_thread *thread, uint32_t comm, const struct iwi_message_args *args,
                           const MPI_Status *status)
{
    struct iwi_record_message came = {.kind = IWI_RECORD_RECV,
                                      .comm = comm,
                                      .peer = status->MPI_SOURCE,
                                      .tag = status->MPI_TAG};
    const struct iwi_record_message posted = {.kind = IWI_RECORD_RECV_POSTED,
                                              .comm = comm,
                                              .peer = or_wildcard(args->peer, MPI_ANY_SOURCE),
                                              .tag = or_wildcard(args->tag, MPI_ANY_TAG),
                                              .bytes = iwi_bytes_of(args->count, args->type)};

    (void)iwi_received_bytes(status, &came.bytes);
    if (posted.peer != came.peer || posted.tag != came.tag || posted.bytes != came.bytes) {
        iwi_put_message(thread, &posted);
    }
    iwi_put_message(thread, &came);
}

void iwi_on_recv(struct iwi_thread *thread, const struct iwi_message_args *args, const MPI_Status *status)
{
    if (!thread->is_writing || args->peer == MPI_PROC_NULL) {
        return;
    }
    struct iwi_traced_comm *comm = iwi_comm_find(thread, args->comm);
    if (comm != NULL) {
        write_received(thread, comm->id, args, status);
    }
}

static struct iwi_op *new_op(void)
{
    struct iwi_op *op = iwi_requests_new(&iwi_tracer.requests);

    if (op == NULL) {
        iwi_tracer_fail(ENOMEM, "following a request");
    }
    return op;
}

static void follow(struct iwi_op *op, MPI_Request request)
{
    if (request == MPI_REQUEST_NULL) {
        iwi_requests_drop(&iwi_tracer.requests, op);
        return;
    }
    op->handle = iwi_request_key(request);
    iwi_requests_add(&iwi_tracer.requests, op);
}

static void write_started(struct iwi_thread *thread, const struct iwi_op *op, enum iwi_record_kind kind,
                          uint64_t request)
{
    const struct iwi_record_message message = {.kind = (uint8_t)kind,
                                               .mode = op->mode,
                                               .comm = op->comm,
                                               .peer = op->peer,
                                               .tag = op->tag,
                                               .bytes = op->bytes,
                                               .request = iwi_writer_started(&thread->writer, request)};

    iwi_put_message(thread, &message);
}

/* An operation of that kind on args->comm; of kind NONE if there is nothing to tell. */
static void describe(struct iwi_thread *thread, struct iwi_op *op, enum iwi_request_kind kind,
                     const struct iwi_message_args *args)
{
    struct iwi_traced_comm *comm = args->peer != MPI_PROC_NULL ? iwi_comm_find(thread, args->comm) : NULL;

    if (comm != NULL) {
        op->kind = (uint8_t)kind;
        op->comm = comm->id;
        op->peer = or_wildcard(args->peer, MPI_ANY_SOURCE);
        op->tag = or_wildcard(args->tag, MPI_ANY_TAG);
        op->bytes = iwi_bytes_of(args->count, args->type);
    }
}

static void start(struct iwi_thread *thread, struct iwi_op *op)
{
    op->is_active = true;
    op->request = op->kind != IWI_OP_NONE && thread->is_writing ? iwi_next_request() : 0;
    if (op->request != 0 && op->kind == IWI_OP_SEND) {
        write_started(thread, op, IWI_RECORD_ISEND, op->request);
    } else if (op->request != 0 && op->kind == IWI_OP_RECV) {
        write_started(thread, op, IWI_RECORD_IRECV_REQUEST, op->request);
    } else if (op->request != 0 && op->kind == IWI_OP_COLLECTIVE) {
        struct iwi_record_collective *room = iwi_item(thread, sizeof *room);
        if (room != NULL) {
            *room = iwi_started_collective(thread, op);
        }
    }
}

static void begin(struct iwi_thread *thread, enum iwi_request_kind kind, const struct iwi_message_args *args,
                  enum iwi_send_mode mode, MPI_Request request, bool is_persistent)
{
    struct iwi_op *op = new_op();

    if (op == NULL) {
        return;
    }
    describe(thread, op, kind, args);
    op->mode = (uint8_t)mode;
    op->is_persistent = is_persistent;
    if (!is_persistent) {
        start(thread, op);
    }
    follow(op, request);
}

void iwi_on_isend(struct iwi_thread *thread, const struct iwi_message_args *args, enum iwi_send_mode mode,
                  MPI_Request request, bool is_persistent)
{
    begin(thread, IWI_OP_SEND, args, mode, request, is_persistent);
}

void iwi_on_irecv(struct iwi_thread *thread, const struct iwi_message_args *args, MPI_Request request,
                  bool is_persistent)
{
    begin(thread, IWI_OP_RECV, args, IWI_SEND_STANDARD, request, is_persistent);
}

void iwi_on_isendrecv(struct iwi_thread *thread, const struct iwi_message_args *send,
                      const struct iwi_message_args *recv, MPI_Request request)
{
    struct iwi_op sent = {.kind = IWI_OP_NONE};
    struct iwi_op *op = new_op();

    if (op == NULL) {
        return;
    }
    describe(thread, &sent, IWI_OP_SEND, send);
    describe(thread, op, IWI_OP_RECV, recv);
    start(thread, &sent);
    start(thread, op);
    op->recv_request = op->request;
    op->request = sent.request;
    op->kind = IWI_OP_SENDRECV;
    follow(op, request);
}

void iwi_on_start(struct iwi_thread *thread, MPI_Request request)
{
    struct iwi_op *op = iwi_requests_take(&iwi_tracer.requests, iwi_request_key(request));

    if (op == NULL) {
        return;
    }
    if (op->is_persistent && !op->is_active) {
        start(thread, op);
    }
    iwi_requests_put_back(&iwi_tracer.requests, op);
}

static uint64_t message_key(MPI_Message message)
{
    return (uint64_t)(uintptr_t)message;
}

void iwi_on_mprobe(struct iwi_thread *thread, MPI_Comm handle, MPI_Message message)
{
    if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC) {
        return;
    }
    struct iwi_traced_comm *comm = iwi_comm_find(thread, handle);
    struct iwi_op *op = comm != NULL ? iwi_requests_new(&iwi_tracer.messages) : NULL;
    if (op == NULL) {
        iwi_tracer_fail(ENOMEM, "following a probed message");
        return;
    }
    op->kind = IWI_OP_MESSAGE;
    op->handle = message_key(message);
    op->comm = comm->id;
    iwi_requests_add(&iwi_tracer.messages, op);
}

struct iwi_op *iwi_message_take(MPI_Message message)
{
    return iwi_requests_take(&iwi_tracer.messages, message_key(message));
}

void iwi_on_mrecv(struct iwi_thread *thread, struct iwi_op *probed, const struct iwi_message_args *args,
                  const MPI_Status *status)
{
    if (probed != NULL && thread->is_writing) {
        struct iwi_message_args posted = *args;
        posted.peer = status->MPI_SOURCE;
        posted.tag = status->MPI_TAG;
        write_received(thread, probed->comm, &posted, status);
    }
    if (probed != NULL) {
        iwi_requests_drop(&iwi_tracer.messages, probed);
    }
}

/* The probe knew source and tag, the receive does not: written as wildcards, resolved when it completes. */
void iwi_on_imrecv(struct iwi_thread *thread, struct iwi_op *probed, const struct iwi_message_args *args,
                   MPI_Request request)
{
    struct iwi_op *op = new_op();

    if (probed != NULL && op != NULL) {
        op->kind = IWI_OP_RECV;
        op->comm = probed->comm;
        op->peer = op->tag = -1;
        op->bytes = iwi_bytes_of(args->count, args->type);
    }
    if (probed != NULL) {
        iwi_requests_drop(&iwi_tracer.messages, probed);
    }
    if (op != NULL) {
        start(thread, op);
        follow(op, request);
    }
}
