/* Trials of a program and of its variants, over threads: the times of their steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_TRIALS_H
#define IWI_TRAINING_TRIALS_H

#include "features/training/step_plan.h"

/* What a variant has of its own; the rest is that of the program. */
struct iwi_train_parts {
    iw_training spec;
    struct iwi_train_plan *plan;
    struct iwi_train_jitter *jitter; /* NULL: there is none */
};

struct iwi_train_variant {
    struct iwi_train_change change;
    const iw_training *spec;
    const struct iwi_train_plan *plan;
    const struct iwi_train_jitter *jitter;
    struct iwi_train_parts *own; /* or NULL */
    iw_time noiseless_ps;        /* a step */
    uint64_t steps;              /* as many sequences as in the steps that were asked for */
};

enum { IWI_MOST_VARIANTS = 1 + IW_TRAINING_CHANGES_MAX + IW_TRAINING_SOURCES_MAX };

struct iwi_trials {
    const iw_training_opts *opts;
    struct iwi_train_variant
        variants[IWI_MOST_VARIANTS]; /* first the program itself, then a row of the bill each */
    uint32_t count;
    uint32_t without[IW_TRAINING_SOURCES_MAX]; /* the variants behind what is absorbed of a source */
    uint32_t moved[IW_TRAINING_SOURCES_MAX];   /* 0: it stops the GPU, or the network, anyway */
    double *step_ns;                           /* [trial][step] of the program */
    double *mean_ns;                           /* [variant][trial]: what a usual batch takes */
    struct iwi_train_taken *taken;             /* [trial] */
};

/* Makes the variants that are asked for, with rows of the result for them. `trials` has the first one; to be
 * released whatever is returned. */
IW_NODISCARD iw_status iwi_variants_make(const iw_log *log, struct iwi_trials *trials,
                                         iw_training_result *result);
/* Only those that the user said himself, of a program without jitter. */
IW_NODISCARD iw_status iwi_variants_make_tries(const iw_log *log, struct iwi_trials *trials,
                                               iw_training_result *result);
void iwi_variants_release(struct iwi_trials *trials);

/* Runs them all. Job number j is trial j % trials of variant j / trials. The same for any number of threads.
 */
IW_NODISCARD iw_status iwi_trials_run(const iw_log *log, const struct iwi_trials *trials);

/* A step of the plan without jitter, once it is like those before it. */
IW_NODISCARD iw_status iwi_noiseless_step(const iw_log *log, const iw_training *spec,
                                          const struct iwi_train_plan *plan, iw_time *step_ps_p);

/* The share of a noiseless step in which a GPU waits for others, the mean. */
double iwi_plan_bubble(const struct iwi_train_plan *plan, iw_time step_ps);

/* Fills in what it costs. */
IW_NODISCARD iw_status iwi_bill_fill(const iw_log *log, const struct iwi_trials *trials,
                                     iw_training_result *result);
/* The same of iwi_variants_make_tries(): differences of noiseless steps. */
void iwi_bill_fill_noiseless(const struct iwi_trials *trials, iw_training_result *result);

#endif
