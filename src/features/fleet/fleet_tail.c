/* How far from the others a node must be to stand out: the tail of a distribution, from its middle.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing is assumed of the law but that its tail is no heavier than it looks between the median and the 95th
 * percentile, and not lighter than a normal one. Nodes that do stand out are in the last percents, which do
 * not count; where they are more than one in twenty, the shape says exponential, which is the safe side.
 */
#include "features/fleet/fleet_tail.h"

#include <math.h>

#include "core/stats/select.h"

/* Fewer values do not tell a shape. */
enum { LEAST_FOR_SHAPE = 40 };

/* Of an exponential law: (p95 - p50) / (p75 - p50) = ln 10 / ln 2. */
static const double EXPONENTIAL_RATIO = 3.3219280948873626; /* to the power 1/shape for other shapes */

/* Of a normal law the ratio is 2.44, and its tail further out is lighter than this shape says. */
static const double NORMAL_RATIO = 2.4387;

/* Standard errors of normal samples, times sqrt(count): of gap / gap, and of the ratio. */
static const double GAP_ERROR = 2.1, RATIO_ERROR = 5.4;
static const double GAP_ERRORS = 1.5; /* so many are added */

/* (quartile - median)^2 of a normal law of variance 1. */
static const double SQUARED_GAP = 0.4549364231195727;

struct iwi_fleet_tail iwi_fleet_tail_fit(double *logs, size_t count, double least_variance,
                                         double least_shape)
{
    const double root = sqrt((double)count), median = iwi_select_quantile(logs, count, 0.5),
                 least_gap = sqrt(SQUARED_GAP * least_variance),
                 gap = fmax(iwi_select_quantile(logs, count, 0.75) - median, least_gap);
    struct iwi_fleet_tail tail = {median, gap * (1.0 + GAP_ERRORS * GAP_ERROR / root), 1.0};

    if (count >= LEAST_FOR_SHAPE) {
        const double far = iwi_select_quantile(logs, count, 0.95) - median,
                     ratio = fmax(far / gap + RATIO_ERROR / root, NORMAL_RATIO);

        tail.shape = fmax(log(EXPONENTIAL_RATIO) / log(ratio), least_shape);
    }
    return tail;
}

double iwi_fleet_tail_limit(const struct iwi_fleet_tail *tail, double p, double more_variance)
{
    const double gap = sqrt(tail->gap * tail->gap + SQUARED_GAP * fmax(more_variance, 0.0));

    return tail->median + gap * pow(log(0.5 / p) / M_LN2, 1.0 / tail->shape);
}
