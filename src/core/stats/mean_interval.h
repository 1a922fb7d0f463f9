/* The 95 % interval of the mean of trials, which are skewed more often than not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MEAN_INTERVAL_H
#define IWI_MEAN_INTERVAL_H

#include <stddef.h>

#include <idlewave/estimate.h>

/* Mean of `count` > 0 values (not changed, in any order) with its interval: NaN for fewer than
 * IW_LEAST_TRIALS. */
iw_estimate iwi_mean_estimate(const double *values, size_t count);

/* The same for measurements repeated a few times, whose mistakes go both ways: Student's interval. NaN for
 * fewer than 2. */
iw_estimate iwi_student_estimate(const double *values, size_t count);

#endif
