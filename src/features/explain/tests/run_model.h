/* A small model of training on GPUs, and the visits that its trace would have.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rank has a host that launches, a stream that computes, and two streams of collectives: of pairs of
 * ranks, which computation waits for, and of all ranks, beside computation. At the end of a step the host
 * waits for its device. All times are sums and maxima of what is drawn, so the same run without one of its
 * pauses can be computed: that is what a rerun of the trace has to find.
 */
#ifndef IWT_RUN_MODEL_H
#define IWT_RUN_MODEL_H

#include "features/explain/arrivals/visits.h"

struct iwt_model {
    uint64_t seed;
    uint32_t ranks; /* even */
    uint32_t steps, kernels;
    uint32_t slow_rank;    /* whose kernels take a fifth longer; UINT32_MAX: none */
    iw_time late_ps;       /* of launches by no known cause, once in 1024 kernels */
    iw_time collection_ps; /* garbage collection, on one rank in each third step */
    iw_time loading_ps;    /* of the batch, on rank 1 in each step */
    bool is_merged;        /* kernels without gaps between them are one stretch */
    bool has_launches;     /* in the trace */
};

/* `visits` is made, not finished; steps_ps as iwi_rerun_run() has them. Causes with their bit in `without`
 * are left out. */
void iwt_model_run(const struct iwt_model *model, unsigned without, struct iwi_visits *visits,
                   iw_time *steps_ps);

#endif
