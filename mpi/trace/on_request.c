/* Recording calls that complete, cancel or free requests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdlib.h>

#include "mpi/trace/comms.h"
#include "mpi/trace/tracer.h"

static bool grow(struct iwi_request_batch *batch, size_t count)
{
    size_t capacity = count > 2 * batch->capacity ? count : 2 * batch->capacity;
    free(batch->ops);
    free(batch->are_unknown);
    free(batch->statuses);
    free(batch->handles);
    batch->ops = calloc(capacity, sizeof(void *));
    batch->are_unknown = calloc(capacity, sizeof(bool));
    batch->statuses = calloc(capacity, sizeof *batch->statuses);
    batch->handles = calloc(capacity, sizeof(MPI_Request));
    batch->capacity = capacity;
    if (batch->ops == NULL || batch->are_unknown == NULL || batch->statuses == NULL || batch->handles == NULL) {
        batch->capacity = 0;
        return false;
    }
    return true;
}

static bool make_room(struct iwi_request_batch *batch, size_t count)
{
    return count <= batch->capacity || grow(batch, count);
}

void iwi_request_batch_take(struct iwi_thread *thread, int count, const MPI_Request *requests)
{
    struct iwi_request_batch *batch = &thread->batch;

    batch->count = 0;
    batch->unknown = 0;
    batch->wants_status = false;
    if (count <= 0 || requests == NULL) {
        return;
    }
    if (!make_room(batch, (size_t)count)) {
        iwi_tracer_fail(ENOMEM, "following requests");
        return;
    }
    batch->count = count;
    for (int i = 0; i < count; i++) {
        struct iwi_op *op = requests[i] != MPI_REQUEST_NULL
                                ? iwi_requests_take(&iwi_tracer.requests, iwi_request_key(requests[i]))
                                : NULL;
        batch->are_unknown[i] = op == NULL && requests[i] != MPI_REQUEST_NULL;
        if (op != NULL && !op->is_active) {
            iwi_requests_put_back(&iwi_tracer.requests, op);
            op = NULL;
        }
        batch->ops[i] = op;
        if (op != NULL && (op->kind == IWI_OP_RECV || op->kind == IWI_OP_SENDRECV || op->has_cancel)) {
            batch->wants_status = true;
        }
    }
}

void iwi_request_batch_take_f(struct iwi_thread *thread, int count, const MPI_Fint *requests)
{
    if (count > 0 && !make_room(&thread->batch, (size_t)count)) {
        iwi_tracer_fail(ENOMEM, "following requests");
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        thread->batch.handles[i] = MPI_Request_f2c(requests[i]);
    }
    iwi_request_batch_take(thread, count, thread->batch.handles);
}

static void write_irecv(struct iwi_thread *thread, const struct iwi_op *op, uint64_t request,
                        const MPI_Status *status)
{
    struct iwi_record_message message = {.kind = IWI_RECORD_IRECV,
                                         .comm = op->comm,
                                         .peer = status->MPI_SOURCE,
                                         .tag = status->MPI_TAG,
                                         .bytes = op->bytes,
                                         .request = iwi_writer_ended(&thread->writer, request)};
    bool is_it = (op->peer < 0 || op->peer == message.peer) && (op->tag < 0 || op->tag == message.tag);

    if (!is_it) { /* MPICH 4.0 leaves the status of MPI_Isendrecv as it was */
        message.peer = op->peer;
        message.tag = op->tag;
    } else {
        (void)iwi_received_bytes(status, &message.bytes);
    }
    iwi_put_message(thread, &message);
}

static void write_collective(struct iwi_thread *thread, const struct iwi_op *op, uint32_t new_comm)
{
    struct iwi_record_collective *room = iwi_item(thread, sizeof *room);

    if (room != NULL) {
        *room = (struct iwi_record_collective){.kind = IWI_RECORD_ICOLLECTIVE_COMPLETE,
                                               .op = op->collective,
                                               .comm = op->comm,
                                               .root = op->root,
                                               .new_comm = new_comm,
                                               .sent = op->sent,
                                               .received = op->received,
                                               .bytes = op->bytes,
                                               .request = iwi_writer_ended(&thread->writer, op->request)};
    }
}

/* The communicator of an MPI_Comm_idup is there now. */
static uint32_t finish_comm(struct iwi_thread *thread, const struct iwi_op *op)
{
    MPI_Comm made = op->mode != 0 ? MPI_Comm_f2c(*(const MPI_Fint *)op->made) : *(const MPI_Comm *)op->made;
    struct iwi_traced_comm *comm = iwi_comm_adopt(thread, op->comm_key, made);

    return comm != NULL ? comm->id : IWI_NO_NEW_COMM;
}

static void write_end(struct iwi_thread *thread, const struct iwi_op *op, const MPI_Status *status)
{
    uint32_t new_comm = op->kind == IWI_OP_COMM ? finish_comm(thread, op) : IWI_NO_NEW_COMM;

    if (op->request == 0 || iwi_tracer.failure != 0) { /* also while off: it was made while on */
        return;
    }
    int is_cancelled = 0;
    if (op->has_cancel) {
        (void)PMPI_Test_cancelled(status, &is_cancelled);
    }
    if (is_cancelled) {
        iwi_item_word(thread, IWI_RECORD_CANCELLED, iwi_writer_ended(&thread->writer, op->request));
    } else if (op->kind == IWI_OP_RECV) {
        write_irecv(thread, op, op->request, status);
    } else if (op->kind == IWI_OP_COLLECTIVE || op->kind == IWI_OP_COMM) {
        write_collective(thread, op, new_comm);
    } else {
        iwi_item_word(thread, IWI_RECORD_ISEND_COMPLETE, iwi_writer_ended(&thread->writer, op->request));
    }
}

/* Of an MPI_Isendrecv either half may be with MPI_PROC_NULL. */
static void write_end_of_both(struct iwi_thread *thread, const struct iwi_op *op, const MPI_Status *status)
{
    if (op->request != 0 && iwi_tracer.failure == 0) {
        iwi_item_word(thread, IWI_RECORD_ISEND_COMPLETE, iwi_writer_ended(&thread->writer, op->request));
    }
    if (op->recv_request != 0 && iwi_tracer.failure == 0) {
        write_irecv(thread, op, op->recv_request, status);
    }
}

void iwi_request_batch_complete(struct iwi_thread *thread, int i, struct iwi_statuses statuses, int at)
{
    struct iwi_request_batch *batch = &thread->batch;
    struct iwi_op *op = i >= 0 && i < batch->count ? batch->ops[i] : NULL;
    MPI_Status converted;
    const MPI_Status *status = NULL;

    if (op == NULL) {
        batch->unknown += i >= 0 && i < batch->count && batch->are_unknown[i];
        return;
    }
    if (op->kind == IWI_OP_RECV || op->kind == IWI_OP_SENDRECV || op->has_cancel) {
        if (statuses.f != NULL) {
            (void)PMPI_Status_f2c(statuses.f + (ptrdiff_t)at * IWI_F_STATUS_INTS, &converted);
        }
        status = statuses.f != NULL ? &converted : statuses.c + at;
    }
    if (op->kind == IWI_OP_SENDRECV) {
        write_end_of_both(thread, op, status);
    } else {
        write_end(thread, op, status);
    }
    batch->ops[i] = NULL;
    if (op->is_persistent) {
        op->is_active = op->has_cancel = false;
        iwi_requests_put_back(&iwi_tracer.requests, op);
    } else {
        iwi_requests_drop(&iwi_tracer.requests, op);
    }
}

void iwi_request_batch_complete_all(struct iwi_thread *thread, struct iwi_statuses statuses)
{
    for (int i = 0; i < thread->batch.count; i++) {
        iwi_request_batch_complete(thread, i, statuses, i);
    }
}

/* From the last to the first: each becomes the oldest of its handle again. */
void iwi_request_batch_put_back(struct iwi_thread *thread)
{
    if (thread->batch.unknown > 0 && thread->is_writing) {
        iwi_item_word(thread, IWI_RECORD_UNKNOWN, thread->batch.unknown);
    }
    for (int i = thread->batch.count - 1; i >= 0; i--) {
        if (thread->batch.ops[i] != NULL) {
            iwi_requests_put_back(&iwi_tracer.requests, thread->batch.ops[i]);
        }
    }
    thread->batch.count = 0;
}

void iwi_request_batch_forget(struct iwi_thread *thread)
{
    for (int i = 0; i < thread->batch.count; i++) {
        if (thread->batch.ops[i] != NULL) {
            iwi_requests_drop(&iwi_tracer.requests, thread->batch.ops[i]);
        }
    }
    thread->batch.count = 0;
}

void iwi_on_cancel(MPI_Request request)
{
    struct iwi_op *op = iwi_requests_take(&iwi_tracer.requests, iwi_request_key(request));

    if (op != NULL) {
        op->has_cancel = true;
        iwi_requests_put_back(&iwi_tracer.requests, op);
    }
}

void iwi_on_request_free(MPI_Request request)
{
    struct iwi_op *op = iwi_requests_take(&iwi_tracer.requests, iwi_request_key(request));

    if (op != NULL) {
        iwi_requests_drop(&iwi_tracer.requests, op);
    }
}
