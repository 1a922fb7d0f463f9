/* A hash table of operations by handle, in chains from old to new.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/requests.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 256
#define BLOCK 128

static size_t bucket_of(const struct iwi_requests *requests, uint64_t handle)
{
    return (size_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (requests->bucket_count - 1);
}

static void lock(struct iwi_requests *requests)
{
    if (requests->is_locked) {
        (void)pthread_mutex_lock(&requests->mutex);
    }
}

static void unlock(struct iwi_requests *requests)
{
    if (requests->is_locked) {
        (void)pthread_mutex_unlock(&requests->mutex);
    }
}

bool iwi_requests_init(struct iwi_requests *requests, bool is_locked)
{
    memset(requests, 0, sizeof *requests);
    requests->buckets = calloc(FIRST_BUCKETS, sizeof *requests->buckets);
    requests->bucket_count = FIRST_BUCKETS;
    requests->is_locked = is_locked;
    (void)pthread_mutex_init(&requests->mutex, NULL);
    return requests->buckets != NULL;
}

void iwi_requests_release(struct iwi_requests *requests)
{
    for (size_t i = 0; i < requests->block_count; i++) {
        free(requests->blocks[i]);
    }
    free(requests->blocks);
    free(requests->buckets);
    (void)pthread_mutex_destroy(&requests->mutex);
    memset(requests, 0, sizeof *requests);
}

static bool add_block(struct iwi_requests *requests)
{
    struct iwi_op **blocks = realloc(requests->blocks, (requests->block_count + 1) * sizeof(void *));

    if (blocks == NULL) {
        return false;
    }
    requests->blocks = blocks;
    struct iwi_op *block = calloc(BLOCK, sizeof *block);
    if (block == NULL) {
        return false;
    }
    requests->blocks[requests->block_count++] = block;
    for (size_t i = 0; i < BLOCK; i++) {
        block[i].next = requests->unused;
        requests->unused = &block[i];
    }
    return true;
}

static void append(struct iwi_requests *requests, struct iwi_op *op)
{
    struct iwi_op_chain *chain = &requests->buckets[bucket_of(requests, op->handle)];

    op->next = NULL;
    if (chain->last != NULL) {
        chain->last->next = op;
    } else {
        chain->first = op;
    }
    chain->last = op;
}

/* Failing leaves longer chains, no harm. */
static void widen(struct iwi_requests *requests)
{
    size_t old_count = requests->bucket_count;
    struct iwi_op_chain *old = requests->buckets;
    struct iwi_op_chain *wider = calloc(old_count * 2, sizeof *wider);

    if (wider == NULL) {
        return;
    }
    requests->buckets = wider;
    requests->bucket_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++) {
        for (struct iwi_op *op = old[i].first; op != NULL;) {
            struct iwi_op *next = op->next;
            append(requests, op);
            op = next;
        }
    }
    free(old);
}

/* Field by field: of memset() gcc makes an instruction that takes longer than all else here. */
static void clear(struct iwi_op *op)
{
    op->next = NULL;
    op->handle = op->request = op->recv_request = 0;
    op->bytes = op->sent = op->received = 0;
    op->comm = op->root = op->sizes = 0;
    op->peer = op->tag = 0;
    op->made = NULL;
    op->comm_key = 0;
    op->kind = op->mode = op->collective = op->is_neighbor = 0;
    op->is_persistent = op->is_active = op->has_cancel = false;
}

struct iwi_op *iwi_requests_new(struct iwi_requests *requests)
{
    lock(requests);
    struct iwi_op *op = requests->unused != NULL || add_block(requests) ? requests->unused : NULL;
    if (op != NULL) {
        requests->unused = op->next;
        requests->op_count++;
    }
    unlock(requests);
    if (op != NULL) {
        clear(op);
    }
    return op;
}

void iwi_requests_add(struct iwi_requests *requests, struct iwi_op *op)
{
    lock(requests);
    if (requests->op_count > requests->bucket_count) {
        widen(requests);
    }
    append(requests, op);
    unlock(requests);
}

struct iwi_op *iwi_requests_take(struct iwi_requests *requests, uint64_t handle)
{
    lock(requests);
    struct iwi_op_chain *chain = &requests->buckets[bucket_of(requests, handle)];
    struct iwi_op *before = NULL;
    struct iwi_op *op = chain->first;
    while (op != NULL && op->handle != handle) {
        before = op;
        op = op->next;
    }
    if (op != NULL) {
        *(before != NULL ? &before->next : &chain->first) = op->next;
        chain->last = chain->last == op ? before : chain->last;
    }
    unlock(requests);
    return op;
}

void iwi_requests_put_back(struct iwi_requests *requests, struct iwi_op *op)
{
    lock(requests);
    struct iwi_op_chain *chain = &requests->buckets[bucket_of(requests, op->handle)];
    op->next = chain->first;
    chain->first = op;
    chain->last = chain->last == NULL ? op : chain->last;
    unlock(requests);
}

void iwi_requests_drop(struct iwi_requests *requests, struct iwi_op *op)
{
    lock(requests);
    op->next = requests->unused;
    requests->unused = op;
    requests->op_count--;
    unlock(requests);
}
