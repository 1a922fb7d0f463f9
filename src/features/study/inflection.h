/* Where noise takes over in one curve of slowdowns; docs/explanation/inflection.md has the rule.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_INFLECTION_H
#define IWI_INFLECTION_H

#include <stddef.h>

struct iwi_curve_point {
    double ranks;
    double slowdown; /* T/T0 - 1; NaN counts as below any threshold */
};

/* The fewest ranks from which on the slowdown stays at or above the threshold, 0 if the last point is below
 * it. Points ascend by ranks. Between the last point below and the next one log(1 + slowdown) is taken as
 * linear in log(ranks): the straight line between two medians on log axes. */
double iwi_inflection(const struct iwi_curve_point *points, size_t count, double threshold);

#endif
