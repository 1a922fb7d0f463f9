/* libnccl-profiler-idlewave.so: notes when collectives and messages of NCCL begin and end on each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every call succeeds, whatever happens here: on a failure of its own the plugin warns once and asks for no
 * events. NCCL (commit 5067397c) would forget a plugin whose init() fails, but counts that twice when the
 * communicator goes.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "recorder.h"

#define EXPORTED __attribute__((visibility("default")))

/* Kernels tell when a rank came and went; nothing is known by launches alone. */
enum { MASK = IWI_NCCL_COLL | IWI_NCCL_P2P | IWI_NCCL_KERNEL_CH };

static struct iwi_nccl_comm comms[IWI_NCCL_COMMS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of beginning and end */
static size_t open_count;
static _Atomic pid_t owner;

/* ---- communicators ---- */

static struct iwi_nccl_comm *take_comm(void)
{
    for (size_t i = 0; i < IWI_NCCL_COMMS; i++) {
        bool is_used = false;

        if (atomic_compare_exchange_strong(&comms[i].is_used, &is_used, true)) {
            return &comms[i];
        }
    }
    return NULL;
}

/* A child of fork() begins anew: communicators of its parent are none of its own. */
static void note_owner(void)
{
    if (owner != 0 && owner != getpid()) {
        for (size_t i = 0; i < IWI_NCCL_COMMS; i++) {
            if (comms[i].is_used) {
                iwi_nccl_comm_end(&comms[i]);
                comms[i].is_used = false;
            }
        }
        open_count = 0;
    }
    owner = getpid();
}

static struct iwi_nccl_comm *open_comm(const char *name, uint64_t id, int nodes, int ranks, int rank)
{
    struct iwi_nccl_comm *comm = take_comm();

    if (comm == NULL) {
        return NULL;
    }
    comm->id = id;
    (void)snprintf(comm->name, sizeof comm->name, "%s", name != NULL ? name : "");
    comm->rank = rank;
    comm->ranks = ranks;
    comm->nodes = nodes;
    comm->colls = comm->messages = 0;
    iwi_nccl_clock_init(&comm->clock);
    open_count++;
    return comm;
}

static int begin(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks, int rank,
                 iwi_nccl_log_fn log)
{
    struct iwi_nccl_comm *comm = NULL;
    bool is_recording;

    if (owner != 0 && owner != getpid()) { /* a thread of the parent may have had it */
        (void)pthread_mutex_init(&mutex, NULL);
    }
    (void)pthread_mutex_lock(&mutex);
    note_owner();
    if (open_count > 0 || iwi_nccl_writer_begin(log)) {
        comm = open_comm(name, id, nodes, ranks, rank);
    }
    is_recording = open_count > 0;
    (void)pthread_mutex_unlock(&mutex);
    if (context != NULL) {
        *context = comm;
    }
    if (mask != NULL) { /* one mask for all communicators: of those without a place no event is taken */
        *mask = is_recording ? MASK : 0;
    }
    return IWI_NCCL_SUCCESS;
}

static int end(void *context)
{
    struct iwi_nccl_comm *comm = context;

    if (comm == NULL || owner != getpid()) {
        return IWI_NCCL_SUCCESS;
    }
    (void)pthread_mutex_lock(&mutex);
    if (comm->is_used) {
        iwi_nccl_comm_end(comm);
        comm->is_used = false;
        if (--open_count == 0) {
            iwi_nccl_writer_end();
        }
    }
    (void)pthread_mutex_unlock(&mutex);
    return IWI_NCCL_SUCCESS;
}

/* A program may end without ending its communicators. */
__attribute__((destructor)) static void end_of_program(void)
{
    if (owner == getpid() && open_count > 0) {
        iwi_nccl_writer_end();
    }
}

/* ---- events ---- */

static bool takes_events(const struct iwi_nccl_comm *comm)
{
    return comm != NULL && iwi_nccl_is_ours() && comm->is_used;
}

static int stop_event(void *handle)
{
    if (handle != NULL && iwi_nccl_is_ours()) {
        iwi_nccl_stop(handle);
    }
    return IWI_NCCL_SUCCESS;
}

static int record_state(void *handle, int state, union iwi_nccl_state_args *args)
{
    if (state == IWI_NCCL_KERNEL_CH_STOP && handle != NULL && args != NULL && iwi_nccl_is_ours()) {
        iwi_nccl_kernel_stopped(handle, args->gpu_ns);
    }
    return IWI_NCCL_SUCCESS;
}

static int start_event_v5(void *context, void **handle, struct iwi_nccl_event_v5 *event)
{
    struct iwi_nccl_started op = {.peer = -1};

    if (handle == NULL) {
        return IWI_NCCL_SUCCESS;
    }
    *handle = NULL;
    if (event == NULL || !takes_events(context)) {
        return IWI_NCCL_SUCCESS;
    }
    if (event->type == IWI_NCCL_COLL) {
        op.func = event->coll.func;
        op.datatype = event->coll.datatype;
        op.count = event->coll.count;
        op.channels = event->coll.channels;
        *handle = iwi_nccl_op_start(context, &op);
    } else if (event->type == IWI_NCCL_P2P) {
        op.func = event->p2p.func;
        op.datatype = event->p2p.datatype;
        op.count = event->p2p.count;
        op.channels = event->p2p.channels;
        op.peer = event->p2p.peer;
        op.is_message = true;
        *handle = iwi_nccl_op_start(context, &op);
    } else if (event->type == IWI_NCCL_KERNEL_CH) {
        *handle = iwi_nccl_kernel_start(event->parent, event->kernel.channel, event->kernel.gpu_ns);
    }
    return IWI_NCCL_SUCCESS;
}

static int start_event_v4(void *context, void **handle, struct iwi_nccl_event_v4 *older)
{
    struct iwi_nccl_event_v5 event = {.type = older != NULL ? older->type : 0};

    if (event.type == IWI_NCCL_COLL) {
        event.coll.func = older->coll.func;
        event.coll.datatype = older->coll.datatype;
        event.coll.count = older->coll.count;
        event.coll.channels = older->coll.channels;
    } else if (event.type == IWI_NCCL_P2P) {
        event.p2p.func = older->p2p.func;
        event.p2p.datatype = older->p2p.datatype;
        event.p2p.count = older->p2p.count;
        event.p2p.channels = older->p2p.channels;
        event.p2p.peer = older->p2p.peer;
    } else if (event.type == IWI_NCCL_KERNEL_CH) {
        event.parent = older->parent;
        event.kernel.channel = older->kernel.channel;
        event.kernel.gpu_ns = older->kernel.gpu_ns;
    }
    return start_event_v5(context, handle, &event);
}

/* ---- what NCCL looks for ---- */

static int init_v5(void **context, uint64_t comm_id, int *mask, const char *comm_name, int nodes, int ranks,
                   int rank, iwi_nccl_log_fn log)
{
    return begin(context, mask, comm_name, comm_id, nodes, ranks, rank, log);
}

EXPORTED extern const struct iwi_nccl_profiler_v4 ncclProfiler_v4;
EXPORTED extern const struct iwi_nccl_profiler_v5 ncclProfiler_v5, ncclProfiler_v6;

const struct iwi_nccl_profiler_v4 ncclProfiler_v4 = {"idlewave",   begin,        start_event_v4,
                                                     stop_event, record_state, end};
const struct iwi_nccl_profiler_v5 ncclProfiler_v5 = {"idlewave",   init_v5,      start_event_v5,
                                                     stop_event, record_state, end};
const struct iwi_nccl_profiler_v5 ncclProfiler_v6 = {"idlewave",   init_v5,      start_event_v5,
                                                     stop_event, record_state, end};
