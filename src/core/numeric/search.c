/* Newton's method on the logarithm of the share, over that of x, kept between bounds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/numeric/search.h"

#include <float.h>
#include <math.h>

enum { MOST_STEPS = 200 };

static const double LARGEST_STEP = 3.0; /* of log(x) */

/* Between bounds of which Newton's step left one. */
static double between(double low, double high, double x)
{
    if (isinf(high)) {
        return 2.0 * x;
    }
    return low > 0.0 ? sqrt(low) * sqrt(high) : 0.5 * high;
}

double iwi_search_quantile(const struct iwi_searched *of, double chance, int is_above, double guess)
{
    const double sign = is_above ? -1.0 : 1.0; /* of the slope of the share */
    double low = 0.0, high = INFINITY, x = guess;

    for (int i = 0; i < MOST_STEPS; i++) {
        const double share = of->share(of->law, x, is_above);
        const double slope = sign * x * of->density(of->law, x) / share; /* of log(share) over log(x) */
        const double step = log(chance / share) / slope;
        double next = x * exp(fmin(fmax(step, -LARGEST_STEP), LARGEST_STEP));

        if (sign * (share - chance) < 0.0) {
            low = x;
        } else {
            high = x;
        }
        if (fabs(next - x) <= DBL_EPSILON * x) {
            return next;
        }
        x = next > low && next < high ? next : between(low, high, x); /* also where nothing is a number */
    }
    return x;
}
