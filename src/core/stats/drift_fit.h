/* The drift of a random walk, with an interval.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DRIFT_FIT_H
#define IWI_DRIFT_FIT_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/estimate.h>

/* What y gains per x in the mean, where each y inherits the chance of those before it: the increments between
 * successive points are independent, with variances that grow with the increments of x. x rises. Points of
 * the same group (consecutive; NULL: all are one) are one walk; all walks share the drift. The 95 % interval
 * is Student's from the increments, widened where neighbouring increments resemble each other. Its ends are
 * NaN for a single increment, all three are for none. */
iw_estimate iwi_fit_drift(const double *x, const double *y, const uint32_t *group, size_t count);

#endif
