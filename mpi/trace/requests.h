/* The operations behind MPI requests, found by the request's handle.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Several operations may stand behind one handle: MPICH gives the same one to all sends that were done at
 * once. They are found in the order in which they were added. While a call waits, what it waits for is taken
 * out, so that a handle that occurs twice in its array gets two operations.
 */
#ifndef IWI_TRACE_REQUESTS_H
#define IWI_TRACE_REQUESTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum iwi_request_kind {
    IWI_OP_NONE, /* nothing to tell at its end: MPI_PROC_NULL */
    IWI_OP_SEND,
    IWI_OP_RECV,
    IWI_OP_SENDRECV,
    IWI_OP_COLLECTIVE,
    IWI_OP_COMM,   /* makes a communicator */
    IWI_OP_MESSAGE /* found by a probe, to be received by its handle */
};

struct iwi_op {
    struct iwi_op *next;
    uint64_t handle;
    uint64_t request;      /* 0: made while recording was off */
    uint64_t recv_request; /* IWI_OP_SENDRECV */
    uint64_t bytes, sent, received;
    uint32_t comm, root, sizes;
    int32_t peer, tag;
    const void *made;  /* IWI_OP_COMM: where its handle will be; a Fortran one if mode is not 0 */
    uint64_t comm_key; /* IWI_OP_COMM: what it will be known by */
    uint8_t kind, mode, collective, is_neighbor;
    bool is_persistent, is_active, has_cancel;
};

struct iwi_op_chain {
    struct iwi_op *first, *last;
};

struct iwi_requests {
    struct iwi_op_chain *buckets;
    size_t bucket_count, op_count;
    struct iwi_op *unused;
    struct iwi_op **blocks; /* for release */
    size_t block_count;
    bool is_locked; /* several threads call MPI at once */
    pthread_mutex_t mutex;
};

/* All false or NULL: no memory. */
bool iwi_requests_init(struct iwi_requests *requests, bool is_locked);
void iwi_requests_release(struct iwi_requests *requests);

/* An operation that no handle finds yet, all 0; NULL: no memory. To be added or dropped. */
struct iwi_op *iwi_requests_new(struct iwi_requests *requests);

/* From now on it is found by op->handle. */
void iwi_requests_add(struct iwi_requests *requests, struct iwi_op *op);

/* Takes out the oldest operation of that handle, or gives NULL. */
struct iwi_op *iwi_requests_take(struct iwi_requests *requests, uint64_t handle);

/* Puts back what was taken; it is the oldest again. */
void iwi_requests_put_back(struct iwi_requests *requests, struct iwi_op *op);

/* Forgets what was taken. */
void iwi_requests_drop(struct iwi_requests *requests, struct iwi_op *op);

#endif
