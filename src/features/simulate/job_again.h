/* A job that was simulated, to be simulated again: under recordings drawn anew, or under other noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_AGAIN_H
#define IWI_JOB_AGAIN_H

#include "features/simulate/experiment.h"

/* Trials of each redraw. Redraws have twice the trials together: see iwi_paired_interval(). */
uint32_t iwi_certainty_per_redraw(uint64_t trials);

/* The job of the question; its program stays the caller's. */
struct iwi_paired_job iwi_certainty_job(const iw_certainty_question *question);

/* T/T0 - 1 of each trial. */
void iwi_certainty_slowdowns(const iw_sim_result *result, double *slowdowns);

#endif
