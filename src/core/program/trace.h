/* A trace of an MPI program in memory: the calls of each rank, in order. Readers fill it, programs are made
 * of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Receives are resolved: the source and tag are those of the message that came. Composite calls are split:
 * Sendrecv is IRECV + ISEND + WAIT, Start of a persistent request is ISEND or IRECV, Testsome is a WAIT for
 * what it completed. Polls that completed nothing and probes are not calls; their time is waiting.
 */
#ifndef IWI_TRACE_H
#define IWI_TRACE_H

#include <idlewave/program.h>

#define IWI_NO_COMM UINT32_MAX

enum iwi_call_kind {
    IWI_CALL_SEND = 1, /* blocking; ends when the buffer may be used again */
    IWI_CALL_ISEND,
    IWI_CALL_RECV,
    IWI_CALL_IRECV,
    IWI_CALL_WAIT, /* completes requests: trace->ranks[r].completed[first_request ... + request_count - 1] */
    IWI_CALL_COLLECTIVE,  /* blocking */
    IWI_CALL_ICOLLECTIVE, /* completed by a WAIT */
    IWI_CALL_OPAQUE       /* one-sided, I/O, intercommunicator collectives, ...: its time is kept as work */
};

/* Which collective; v- and w-forms fall together with the plain ones here, and neighbour collectives are one.
 */
enum iwi_trace_op {
    IWI_TRACE_BARRIER,
    IWI_TRACE_BCAST,
    IWI_TRACE_REDUCE,
    IWI_TRACE_ALLREDUCE,
    IWI_TRACE_GATHER,
    IWI_TRACE_SCATTER,
    IWI_TRACE_ALLGATHER,
    IWI_TRACE_ALLTOALL,
    IWI_TRACE_REDUCE_SCATTER,
    IWI_TRACE_SCAN,
    IWI_TRACE_EXSCAN,
    IWI_TRACE_COMM_CREATE, /* dup, split, ...: synchronises like an allgather of 8 bytes over the parent */
    IWI_TRACE_NEIGHBOR, /* neighbour collectives: the messages of their size lists; a barrier without them */
    IWI_TRACE_OPS
};

enum {
    IWI_CALL_SYNCHRONOUS = 1, /* Ssend and friends: rendezvous at any size */
    IWI_CALL_SIZED = 2        /* a v-form of which the trace has the true sizes */
};

struct iwi_call {
    uint8_t kind, op, flags;
    uint8_t function; /* that it was: number + 1 of trace->uses; 0: not known */
    uint32_t comm;    /* index into comms */
    uint32_t peer;    /* world rank of the partner; rooted collectives: rank of the root in comm */
    int32_t tag;
    uint64_t bytes;   /* p2p: of the message; collectives: per rank as MPI's count x type (bcast: the
                       * message; gather, allgather: what this rank contributes; scatter: what it
                       * receives; alltoall: to each; v-forms that are not SIZED: the mean, rounded
                       * up) */
    uint32_t request; /* ISEND, IRECV, ICOLLECTIVE: its number within the rank; WAIT: first_request */
    union {
        uint32_t request_count; /* WAIT */
        uint32_t
            sizes; /* collectives: number + 1 of a size list, which says what the rank sends; 0: `bytes` do */
    };
    iw_time compute_wall_ps; /* between the end of the call before and the start of this one */
    iw_time compute_cpu_ps;  /* the same by the thread's CPU clock; -1: not known */
    iw_time call_ps;         /* from start to end of this call, by the wall clock */
    iw_time enter_ps;        /* its start, on a clock that is the same for all ranks in OTF2 */
};

enum { IWI_TRACE_NODE_SIZE = 64 };

struct iwi_trace_rank {
    struct iwi_call *calls;
    uint64_t call_count;
    uint32_t *completed; /* request numbers, in the order of the waits */
    uint64_t completed_count;
    uint32_t request_count;       /* requests made: numbers 0 ... request_count - 1 */
    iw_time last_compute_wall_ps; /* after the last call; usually 0 */
    iw_time wall_ps;
    /* What was added to the clock of its host (CLOCK_MONOTONIC) at its first and at its last event; our own
     * tracer's. */
    int64_t clock_added_ns[2];
    char node[IWI_TRACE_NODE_SIZE]; /* that it ran on; "": not known */
};

enum { IWI_COMM_NAME_SIZE = 64 };

struct iwi_comm {
    uint32_t size;
    uint32_t *members; /* world ranks, by rank in the communicator; NULL: world, or a duplicate of it */
    char name[IWI_COMM_NAME_SIZE]; /* "": none */
};

/* What a rank sends to one partner in a collective; a size list is a sequence of these, in the order of
 * sending.
 */
struct iwi_sent_piece {
    uint32_t peer; /* rank in the communicator */
    uint64_t bytes;
};

struct iwi_size_list {
    uint64_t first; /* of the trace's parts */
    uint32_t count;
};

/* One MPI function, over all ranks. */
struct iwi_function_use {
    char name[32];
    uint64_t calls;
    uint64_t bytes; /* sent by point-to-point calls; of collectives as struct iwi_call has them */
    iw_time time_ps;
};

enum { IWI_USES = 96 };

struct iwi_function_uses {
    uint32_t count;
    struct iwi_function_use of[IWI_USES]; /* the last one has all that found no room */
};

/* Ranks that call MPI from several threads: their calls are put into one sequence, by time. */
struct iwi_threaded {
    uint32_t ranks, first, threads; /* of the first: how many threads call */
};

struct iw_trace {
    char origin[16];
    char lost[160]; /* what the tracer says is missing; "": nothing */
    uint32_t rank_count;
    struct iwi_trace_rank *ranks;
    struct iwi_comm *comms; /* 0 is world */
    uint32_t comm_count;
    struct iwi_size_list *size_lists;
    uint32_t size_list_count;
    struct iwi_sent_piece *parts;
    uint64_t part_count;
    bool has_cpu_time;
    bool is_training; /* a run of training: of collectives, not MPI; nonblocking ones go on by themselves */
    bool is_on_gpus;  /* and its ranks communicate on GPUs */
    int64_t zero_ns;  /* time 0 of the calls on CLOCK_MONOTONIC of rank 0's host; 0: not known */
    struct iwi_function_uses uses;
    struct iwi_threaded threaded;
    void *mapping;       /* calls and completed requests of all ranks lie in it; NULL: each array by itself */
    size_t mapping_size; /* bytes */
};

/* What people call it: "world", its name, or "communicator 3". */
void iwi_comm_label(const struct iw_trace *trace, uint32_t comm, char label[IWI_COMM_NAME_SIZE]);

/* For whoever takes a collective as waiting of all for the last: neighbour collectives wait for neighbours
 * only. */
void iwi_trace_warn_of_neighbours(const iw_log *log, const struct iw_trace *trace);

/* Called as those of data parallelism are by PyTorch, Megatron and DeepSpeed. */
bool iwi_comm_is_data_parallel(const char *name);

/* What `grow` of iw_trace_opts asks for, by the names that people see; NULL: data parallelism in training. */
struct iwi_growing {
    const struct iw_trace *trace;
    const char *told;
    bool is_exact; /* a name in full */
};
struct iwi_growing iwi_trace_growing(const struct iw_trace *trace, const char *told);
bool iwi_comm_grows(const struct iwi_growing *growing, uint32_t comm);

/* Communicators of several, not all ranks, that have collectives and do not grow. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_trace_fixed_groups(const iw_log *log, const struct iw_trace *trace,
                                              const char *told, uint32_t *count_p);

/* Of ranks without calls. NULL (logged): no memory. Freed by iw_trace_free(). */
struct iw_trace *iwi_trace_new(const iw_log *log, uint32_t rank_count);

/* Refuses what no reader may hand on: bad indices, requests completed twice or never made. Logged with rank
 * and call. */
IW_NODISCARD iw_status iwi_trace_check(const iw_log *log, const struct iw_trace *trace);

#endif
