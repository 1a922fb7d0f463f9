/* Jobs made by hand: 1F1B, each length by a function.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_PIPE_TESTING_H
#define IWT_PIPE_TESTING_H

#include "features/explain/stragglers/pipeline.h"
#include "support/support.h"

struct iwt_pipe_shape {
    uint32_t steps, replicas, stages, microbatches;
    iw_time (*length_ps)(const struct iwi_pipe_event *event, uint32_t stage);
};

/* How many forwards stage `stage` of so many begins with in 1F1B. */
static inline uint32_t iwt_warm(uint32_t stage, uint32_t stages, uint32_t microbatches)
{
    const uint32_t warm = stages - 1 - stage;

    return warm < microbatches ? warm : microbatches;
}

/* Adds one operation; begins are the places in the order of the stage. */
static inline void iwt_pipe_op(struct iw_straggler_job *job, const struct iwt_pipe_shape *shape,
                               struct iwi_pipe_event event, uint32_t stage, unsigned op, uint32_t sequence)
{
    event.op = (uint8_t)op;
    event.sequence = sequence;
    event.length_ps = shape->length_ps(&event, stage);
    event.begin_ps += IW_PS_PER_US;
    assert_int_equal(iwi_pipe_add(job, &event), IW_OK);
}

static inline void iwt_pipe_worker(struct iw_straggler_job *job, const struct iwt_pipe_shape *shape,
                                   uint32_t step, uint32_t replica, uint32_t stage)
{
    const uint32_t m = shape->microbatches, warm = iwt_warm(stage, shape->stages, m);
    struct iwi_pipe_event event = {
        .step = step, .replica = replica, .rank = stage * shape->replicas + replica};

    for (uint32_t q = 0; q < m; q++) {
        /* forward q is behind all forwards before it and the backwards that came between them */
        event.begin_ps = (iw_time)(q < warm ? q : warm + 2 * (q - warm)) * IW_PS_PER_MS;
        iwt_pipe_op(job, shape, event, stage, IWI_PIPE_FORWARD, q);
        event.begin_ps = (iw_time)(q < m - warm ? warm + 2 * q + 1 : m + q) * IW_PS_PER_MS;
        iwt_pipe_op(job, shape, event, stage, IWI_PIPE_BACKWARD, q);
        for (unsigned op = IWI_PIPE_FORWARD_SEND; op <= IWI_PIPE_BACKWARD_RECV; op++) {
            iwt_pipe_op(job, shape, event, stage, op, q);
        }
    }
    for (unsigned op = IWI_PIPE_GATHER; op < IWI_PIPE_OPS; op++) {
        iwt_pipe_op(job, shape, event, stage, op, 0);
    }
}

/* Not finished. */
static inline struct iw_straggler_job *iwt_pipe(const iw_log *log, const struct iwt_pipe_shape *shape)
{
    struct iw_straggler_job *job = iwi_pipe_new(log, "job");

    assert_non_null(job);
    for (uint32_t step = 0; step < shape->steps; step++) {
        for (uint32_t replica = 0; replica < shape->replicas; replica++) {
            for (uint32_t stage = 0; stage < shape->stages; stage++) {
                iwt_pipe_worker(job, shape, step, replica, stage);
            }
        }
    }
    return job;
}

#endif
