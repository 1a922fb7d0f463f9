/* The tracer inside an MPI program: its state, its threads, and what the generated wrappers call.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A wrapper does:
 *
 *     thread = iwi_enter(call);            NULL: not traced, or called by MPI itself: just forward
 *     iwi_write_enter(thread);
 *     code = PMPI_...
 *     iwi_on_...(thread, ...);             if it succeeded
 *     iwi_leave(thread);
 *
 * This library lives in a program of others: state is global because MPI's is, and any failure of ours only
 * ends the recording.
 */
#ifndef IWI_TRACE_TRACER_H
#define IWI_TRACE_TRACER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "mpi/trace/cpu_clock.h"
#include "mpi/trace/record.h"
#include "mpi/trace/requests.h"
#include "mpi/trace/size_table.h"
#include "mpi/trace/writer.h"
#include "core/stats/clock_fit.h"

struct iwi_traced_comm;

/* What a call that completes requests works with; arrays of `capacity`. */
struct iwi_request_batch {
    struct iwi_op **ops; /* NULL: nothing to tell */
    bool *are_unknown;   /* requests of files, windows, ...: not followed */
    uint64_t unknown;    /* of these, completed */
    MPI_Status *statuses;
    MPI_Request *handles; /* of Fortran handles */
    int count;
    size_t capacity;
    bool wants_status;
};

enum { IWI_COMM_CACHE = 8, IWI_TYPE_CACHE = 8 };

/* Where a cache keeps what belongs to a handle. */
static inline size_t iwi_slot_of(uint64_t handle, size_t slots)
{
    return (size_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 40) % slots;
}

struct iwi_sized_type {
    MPI_Datatype type;
    uint64_t size;
    bool is_asked;
    bool is_named; /* MPI's own: its size never changes */
};

struct iwi_thread {
    struct iwi_call_writer writer;
    struct iwi_cpu_clock clock;
    bool is_inside;  /* in a wrapper: calls from within MPI are not the program's */
    uintptr_t below; /* what that wrapper calls is below this on the stack, which grows downwards */
    bool is_writing; /* recording was on at its last call */
    uint16_t call;
    uint32_t index;
    uint64_t enter_ns, leave_cpu_ns, gap_cpu_ns;
    uint64_t polls, poll_ns; /* since the LEAVE before */
    uint64_t comm_generation;
    MPI_Comm cached_handles[IWI_COMM_CACHE];
    struct iwi_traced_comm *cached_comms[IWI_COMM_CACHE];
    struct iwi_sized_type cached_types[IWI_TYPE_CACHE];
    struct iwi_request_batch batch;
    char path[4096];
    bool is_ended; /* the next new thread goes on with it */
    struct iwi_thread *next;
};

enum iwi_tracer_state { IWI_TRACER_NEW, IWI_TRACER_RUNNING, IWI_TRACER_ASIDE, IWI_TRACER_DONE };

struct iwi_tracer {
    _Atomic int state;
    _Atomic bool is_on;
    _Atomic bool was_called_before_init;
    bool is_quiet, has_own_comm;
    bool knows_statuses;   /* where they keep the bytes of a message */
    bool is_foreign;       /* the program is of another MPI: nothing but forwarding is safe */
    pthread_mutex_t mutex; /* of threads, communicators, the failure */
    pid_t pid;
    int rank, size;
    MPI_Comm comm; /* for our own messages */
    MPI_Group world;
    char folder[3072];
    size_t window_bytes;
    struct iwi_thread *threads; /* newest first */
    uint32_t thread_count;
    struct iwi_requests requests, messages;
    struct iwi_size_table sizes; /* under the mutex */
    _Atomic uint64_t request_count;
    _Atomic uint64_t comm_generation;
    _Atomic uint64_t abandoned_calls; /* left by an exception or longjmp() */
    _Atomic uint64_t spawns;          /* calls of MPI_Comm_spawn and MPI_Comm_spawn_multiple */
    struct iwi_clock_model clock_begin;
    _Atomic int failure; /* errno of what ended the recording; 0: nothing did */
    char failure_text[256];
};

extern struct iwi_tracer iwi_tracer;
extern __thread struct iwi_thread *iwi_self __attribute__((tls_model("initial-exec")));

/* Starts the tracer. is_collective: all processes call it now, from their MPI_Init. */
void iwi_tracer_start(bool is_collective, bool has_threads, uint64_t init_enter_ns, unsigned init_call);

/* Turns what was recorded into OTF2. Collective; no MPI call is traced afterwards. */
void iwi_tracer_finish(void);

/* Ends the recording of this process; the program goes on. Told when it finalizes. */
void iwi_tracer_fail(int error, const char *what);

/* "idlewave: ..." on stderr. */
void iwi_tracer_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, unless quiet: what the user need not know. */
#define iwi_doc_printf(...)                \
    do {                            \
        if (!iwi_tracer.is_quiet) { \
            iwi_tracer_message(__VA_ARGS__);  \
        }                           \
    } while (0)

/* `what` happened, and how to get a trace all the same. */
void iwi_tell_how_to_finish(const char *what);

/* Before the first thread. */
void iwi_threads_init(void);

/* The thread's first call: starts what must be started. NULL: this thread is not traced. */
struct iwi_thread *iwi_thread_begin(void);
/* The same for one that is: one that ended before it may have left what it needs. */
struct iwi_thread *iwi_thread_take(void);
struct iwi_thread *iwi_thread_new(void);
void iwi_thread_free(struct iwi_thread *thread);

/* MPI_Pcontrol. */
void iwi_tracer_switch(bool is_on);
void iwi_thread_switch(struct iwi_thread *thread, uint64_t now_ns);

/* A record found no room: the recording of this process ends. */
void iwi_thread_lose(struct iwi_thread *thread);

static inline void iwi_thread_check(struct iwi_thread *thread, bool is_written)
{
    if (__builtin_expect(!is_written, 0)) {
        iwi_thread_lose(thread);
    }
}

/* Room for a definition, which may stand anywhere in the file. */
static inline void *iwi_record(struct iwi_thread *thread, size_t bytes)
{
    void *room = iwi_spool_room(&thread->writer.spool, bytes);

    iwi_thread_check(thread, room != NULL);
    return room;
}

/* Room for what happened in the call. */
static inline void *iwi_item(struct iwi_thread *thread, size_t bytes)
{
    void *room = iwi_writer_item(&thread->writer, bytes);

    iwi_thread_check(thread, room != NULL);
    return room;
}

static inline void iwi_item_word(struct iwi_thread *thread, enum iwi_record_kind kind, uint64_t value)
{
    uint64_t *room = iwi_item(thread, sizeof *room);

    if (room != NULL) {
        *room = iwi_record_word(kind, value);
    }
}

/* The lower end of the caller's frame; where it is not known, the upper one, and fewer left calls are seen.
 */
static inline __attribute__((always_inline)) uintptr_t iwi_stack_end(void)
{
#if defined(__x86_64__)
    uintptr_t end;
    __asm__ volatile("movq %%rsp, %0" : "=r"(end));
    return end;
#elif defined(__aarch64__)
    uintptr_t end;
    __asm__ volatile("mov %0, sp" : "=r"(end));
    return end;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

static inline __attribute__((always_inline)) struct iwi_thread *iwi_enter(unsigned call)
{
    struct iwi_thread *thread = iwi_self;

    if (__builtin_expect(thread == NULL, 0)) {
        thread = iwi_thread_begin();
        if (thread == NULL) {
            return NULL;
        }
    }
    /* a call from within a call is below it on the stack; else that one was left without returning */
    if (__builtin_expect(thread->is_inside, 0)) {
        if ((uintptr_t)__builtin_frame_address(0) < thread->below) {
            return NULL;
        }
        atomic_fetch_add_explicit(&iwi_tracer.abandoned_calls, 1, memory_order_relaxed);
        iwi_thread_check(thread, iwi_writer_abandon(&thread->writer));
    }
    thread->is_inside = true;
    thread->below = iwi_stack_end();
    thread->call = (uint16_t)call;
    thread->enter_ns = iwi_thread_ns(&thread->clock);
    uint64_t cpu_ns = iwi_cpu_ns(&thread->clock, thread->enter_ns);
    thread->gap_cpu_ns += cpu_ns > thread->leave_cpu_ns ? cpu_ns - thread->leave_cpu_ns : 0;
    if (__builtin_expect(thread->is_writing != atomic_load_explicit(&iwi_tracer.is_on, memory_order_relaxed),
                         0)) {
        iwi_thread_switch(thread, thread->enter_ns);
    }
    return thread;
}

static inline void iwi_write_enter(struct iwi_thread *thread)
{
    if (!thread->is_writing) {
        return;
    }
    iwi_thread_check(thread, iwi_writer_enter(&thread->writer, thread->call, thread->enter_ns, thread->gap_cpu_ns,
                                              thread->polls, thread->poll_ns));
    thread->gap_cpu_ns = thread->polls = thread->poll_ns = 0;
}

static inline void iwi_leave(struct iwi_thread *thread)
{
    uint64_t now_ns = iwi_thread_ns(&thread->clock);

    if (thread->writer.is_open) {
        iwi_thread_check(thread, iwi_writer_leave(&thread->writer, now_ns));
    }
    thread->leave_cpu_ns = iwi_cpu_ns(&thread->clock, now_ns);
    thread->is_inside = false;
}

/* Of a poll that found nothing: its ENTER was not written. */
static inline void iwi_leave_poll(struct iwi_thread *thread)
{
    uint64_t now_ns = iwi_thread_ns(&thread->clock);

    thread->polls++;
    thread->poll_ns += now_ns - thread->enter_ns;
    thread->leave_cpu_ns = iwi_cpu_ns(&thread->clock, now_ns);
    thread->is_inside = false;
}

/* --- what happened in a call (on_*.c) */

/* The next number; only where several threads call MPI at once they must not meet. */
static inline uint64_t iwi_next_request(void)
{
    if (iwi_tracer.requests.is_locked) {
        return atomic_fetch_add_explicit(&iwi_tracer.request_count, 1, memory_order_relaxed) + 1;
    }
    uint64_t next = atomic_load_explicit(&iwi_tracer.request_count, memory_order_relaxed) + 1;
    atomic_store_explicit(&iwi_tracer.request_count, next, memory_order_relaxed);
    return next;
}

struct iwi_message_args {
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

/* Word by word, as they are compared: what is stored in smaller pieces cannot be read at once. */
static inline void iwi_put_message(struct iwi_thread *thread, const struct iwi_record_message *message)
{
    uint64_t *room = iwi_item(thread, sizeof *message);

    if (room != NULL) {
        room[0] = (uint64_t)message->kind | (uint64_t)message->mode << 8 | (uint64_t)message->comm << 32;
        room[1] = (uint64_t)(uint32_t)message->peer | (uint64_t)(uint32_t)message->tag << 32;
        room[2] = message->bytes;
        room[3] = message->request;
    }
}

uint64_t iwi_type_ask_size(MPI_Datatype type);

static inline uint64_t iwi_type_size(MPI_Datatype type)
{
    const struct iwi_sized_type *cached =
        &iwi_self->cached_types[iwi_slot_of((uint64_t)(uintptr_t)type, IWI_TYPE_CACHE)];

    return cached->type == type && cached->is_named ? cached->size : iwi_type_ask_size(type);
}

static inline uint64_t iwi_bytes_of(MPI_Count count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * iwi_type_size(type) : 0;
}

/* Whether this MPI keeps the bytes of a message where its header has them; before the first call. */
void iwi_try_statuses(void);
/* false: they are not known. */
bool iwi_received_bytes(const MPI_Status *status, uint64_t *bytes_p);

void iwi_on_send(struct iwi_thread *thread, const struct iwi_message_args *args, enum iwi_send_mode mode);
void iwi_on_recv(struct iwi_thread *thread, const struct iwi_message_args *args, const MPI_Status *status);
void iwi_on_isend(struct iwi_thread *thread, const struct iwi_message_args *args, enum iwi_send_mode mode,
                  MPI_Request request, bool is_persistent);
void iwi_on_irecv(struct iwi_thread *thread, const struct iwi_message_args *args, MPI_Request request,
                  bool is_persistent);
void iwi_on_isendrecv(struct iwi_thread *thread, const struct iwi_message_args *send,
                      const struct iwi_message_args *recv, MPI_Request request);
void iwi_on_mprobe(struct iwi_thread *thread, MPI_Comm handle, MPI_Message message);

/* What a matched probe found; taken before the message is received. */
struct iwi_op *iwi_message_take(MPI_Message message);
void iwi_on_mrecv(struct iwi_thread *thread, struct iwi_op *probed, const struct iwi_message_args *args,
                  const MPI_Status *status);
void iwi_on_imrecv(struct iwi_thread *thread, struct iwi_op *probed, const struct iwi_message_args *args,
                   MPI_Request request);

void iwi_on_start(struct iwi_thread *thread, MPI_Request request);
void iwi_on_cancel(MPI_Request request);
void iwi_on_request_free(MPI_Request request);

/* What is recorded of a collective that begins now. */
struct iwi_record_collective iwi_started_collective(struct iwi_thread *thread, const struct iwi_op *op);

/* Statuses as C or as Fortran has them. */
struct iwi_statuses {
    const MPI_Status *c;
    const MPI_Fint *f;
};

/* Before a call that completes requests: finds what stands behind them. */
void iwi_request_batch_take(struct iwi_thread *thread, int count, const MPI_Request *requests);
void iwi_request_batch_take_f(struct iwi_thread *thread, int count, const MPI_Fint *requests);
/* After it: operation `i` has ended with statuses[at]. */
void iwi_request_batch_complete(struct iwi_thread *thread, int i, struct iwi_statuses statuses, int at);
void iwi_request_batch_complete_all(struct iwi_thread *thread, struct iwi_statuses statuses);
/* ... the others go on; or, after an error, are forgotten. */
void iwi_request_batch_put_back(struct iwi_thread *thread);
void iwi_request_batch_forget(struct iwi_thread *thread);

/* The statuses to pass on: ours if the program wants none and we do. */
static inline MPI_Status *iwi_request_batch_statuses(struct iwi_thread *thread, MPI_Status *given, bool is_ignored)
{
    return is_ignored && thread->batch.wants_status ? thread->batch.statuses : given;
}

#define IWI_F_STATUS_INTS ((int)(sizeof(MPI_Status) / sizeof(MPI_Fint)))

static inline MPI_Fint *iwi_request_batch_statuses_f(struct iwi_thread *thread, MPI_Fint *given, bool is_ignored)
{
    return is_ignored && thread->batch.wants_status ? (MPI_Fint *)(void *)thread->batch.statuses : given;
}

enum iwi_form {
    IWI_FORM_barrier,
    IWI_FORM_bcast,
    IWI_FORM_gather,
    IWI_FORM_gatherv,
    IWI_FORM_scatter,
    IWI_FORM_scatterv,
    IWI_FORM_allgather,
    IWI_FORM_allgatherv,
    IWI_FORM_alltoall,
    IWI_FORM_alltoallv,
    IWI_FORM_alltoallw,
    IWI_FORM_reduce,
    IWI_FORM_allreduce,
    IWI_FORM_reduce_scatter,
    IWI_FORM_reduce_scatter_block,
    IWI_FORM_scan,
    IWI_FORM_exscan,
    IWI_FORM_neighbor_allgather,
    IWI_FORM_neighbor_allgatherv,
    IWI_FORM_neighbor_alltoall,
    IWI_FORM_neighbor_alltoallv,
    IWI_FORM_neighbor_alltoallw
};

struct iwi_counts {
    const int *ints;
    const MPI_Count *large;
};

struct iwi_types {
    const MPI_Datatype *c;
    const MPI_Fint *f;
};

/* The arguments of a collective, as far as its form has them. */
struct iwi_collective_args {
    enum iwi_form form;
    bool is_sbuf_in_place, is_rbuf_in_place;
    MPI_Count count, rcount;
    MPI_Datatype type, rtype;
    struct iwi_counts counts, rcounts;
    struct iwi_types types, rtypes;
    int root;
    MPI_Comm comm;
};

void iwi_on_collective(struct iwi_thread *thread, const struct iwi_collective_args *args);
void iwi_on_icollective(struct iwi_thread *thread, const struct iwi_collective_args *args,
                        MPI_Request request, bool is_persistent);

/* Who takes part in making a communicator. */
enum iwi_makers { IWI_MADE_BY_parent, IWI_MADE_BY_group, IWI_MADE_BY_foreign };

void iwi_on_comm(struct iwi_thread *thread, enum iwi_makers makers, MPI_Comm parent, int tag, MPI_Comm made);
/* `made` is read when the request completes; of Fortran, `made_f`. */
void iwi_on_icomm(struct iwi_thread *thread, MPI_Comm parent, const MPI_Comm *made, const MPI_Fint *made_f,
                  MPI_Request request);

static inline uint64_t iwi_request_key(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request;
}

#endif
