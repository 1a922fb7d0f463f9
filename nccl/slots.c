/* Operations on their way: from NCCL's startEvent to when the last channel of their kernel has stopped.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * stopEvent of a collective only says that it was enqueued, and may come before or after the events of its
 * kernel, from another thread. It is done when it was enqueued and all its channels have stopped; whoever
 * sees that first closes the slot.
 *
 * A handle is a number: bits 0-1 what it is, 2-7 the channel, 8-23 the slot, 24-63 the generation of the
 * slot. A slot's tag is its generation and its state; events of an older generation are not taken.
 */
#include <stdio.h>
#include <string.h>

#include "recorder.h"

_Static_assert(sizeof(void *) >= 8, "handles are 64-bit numbers");

enum { HANDLE_OP = 1, HANDLE_KERNEL = 2 };
enum { SLOT_FREE = 0, SLOT_TAKEN = 1, SLOT_BUSY = 2, SLOT_STATES = 4 };
enum { MOST_CHANNELS = 64, TRIES = 256 };

#define GENERATIONS (UINT64_C(1) << 40)

struct slot {
    _Atomic uint64_t tag; /* generation * SLOT_STATES + state */
    struct iwi_nccl_comm *_Atomic comm;
    /* written while it is taken, read by who closes it */
    char func[IWI_NCCL_FUNC_SIZE];
    uint64_t sequence, bytes;
    int32_t peer;
    uint8_t channels;
    bool is_message;
    int64_t start_ns;
    /* by any thread */
    _Atomic int64_t stop_ns; /* 0: not enqueued yet */
    _Atomic uint64_t started, stopped; /* a bit for each channel */
    _Atomic int64_t first_gpu_ns, last_gpu_ns, first_ns, last_ns;
};

static struct slot slots[IWI_NCCL_SLOTS];
static _Atomic uint64_t cursor;

static void keep_least(_Atomic int64_t *least, int64_t value)
{
    int64_t before = *least;

    while (value < before && !atomic_compare_exchange_weak(least, &before, value)) {
    }
}

static void keep_most(_Atomic int64_t *most, int64_t value)
{
    int64_t before = *most;

    while (value > before && !atomic_compare_exchange_weak(most, &before, value)) {
    }
}

/* ---- handles ---- */

static void *handle_of(unsigned kind, unsigned channel, size_t index, uint64_t generation)
{
    return (void *)(uintptr_t)(generation << 24 | (uint64_t)index << 8 | channel << 2 | kind);
}

/* The slot, if the handle is of its present generation; NULL: not. */
static struct slot *slot_of(void *handle, unsigned kind, unsigned *channel_p, uint64_t *generation_p)
{
    const uint64_t number = (uintptr_t)handle;
    const size_t index = number >> 8 & 0xffff;

    if ((number & 3) != kind || index >= IWI_NCCL_SLOTS) {
        return NULL;
    }
    *channel_p = number >> 2 & 63;
    *generation_p = number >> 24;
    return slots[index].tag == *generation_p * SLOT_STATES + SLOT_BUSY ? &slots[index] : NULL;
}

/* ---- beginning ---- */

static uint64_t datatype_bytes(const char *name)
{
    static const struct {
        const char *end;
        uint8_t bytes;
    } types[] = {{"64", 8}, {"32", 4}, {"16", 2}, {"Int8", 1}, {"Uint8", 1}, {"e4m3", 1}, {"e5m2", 1}};
    const size_t size = name != NULL ? strlen(name) : 0;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const size_t end_size = strlen(types[i].end);

        if (size >= end_size && strcmp(name + size - end_size, types[i].end) == 0) {
            return types[i].bytes;
        }
    }
    return 1;
}

/* A free slot, taken; NULL: none nearby. */
static struct slot *take_slot(uint64_t *generation_p)
{
    for (unsigned i = 0; i < TRIES; i++) {
        struct slot *slot = &slots[atomic_fetch_add(&cursor, 1) % IWI_NCCL_SLOTS];
        uint64_t tag = slot->tag;

        if (tag % SLOT_STATES == SLOT_FREE && atomic_compare_exchange_strong(&slot->tag, &tag, tag + SLOT_TAKEN)) {
            *generation_p = tag / SLOT_STATES;
            return slot;
        }
    }
    return NULL;
}

void *iwi_nccl_op_start(struct iwi_nccl_comm *comm, const struct iwi_nccl_started *op)
{
    /* counted also where there is no room: others of the group may have some */
    const uint64_t sequence = atomic_fetch_add(op->is_message ? &comm->messages : &comm->colls, 1);
    uint64_t generation;
    struct slot *slot = take_slot(&generation);

    if (slot == NULL) {
        iwi_nccl_count_lost();
        return NULL;
    }
    slot->comm = comm;
    (void)snprintf(slot->func, sizeof slot->func, "%s", op->func != NULL ? op->func : "");
    slot->sequence = sequence;
    slot->bytes = op->count * datatype_bytes(op->datatype);
    slot->peer = op->peer;
    slot->channels = op->channels < MOST_CHANNELS ? op->channels : MOST_CHANNELS;
    slot->is_message = op->is_message;
    slot->start_ns = iwi_nccl_wall_ns();
    slot->stop_ns = 0;
    slot->started = slot->stopped = 0;
    slot->first_gpu_ns = slot->first_ns = INT64_MAX;
    slot->last_gpu_ns = slot->last_ns = 0;
    slot->tag = generation * SLOT_STATES + SLOT_BUSY;
    return handle_of(HANDLE_OP, 0, (size_t)(slot - slots), generation);
}

/* ---- end ---- */

static void make_record(const struct slot *slot, struct iwi_nccl_record *record)
{
    const struct iwi_nccl_comm *comm = slot->comm;

    *record = (struct iwi_nccl_record){
        .comm_id = comm->id,
        .sequence = slot->sequence,
        .bytes = slot->bytes,
        .rank = comm->rank,
        .ranks = comm->ranks,
        .nodes = comm->nodes,
        .peer = slot->peer,
        .is_message = slot->is_message,
        .has_kernel = slot->stopped != 0,
        .is_gpu_time = slot->first_gpu_ns > 0 && slot->first_gpu_ns < slot->last_gpu_ns,
        .start_ns = slot->start_ns,
        .stop_ns = slot->stop_ns,
        .kernel_start_ns = slot->first_ns,
        .kernel_stop_ns = slot->last_ns,
    };
    memcpy(record->func, slot->func, sizeof record->func);
    memcpy(record->comm_name, comm->name, sizeof record->comm_name);
    if (record->is_gpu_time) {
        record->kernel_start_ns = iwi_nccl_clock_wall(&comm->clock, slot->first_gpu_ns);
        record->kernel_stop_ns = iwi_nccl_clock_wall(&comm->clock, slot->last_gpu_ns);
    }
}

/* Whether this call closes it: one of several threads. */
static bool close_slot(struct slot *slot, uint64_t generation)
{
    uint64_t tag = generation * SLOT_STATES + SLOT_BUSY;

    return atomic_compare_exchange_strong(&slot->tag, &tag, generation * SLOT_STATES + SLOT_TAKEN);
}

static void free_slot(struct slot *slot, uint64_t generation)
{
    slot->tag = (generation + 1) % GENERATIONS * SLOT_STATES + SLOT_FREE;
}

static void close_if_done(struct slot *slot, uint64_t generation)
{
    struct iwi_nccl_record record;

    if (slot->stop_ns == 0 || __builtin_popcountll(slot->stopped) < slot->channels ||
        !close_slot(slot, generation)) {
        return;
    }
    make_record(slot, &record);
    free_slot(slot, generation);
    iwi_nccl_done(&record);
}

void iwi_nccl_comm_end(struct iwi_nccl_comm *comm)
{
    for (size_t i = 0; i < IWI_NCCL_SLOTS; i++) {
        const uint64_t tag = slots[i].tag;

        if (tag % SLOT_STATES == SLOT_BUSY && slots[i].comm == comm && close_slot(&slots[i], tag / SLOT_STATES)) {
            free_slot(&slots[i], tag / SLOT_STATES);
            iwi_nccl_count_lost();
        }
    }
}

/* ---- kernels ---- */

void *iwi_nccl_kernel_start(void *parent, uint8_t channel, uint64_t gpu_ns)
{
    const int64_t now_ns = iwi_nccl_wall_ns();
    unsigned none;
    uint64_t generation;
    struct slot *slot = slot_of(parent, HANDLE_OP, &none, &generation);

    if (slot == NULL || channel >= MOST_CHANNELS) {
        return NULL;
    }
    keep_least(&slot->first_ns, now_ns);
    if (gpu_ns > 0 && gpu_ns < INT64_MAX) {
        keep_least(&slot->first_gpu_ns, (int64_t)gpu_ns);
        iwi_nccl_clock_saw(&slot->comm->clock, (int64_t)gpu_ns, now_ns);
    }
    atomic_fetch_or(&slot->started, UINT64_C(1) << channel);
    return handle_of(HANDLE_KERNEL, channel, (size_t)(slot - slots), generation);
}

void iwi_nccl_kernel_stopped(void *handle, uint64_t gpu_ns)
{
    const int64_t now_ns = iwi_nccl_wall_ns();
    unsigned channel;
    uint64_t generation;
    struct slot *slot = slot_of(handle, HANDLE_KERNEL, &channel, &generation);

    if (slot != NULL && gpu_ns > 0 && gpu_ns < INT64_MAX) {
        keep_most(&slot->last_gpu_ns, (int64_t)gpu_ns);
        iwi_nccl_clock_saw(&slot->comm->clock, (int64_t)gpu_ns, now_ns);
    }
}

void iwi_nccl_stop(void *handle)
{
    const int64_t now_ns = iwi_nccl_wall_ns();
    unsigned channel;
    uint64_t generation;
    struct slot *slot = slot_of(handle, HANDLE_OP, &channel, &generation);

    if (slot != NULL) {
        int64_t not_yet = 0;

        (void)atomic_compare_exchange_strong(&slot->stop_ns, &not_yet, now_ns);
        close_if_done(slot, generation);
        return;
    }
    slot = slot_of(handle, HANDLE_KERNEL, &channel, &generation);
    if (slot != NULL) {
        keep_most(&slot->last_ns, now_ns);
        atomic_fetch_or(&slot->stopped, UINT64_C(1) << channel);
        close_if_done(slot, generation);
    }
}
