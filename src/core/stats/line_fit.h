/* The slope of a line through points that stand in an order, with an interval.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LINE_FIT_H
#define IWI_LINE_FIT_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/estimate.h>

/* Least squares of y over x. Points of the same group (consecutive; NULL: all are one) share an intercept,
 * all groups share the slope. The 95 % interval is Student's from the residuals, widened where neighbouring
 * residuals resemble each other. Its ends are NaN for too few points to have residuals, all three are if no
 * group has two different x. */
iw_estimate iwi_fit_slope(const double *x, const double *y, const uint32_t *group, size_t count);

#endif
