/* Times that operations usually take, and jobs in which some take these.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ALIKE_H
#define IWI_ALIKE_H

#include "features/explain/stragglers/pipeline.h"

/* Who and what an operation is. */
struct iwi_pipe_place {
    uint32_t step, replica, stage, microbatch;
    uint8_t op;
};

/* What may be made alike, all else as traced. */
enum iwi_pipe_cause {
    IWI_PIPE_WORKERS,      /* a worker computes as the median worker of its stage does */
    IWI_PIPE_STAGES,       /* a stage computes as the mean of all stages does */
    IWI_PIPE_MICROBATCHES, /* by as much as a micro-batch is longer or shorter on all stages */
    IWI_PIPE_COMMUNICATION,
    IWI_PIPE_CAUSES
};

struct iwi_alike {
    const struct iw_straggler_job *job;
    iw_time usual_ps[IWI_PIPE_OPS]; /* the mean of what is computed, the median of what is transferred */
    uint64_t counts[IWI_PIPE_OPS];
    double *worker_ps; /* [op][replica][stage] of forward and backward: the mean of a worker */
    double *stage_ps;  /* [op][stage]: the median of its workers */
    double all_ps[2];  /* the mean of stages */
};

IW_NODISCARD iw_status iwi_alike_init(struct iwi_alike *alike, const struct iw_straggler_job *job);
void iwi_alike_release(struct iwi_alike *alike);

/* Lengths in which operations for which `is_usual` says so take the usual time of their kind. */
typedef bool (*iwi_pipe_choice)(const struct iwi_pipe_place *place, const void *arg);
void iwi_alike_usual(const struct iwi_alike *alike, iwi_pipe_choice is_usual, const void *arg,
                     iw_time *lengths_ps);

/* Lengths without this cause. */
void iwi_alike_without(const struct iwi_alike *alike, enum iwi_pipe_cause cause, iw_time *lengths_ps);

#endif
