/* A job of pipelined training as a timeline has it: how long each operation of each worker took in each step.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Workers are (replica, stage); tensor parallelism is collapsed. A reader adds events in any order and calls
 * iwi_pipe_finish(), which makes one array of lengths of them. Communication has the length of its transfer
 * only: the time from when the last one had come.
 */
#ifndef IWI_PIPELINE_H
#define IWI_PIPELINE_H

#include <idlewave/straggler.h>
#include <idlewave/time.h>

#include "core/base/base.h"

enum iwi_pipe_op {
    /* one of each micro-batch */
    IWI_PIPE_FORWARD,
    IWI_PIPE_BACKWARD,
    IWI_PIPE_FORWARD_SEND,
    IWI_PIPE_BACKWARD_SEND,
    IWI_PIPE_FORWARD_RECV,
    IWI_PIPE_BACKWARD_RECV,
    /* one of each step */
    IWI_PIPE_GATHER, /* of parameters, by replicas */
    IWI_PIPE_COLLECT,
    IWI_PIPE_LAYERNORM,
    IWI_PIPE_EMBEDDING, /* of the first and the last stage */
    IWI_PIPE_SCATTER,   /* of gradients, by replicas */
    IWI_PIPE_CLIP,      /* by all */
    IWI_PIPE_OPTIMIZER,
    IWI_PIPE_OPS,
    IWI_PIPE_MICROBATCH_OPS = IWI_PIPE_GATHER
};

const char *iwi_pipe_op_name(unsigned op); /* "forward-compute", as timelines call it; NULL past the last */
bool iwi_pipe_op_computes(unsigned op);    /* else it communicates */

#define IWI_PIPE_ABSENT INT64_MIN

struct iwi_pipe_event {
    uint32_t step, replica, rank, sequence; /* as the file numbers them */
    uint8_t op;
    iw_time begin_ps, length_ps;
};

/* One computation of a stage. */
struct iwi_pipe_turn {
    uint32_t stage, microbatch;
    uint8_t op;
};

struct iwi_pipe_span; /* of steps left out */

struct iw_straggler_job {
    const iw_log *log;
    char name[IW_STRAGGLER_NAME_SIZE];
    struct iwi_pipe_event *events; /* until it is finished */
    size_t event_count, event_capacity;
    struct iwi_pipe_span *left_out;
    size_t left_out_count, left_out_capacity;
    iw_time longest_ps; /* of all events */
    iw_time limit_ps;   /* steps whose operations are no longer than this fit into a time */
    uint32_t gpus;      /* 0: not known */
    /* once finished */
    uint32_t step_count, replica_count, stage_count, microbatches;
    uint32_t *step_numbers, *replica_numbers, *ranks; /* ranks[replica * stages + stage] */
    iw_time *lengths_ps;                              /* IWI_PIPE_ABSENT: there is none */
    iw_time *step_begins_ps, *step_ends_ps;
    struct iwi_pipe_turn *turns; /* all computations of a replica, each behind those it waits for */
    uint32_t *leads;             /* of a stage: its last forward but one before its first backward */
};

#define IWI_PIPE_NO_LEAD UINT32_MAX

/* NULL without memory. */
struct iw_straggler_job *iwi_pipe_new(const iw_log *log, const char *name);

/* Steps as "31,32" or "0-15" that events are not taken of. IW_ERR_USAGE. */
IW_NODISCARD iw_status iwi_pipe_leave_out(struct iw_straggler_job *job, const char *text);

/* IW_ERR_RANGE (logged): a length that cannot be. */
IW_NODISCARD iw_status iwi_pipe_add(struct iw_straggler_job *job, const struct iwi_pipe_event *event);

/* IW_ERR_FORMAT, IW_ERR_USAGE (a step left out that is not there), IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_pipe_finish(struct iw_straggler_job *job);

/* ---- places in lengths_ps ---- */

static inline size_t iwi_pipe_worker_width(const struct iw_straggler_job *job)
{
    return (size_t)IWI_PIPE_MICROBATCH_OPS * job->microbatches + (IWI_PIPE_OPS - IWI_PIPE_MICROBATCH_OPS);
}

static inline size_t iwi_pipe_length_count(const struct iw_straggler_job *job)
{
    return (size_t)job->step_count * job->replica_count * job->stage_count * iwi_pipe_worker_width(job);
}

/* Of one worker in one step; `microbatch` is 0 for what there is once. */
static inline size_t iwi_pipe_slot(const struct iw_straggler_job *job, unsigned op, uint32_t microbatch)
{
    return op < IWI_PIPE_MICROBATCH_OPS
               ? (size_t)op * job->microbatches + microbatch
               : (size_t)IWI_PIPE_MICROBATCH_OPS * job->microbatches + (op - IWI_PIPE_MICROBATCH_OPS);
}

static inline size_t iwi_pipe_worker(const struct iw_straggler_job *job, uint32_t step, uint32_t replica,
                                     uint32_t stage)
{
    return (((size_t)step * job->replica_count + replica) * job->stage_count + stage) *
           iwi_pipe_worker_width(job);
}

/* step_ps[step_count]: how long each step takes if operations take these times, each as soon as it can. */
IW_NODISCARD iw_status iwi_pipe_replay(const struct iw_straggler_job *job, const iw_time *lengths_ps,
                                       iw_time *step_ps);

/* ---- timelines, as StragglerAnalysis of ByteDance publishes them, and their files of sizes ---- */

/* Adds the events of a timeline (JSON, packed or not) to a job; it is not finished yet. */
IW_NODISCARD iw_status iwi_straggler_read_events(struct iw_straggler_job *job, const char *path);
IW_NODISCARD iw_status iwi_straggler_read_memory(struct iw_straggler_job *job, const char *name,
                                                 const void *data, size_t size);

/* Reads a file of sizes, and compares it with the finished job. */
IW_NODISCARD iw_status iwi_straggler_read_meta(struct iw_straggler_job *job, const char *file,
                                               const char *data, size_t size);

#endif
