/* Trials of a run, over threads: the times of their steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_TRIALS_H
#define IWI_TRAINING_TRIALS_H

#include "training/step_plan.h"

struct iwi_trials {
    const iw_training *spec;
    const struct iwi_train_plan *plan;
    const struct iwi_train_jitter *jitter;
    const iw_training_opts *opts;
    const struct iwi_train_change *changes; /* the first one changes nothing */
    uint32_t change_count;
    double *step_ns; /* [change][trial][step]; owned by the caller */
};

/* Job number j is trial j % trials of change j / trials. The same for any number of threads. */
IW_NODISCARD iw_status iwi_trials_run(const iw_log *log, const struct iwi_trials *trials);

/* A step of the plan without jitter, once it is like those before it. */
IW_NODISCARD iw_status iwi_noiseless_step(const iw_log *log, const iw_training *spec,
                                          const struct iwi_train_plan *plan, iw_time *step_ps_p);

/* Fills in what it costs. */
IW_NODISCARD iw_status iwi_bill_fill(const iw_log *log, const struct iwi_trials *trials,
                                     iw_training_result *result);

/* The changes that a program can be asked about; returns how many, the first one changes nothing. */
enum { IWI_MOST_TRAIN_CHANGES = 1 + IW_TRAINING_CHANGES_MAX };
uint32_t iwi_bill_changes(const iw_training *spec, bool wants_bill,
                          struct iwi_train_change changes[IWI_MOST_TRAIN_CHANGES],
                          iw_training_result *result);

#endif
