/* What the readers of traces share: kinds of calls, gaps in a trace, the calls of a rank while they are read.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A reader tells a builder (one for each rank) what happened inside one MPI function: its name's meaning
 * (struct iwi_function), when it began and ended, and the events in it. iwi_trace_finish() then does what
 * needs all ranks: finding the messages of receives, dropping what led nowhere, checking.
 */
#ifndef IWI_TRACE_READ_H
#define IWI_TRACE_READ_H

#include "core/base/base.h"
#include "core/program/trace.h"

/* Not yet a call: a poll or a probe, whose time is waiting. Gone when a trace is finished. */
enum { IWI_CALL_NOTHING = 0 };

#define IWI_PEER_UNKNOWN UINT32_MAX    /* of a receive: to be found among the sends */
#define IWI_PEER_NULL (UINT32_MAX - 1) /* MPI_PROC_NULL */
#define IWI_TAG_UNKNOWN INT32_C(-1)    /* or any */
#define IWI_REQUEST_NONE UINT32_MAX

/* ---- gaps: what a trace lacks ---- */

enum iwi_trace_gap {
    IWI_GAP_OPAQUE,
    IWI_GAP_NO_EVENT,
    IWI_GAP_COLLECTIVE,
    IWI_GAP_INTERCOMM,
    IWI_GAP_MEMBERS,
    IWI_GAP_SOURCE,
    IWI_GAP_UNSENT,
    IWI_GAP_UNRECEIVED,
    IWI_GAP_COMPLETION,
    IWI_GAP_NEVER_COMPLETED,
    IWI_GAP_UNKNOWN_REQUEST,
    IWI_GAP_SIZES,
    IWI_GAP_MEANS,
    IWI_GAP_NEIGHBOR,
    IWI_GAP_WAITS,
    IWI_GAP_MIXED_WAIT,
    IWI_GAP_THREADS,
    IWI_GAP_CLOCK,
    IWI_GAP_OFF,
    IWI_GAPS
};

enum { IWI_GAP_MESSAGES = 3 };

/* A message that only one side knows. */
struct iwi_gap_message {
    uint32_t rank, peer; /* peer: IWI_PEER_UNKNOWN if it is not known */
    int32_t tag;         /* IWI_TAG_UNKNOWN too */
    uint64_t call, bytes;
};

struct iwi_gaps {
    struct {
        uint64_t count;
        uint32_t rank; /* of the first */
        uint64_t call; /* its place: number of the MPI call within the rank, from 1; THREADS: how many call */
        char name[32]; /* of the function; may be empty */
    } of[IWI_GAPS];
    struct iwi_gap_message unsent[IWI_GAP_MESSAGES],
        unreceived[IWI_GAP_MESSAGES]; /* the first of these gaps */
    char note[256];                   /* what the tracer itself says is missing */
};

/* A receive without a send, or a send without a receive. */
void iwi_gap_note_message(struct iwi_gaps *gaps, enum iwi_trace_gap gap,
                          const struct iwi_gap_message *message);

void iwi_gap_note(struct iwi_gaps *gaps, enum iwi_trace_gap gap, uint32_t rank, uint64_t call,
                  const char *name);

struct iwi_threaded iwi_gaps_threaded(const struct iwi_gaps *gaps);

/* One warning for each kind. */
void iwi_gaps_log(const iw_log *log, const char *path, const struct iwi_gaps *gaps);

/* ---- what MPI functions do, by their names ---- */

enum iwi_function_kind {
    IWI_FN_NONE,  /* no MPI function */
    IWI_FN_LOCAL, /* no communication: its time is computing */
    IWI_FN_INIT,
    IWI_FN_FINALIZE,
    IWI_FN_P2P,
    IWI_FN_SENDRECV,
    IWI_FN_START,
    IWI_FN_REQUEST_FREE,
    IWI_FN_WAIT,    /* completes one request */
    IWI_FN_WAITANY, /* one of several */
    IWI_FN_WAITSOME,
    IWI_FN_WAITALL,
    IWI_FN_TEST, /* of any form */
    IWI_FN_PROBE,
    IWI_FN_COLLECTIVE,
    IWI_FN_ICOLLECTIVE,
    IWI_FN_OPAQUE
};

/* SIZED, MEANS: of a v-form, with its true sizes or without. */
enum { IWI_FN_SYNCHRONOUS = 1, IWI_FN_BUFFERED = 2, IWI_FN_SIZED = 4, IWI_FN_MEANS = 8 };

struct iwi_function {
    uint8_t kind, op, flags;
};

/* "MPI_Ibcast", in any case; large-count forms ("_c") too. */
struct iwi_function iwi_function_of(const char *name, size_t length);

/* For struct iwi_call; 0 if there is no name, or no room for it. */
uint8_t iwi_use_number(struct iwi_function_uses *uses, const char *name);
/* Counts one call; `name` may be NULL: nothing is counted. */
void iwi_use_function(struct iwi_function_uses *uses, const char *name, iw_time time_ps, uint64_t bytes);

/* ---- requests that are open ---- */

struct iwi_request {
    uint64_t id, call; /* index of the call that made it */
    uint64_t polled;   /* index + 1 of the last call that may have completed it; 0: none is known */
    uint32_t number;   /* IWI_REQUEST_NONE: the trace does not tell what it is for */
    uint32_t older, newer, chain;
};

struct iwi_open_requests {
    struct iwi_request *nodes;
    size_t capacity;
    uint32_t count, open, bucket_count, unused, oldest, newest;
    uint32_t *buckets;
};

struct iwi_request *iwi_open_requests_find(const struct iwi_open_requests *requests, uint64_t id);
/* NULL: out of memory, logged. */
struct iwi_request *iwi_open_requests_add(const iw_log *log, struct iwi_open_requests *requests, uint64_t id);
void iwi_open_requests_remove(struct iwi_open_requests *requests, struct iwi_request *request);
/* NULL if none is open. */
struct iwi_request *iwi_open_requests_oldest(const struct iwi_open_requests *requests);
void iwi_open_requests_release(struct iwi_open_requests *requests);

/* ---- the calls of one rank ---- */

enum iwi_event_type {
    IWI_EV_SEND,
    IWI_EV_RECV,
    IWI_EV_ISEND,
    IWI_EV_IRECV_POSTED,
    IWI_EV_COLLECTIVE,
    IWI_EV_ICOLLECTIVE_POSTED,
    IWI_EV_COMPLETED, /* from here on: of a request */
    IWI_EV_IRECV,
    IWI_EV_ICOLLECTIVE,
    IWI_EV_CANCELLED
};

/* What a trace tells about one message, request or collective. */
struct iwi_trace_event {
    uint8_t type, op;
    bool is_opaque; /* cannot be followed */
    uint8_t flags;  /* IWI_FN_SYNCHRONOUS, ... */
    uint32_t comm, peer;
    uint32_t sizes; /* of collectives, as struct iwi_call has them */
    int32_t tag;
    uint64_t bytes, request;
    uint64_t sent; /* of collectives: to all partners together */
};

struct iwi_call_span {
    iw_time enter_ps, leave_ps;
    iw_time cpu_ps;   /* computed before it; -1: not known */
    iw_time poll_ps;  /* of the time before it, spent in polls */
    uint64_t unknown; /* requests that it completed and that are no messages: of files, windows, ... */
};

struct iwi_late {
    uint64_t call;
    uint32_t request;
};

struct iwi_builder {
    const iw_log *log;
    struct iwi_gaps *gaps;
    struct iwi_function_uses *uses; /* of all ranks; NULL: not counted */
    uint32_t rank;
    bool lacks_completions; /* the trace does not tell what a wait completed: taken in order */
    bool caps_cpu;          /* threads side by side: no more CPU time than the time between calls */
    bool lacks_null;        /* calls with MPI_PROC_NULL have no event, and that is all that lacks one */
    bool lacks_unknown;     /* the trace does not tell waits for files from those for nothing */
    uint8_t function;       /* that calls are made for, as struct iwi_call has it */

    struct iwi_call *calls;
    size_t call_count, call_capacity;
    uint32_t *completed;
    size_t completed_count, completed_capacity;
    struct iwi_late *late; /* completions found when their wait was long written */
    size_t late_count, late_capacity;
    struct iwi_open_requests requests;
    uint32_t request_count;

    bool has_begun;
    iw_time begin_ps, end_ps, enter_ps;
    iw_time wall_ps, cpu_ps; /* computed since the last call; cpu -1: not known */
    bool has_cpu;
    uint64_t functions,
        last_wait; /* MPI functions seen; index + 1 of the last call that may have completed */
};

/* Both halves of a Sendrecv: requests that the trace does not have. No tracer numbers its own so. */
#define IWI_HALF_RECV UINT64_MAX
#define IWI_HALF_SEND (UINT64_MAX - 1)

void iwi_builder_init(struct iwi_builder *builder, const iw_log *log, struct iwi_gaps *gaps, uint32_t rank);
void iwi_builder_release(struct iwi_builder *builder);

/* The rank's time runs from here; at the latest from its first function. */
void iwi_build_begin(struct iwi_builder *builder, iw_time time_ps);

/* One MPI function. */
IW_NODISCARD iw_status iwi_build(struct iwi_builder *builder, struct iwi_function function, const char *name,
                                 const struct iwi_call_span *span, const struct iwi_trace_event *events,
                                 size_t count);

/* Without counting the function: of one that is given in parts. */
IW_NODISCARD iw_status iwi_build_part(struct iwi_builder *builder, struct iwi_function function,
                                      const char *name, const struct iwi_call_span *span,
                                      const struct iwi_trace_event *events, size_t count);
/* What the events hand to MPI. */
uint64_t iwi_bytes_given(const struct iwi_trace_event *events, size_t count);
/* What a collective hands to MPI if it gives `bytes` to each of `size` ranks, as struct iwi_call has them. */
uint64_t iwi_bytes_of_collective(uint8_t op, uint64_t bytes, uint32_t size);

/* The same in pieces, for functions whose requests the reader knows better. */
void iwi_build_enter(struct iwi_builder *builder, const struct iwi_call_span *span);
IW_NODISCARD iw_status iwi_build_event(struct iwi_builder *builder, const struct iwi_trace_event *event);
/* The request `id` of the call that was added last; `is_known`: the call says what it is for. */
IW_NODISCARD iw_status iwi_build_post(struct iwi_builder *builder, uint64_t id, bool is_known);
IW_NODISCARD iw_status iwi_build_wait(struct iwi_builder *builder);
IW_NODISCARD iw_status iwi_build_complete(struct iwi_builder *builder, struct iwi_request *request);
IW_NODISCARD iw_status iwi_build_nothing(struct iwi_builder *builder);
/* A function without communication. */
void iwi_build_local(struct iwi_builder *builder, const struct iwi_call_span *span);
void iwi_build_leave(struct iwi_builder *builder, iw_time leave_ps);

static inline void iwi_build_note(struct iwi_builder *builder, enum iwi_trace_gap gap, const char *name)
{
    iwi_gap_note(builder->gaps, gap, builder->rank, builder->functions, name);
}

/* What is open when the rank ends, and late completions put in their places; hands the arrays to `rank`. */
IW_NODISCARD iw_status iwi_build_end(struct iwi_builder *builder, iw_time end_ps,
                                     struct iwi_trace_rank *rank);

/* ---- the whole trace ---- */

/* What is known of a trace beside the trace. */
struct iwi_trace_ending {
    const iw_log *log;
    struct iwi_gaps *gaps;
    bool distrusts_sources; /* receives may name a source that sent nothing */
};

/* Gives receives their messages, drops what leads nowhere, checks. Notes what was lacking. */
IW_NODISCARD iw_status iwi_trace_finish(const struct iwi_trace_ending *finish, struct iw_trace *trace);

/* Its first part, by itself. */
IW_NODISCARD iw_status iwi_trace_match(const struct iwi_trace_ending *finish, struct iw_trace *trace);

/* ---- the order in which messages can have been sent (trace_read_replay.c) ---- */

#define IWI_LINK_NONE UINT32_MAX       /* nothing to wait for */
#define IWI_LINK_POOL (UINT32_MAX - 1) /* the other side is not known */

/* The other side of a message: a rank and its call. In the pool: of a receive, how many receives of its
 * rank's pool end before it; of a send, set by the replay: its place among all. */
struct iwi_message_end {
    uint64_t call;
    uint32_t rank;
};

/* links[rank][call]: for each call of the trace. */
IW_NODISCARD iw_status iwi_trace_replay(const iw_log *log, const struct iw_trace *trace,
                                        struct iwi_message_end **links);

#endif
