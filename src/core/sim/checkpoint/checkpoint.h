/* Restart points of long simulations: when they are written, what they hold, and going on from one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A folder holds at most one valid point: the file idlewave-point, put in place by a rename after each member
 * has written its block of ranks to idlewave-part-GENERATION.FIRSTRANK. Members may be of another number when
 * the run goes on. Between two rounds nothing is under way, so a point is the arrays of the flow and a
 * position.
 */
#ifndef IWI_CHECKPOINT_H
#define IWI_CHECKPOINT_H

#include "core/sim/engine.h"

/* Names of the files, which nobody else has: users may name a folder with other things in it. */
#define IWI_POINT_NAME "idlewave-point"
#define IWI_LOCK_NAME "idlewave-lock"
#define IWI_PART_PREFIX "idlewave-part-"

struct iwi_flow;

/* Between which steps of a run: repetition, operation, round of a pattern, and pass of a streaming run that
 * began with that round; or segment (as operation) of a trace. All 0: the start. */
struct iwi_position {
    uint64_t repetition, operation, round, pass;
};

/* What the file idlewave-point says. */
struct iwi_point {
    uint64_t generation; /* 0: there is none */
    uint64_t is_trials;  /* 0: the run without noise is under way */
    iw_time noiseless_ps;
    uint64_t done;      /* trials that have ended */
    uint64_t has_state; /* of the batch that follows them; 0: it has not begun */
    struct iwi_position at;
    uint64_t lanes;       /* of the trials */
    uint64_t part_count;  /* files of that state */
    uint32_t *part_first; /* part_count + 1: their first ranks, and the end */
    iw_time *makespan_ps; /* done */
};

/* Of one process. */
struct iwi_checkpoint {
    const char *dir;
    double every_s;
    uint64_t digest; /* of all that the result depends on */
    struct iwi_point found;
    uint64_t generation; /* of the last point that was begun; each has files of its own */
    uint32_t lanes;      /* of the trials */
    int lock;            /* held by the first process; -1: not */
};

/* Makes the folder and reads what it holds. IW_ERR_USAGE (logged): points of another run. */
IW_NODISCARD iw_status iwi_checkpoint_init(const iw_log *log, const char *dir, double every_s,
                                           const struct iwi_job *job, uint64_t trials, bool is_first,
                                           struct iwi_checkpoint *checkpoint);
void iwi_checkpoint_release(struct iwi_checkpoint *checkpoint);

/* Of one member, for one run of batches. */
struct iwi_checkpointer {
    struct iwi_checkpoint *checkpoint;
    struct iwi_member *member;
    const struct iwi_partition *partition;
    bool is_trials;
    iw_time noiseless_ps;
    const iw_time *makespan_ps; /* of trials that have ended */
    uint64_t done;
    /* when to write: */
    uint64_t generation;
    uint64_t visits, next_visit;    /* so far; the one at which all are asked again */
    double last_s, cost_s, asked_s; /* end and duration of the last writing; last asked */
    bool has_failed;                /* no more points: told once */
};

/* The keepers of all members count on from `generation`: the process's, read before members start, because
 * iwi_checkpointer_end() of one of them sets it, perhaps before another has begun. */
void iwi_checkpointer_init(struct iwi_checkpoint *checkpoint, uint64_t generation, struct iwi_member *member,
                           const struct iwi_partition *partition, struct iwi_checkpointer *keeper);

void iwi_checkpointer_end(const struct iwi_checkpointer *keeper);

/* All members come by at the same positions in the same order; `flow` NULL: between batches. Now and then
 * they write a point. */
IW_NODISCARD iw_status iwi_checkpointer_visit(struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                                              const struct iwi_position *at);

/* Brings the flow, just restarted, into the state of the point that was found. */
IW_NODISCARD iw_status iwi_checkpointer_load(const struct iwi_checkpointer *keeper, struct iwi_flow *flow);

/* ---- files (checkpoint_file.c, checkpoint_block.c) ---- */

/* Failures are not logged: errno tells. */
/* `point`: what the part belongs to; but for its parts. */
/* Removes parts of other generations than this; has_ended: and the point and the lock. */
/* For one process of all that work on this run. */
IW_NODISCARD iw_status iwi_point_lock(const iw_log *log, struct iwi_checkpoint *checkpoint);

/* Of all that the times of a run depend on (checkpoint_digest.c). */
uint64_t iwi_job_digest(const struct iwi_job *job, uint64_t trials);

#endif
