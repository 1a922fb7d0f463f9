/* How far from the others a node must be to stand out: the tail of a distribution, from its middle.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLEET_TAIL_H
#define IWI_FLEET_TAIL_H

#include <stddef.h>

/* The upper half of values on a logarithmic scale: P(x > median + gap (ln(1 / 2p) / ln 2)^(1/shape)) = p.
 * Shape 1 is an exponential tail (of the values: a power law). */
struct iwi_fleet_tail {
    double median, gap; /* gap: to the upper quartile */
    double shape;       /* up to that of a normal law, 1.35 */
};

/* No fleet is more alike than that: 2 %. */
#define IWI_FLEET_LEAST_VARIANCE (0.02 * 0.02)

/* From `count` > 0 logarithms, of which more than half are finite; reorders them. Their variance by chance
 * alone is at least `least_variance` > 0: counts of a few may be equal by luck. Shapes below `least_shape`
 * are taken for more than one kind of nodes, not for a tail. Errs to the safe side by the standard errors of
 * its quantiles. */
struct iwi_fleet_tail iwi_fleet_tail_fit(double *logs, size_t count, double least_variance,
                                         double least_shape);

/* The point that is exceeded with probability p < 1/4, when a value varies by `more_variance` more (on the
 * logarithmic scale) than those that the tail was fitted to. */
double iwi_fleet_tail_limit(const struct iwi_fleet_tail *tail, double p, double more_variance);

#endif
