/* What a job would cost if something rare and long was there that the recording did not show.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SENSITIVITY_H
#define IWI_SENSITIVITY_H

#include "features/simulate/experiment.h"

/* What to suppose; length_ns 0: there is no recording. */
iw_sensitivity iwi_sensitivity_of(const iw_reach *reach);

/* Trials that it takes for a job that has so many. */
uint64_t iwi_sensitivity_trials(uint64_t trials);

/* Simulates what is supposed, in the first trials of an experiment whose slowdowns are known, or computes a
 * bound of it where they would hardly meet it. length_ns 0: it hardly counts. */
IW_NODISCARD iw_status iwi_sensitivity_find(const struct iwi_experiment *experiment, const double *slowdowns,
                                            iw_sensitivity *sensitivity);

#endif
