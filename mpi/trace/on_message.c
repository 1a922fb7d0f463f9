/* Recording point-to-point calls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>

#include "mpi/trace/comms.h"
#include "mpi/trace/tracer.h"

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) {
        return 0;
    }
    return (uint64_t)count * (uint64_t)size;
}

static uint64_t received_bytes(const MPI_Status *status)
{
    MPI_Count bytes = 0;

    if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0) {
        return 0;
    }
    return (uint64_t)bytes;
}

static int32_t or_wildcard(int value, int wildcard)
{
    return value == wildcard ? -1 : value;
}

static void write_message(struct iwi_thread *thread, const struct iwi_record_message *message)
{
    struct iwi_record_message *room = iwi_record(thread, sizeof *room);

    if (room != NULL) {
        *room = *message;
    }
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
                                                   .bytes = bytes_of(args->count, args->type)};
        write_message(thread, &message);
    }
}

static void write_received(struct iwi_thread *thread, uint32_t comm, const struct iwi_message_args *args,
                           const MPI_Status *status)
{
    struct iwi_record_message came = {.kind = IWI_RECORD_RECV,
                                      .comm = comm,
                                      .peer = status->MPI_SOURCE,
                                      .tag = status->MPI_TAG,
                                      .bytes = received_bytes(status)};
    const struct iwi_record_message posted = {.kind = IWI_RECORD_RECV_POSTED,
                                              .comm = comm,
                                              .peer = or_wildcard(args->peer, MPI_ANY_SOURCE),
                                              .tag = or_wildcard(args->tag, MPI_ANY_TAG),
                                              .bytes = bytes_of(args->count, args->type)};

    if (posted.peer != came.peer || posted.tag != came.tag || posted.bytes != came.bytes) {
        write_message(thread, &posted);
    }
    write_message(thread, &came);
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

static uint64_t next_request(const struct iwi_thread *thread)
{
    return thread->is_writing
               ? atomic_fetch_add_explicit(&iwi_tracer.request_count, 1, memory_order_relaxed) + 1
               : 0;
}

static void follow(struct iwi_op *op, MPI_Request request)
{
    if (request == MPI_REQUEST_NULL) {
        return;
    }
    op->handle = iwi_request_key(request);
    if (iwi_requests_add(&iwi_tracer.requests, op) == NULL) {
        iwi_tracer_fail(ENOMEM, "following a request");
    }
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
                                               .request = request};

    write_message(thread, &message);
}

/* An operation of that kind on args->comm; of kind NONE if there is nothing to tell. */
static struct iwi_op operation(struct iwi_thread *thread, enum iwi_request_kind kind,
                               const struct iwi_message_args *args)
{
    struct iwi_op op = {.kind = IWI_OP_NONE};
    struct iwi_traced_comm *comm = args->peer != MPI_PROC_NULL ? iwi_comm_find(thread, args->comm) : NULL;

    if (comm != NULL) {
        op.kind = (uint8_t)kind;
        op.comm = comm->id;
        op.peer = or_wildcard(args->peer, MPI_ANY_SOURCE);
        op.tag = or_wildcard(args->tag, MPI_ANY_TAG);
        op.bytes = bytes_of(args->count, args->type);
    }
    return op;
}

static void start(struct iwi_thread *thread, struct iwi_op *op)
{
    op->is_active = true;
    op->request = op->kind != IWI_OP_NONE ? next_request(thread) : 0;
    if (op->request != 0 && op->kind == IWI_OP_SEND) {
        write_started(thread, op, IWI_RECORD_ISEND, op->request);
    } else if (op->request != 0 && op->kind == IWI_OP_RECV) {
        write_started(thread, op, IWI_RECORD_IRECV_REQUEST, op->request);
    } else if (op->request != 0 && op->kind == IWI_OP_COLLECTIVE) {
        struct iwi_record_collective *room = iwi_record(thread, sizeof *room);
        if (room != NULL) {
            *room = iwi_started_collective(op);
        }
    }
}

void iwi_on_isend(struct iwi_thread *thread, const struct iwi_message_args *args, enum iwi_send_mode mode,
                  MPI_Request request, bool is_persistent)
{
    struct iwi_op op = operation(thread, IWI_OP_SEND, args);

    op.mode = (uint8_t)mode;
    op.is_persistent = is_persistent;
    if (!is_persistent) {
        start(thread, &op);
    }
    follow(&op, request);
}

void iwi_on_irecv(struct iwi_thread *thread, const struct iwi_message_args *args, MPI_Request request,
                  bool is_persistent)
{
    struct iwi_op op = operation(thread, IWI_OP_RECV, args);

    op.is_persistent = is_persistent;
    if (!is_persistent) {
        start(thread, &op);
    }
    follow(&op, request);
}

void iwi_on_isendrecv(struct iwi_thread *thread, const struct iwi_message_args *send,
                      const struct iwi_message_args *recv, MPI_Request request)
{
    struct iwi_op sent = operation(thread, IWI_OP_SEND, send);
    struct iwi_op op = operation(thread, IWI_OP_RECV, recv);

    start(thread, &sent);
    start(thread, &op);
    op.recv_request = op.request;
    op.request = sent.request;
    op.kind = IWI_OP_SENDRECV;
    follow(&op, request);
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
    struct iwi_op op = {
        .kind = IWI_OP_MESSAGE, .handle = message_key(message), .comm = comm != NULL ? comm->id : 0};
    if (comm == NULL || iwi_requests_add(&iwi_tracer.messages, &op) == NULL) {
        iwi_tracer_fail(ENOMEM, "following a probed message");
    }
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
    struct iwi_op op = {.kind = IWI_OP_NONE};

    if (probed != NULL) {
        op = (struct iwi_op){.kind = IWI_OP_RECV,
                             .comm = probed->comm,
                             .peer = -1,
                             .tag = -1,
                             .bytes = bytes_of(args->count, args->type)};
        iwi_requests_drop(&iwi_tracer.messages, probed);
    }
    start(thread, &op);
    follow(&op, request);
}
