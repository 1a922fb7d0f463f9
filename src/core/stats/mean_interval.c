/* The 95 % interval of the mean of trials, which are skewed more often than not.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Noise makes most trials a little slower and a few much slower. Student's interval is symmetric, so with
 * such trials the truth is above it far more often than below. Hall (1992) takes the skewness out by a
 * monotone cubic: with W = (mean - mu) / s and the skewness c,
 *
 *     g(W) = W + c/3 W^2 + c^2/27 W^3 + c/(6n)
 *
 * is nearly as symmetric as if there were none. Its inverse is
 *
 *     h(x) = 3/c (cbrt(1 + c (x - c/(6n))) - 1),   h(x) = x for c = 0,
 *
 * and the interval is mean - s h(t/sqrt(n)) to mean - s h(-t/sqrt(n)), t Student's quantile of 97.5 % with
 * n - 1 degrees of freedom: for c = 0 it is Student's interval. A sample shows too little of the skewness of
 * its law; c is that of the sample times 1 + 6/n, with which intervals of 10 to 50 trials cover 1 to 4 % more
 * of the skewed laws of docs/validation/coverage.md, and as much of the others.
 */
#include "core/stats/mean_interval.h"

#include <math.h>

#include "core/numeric/numeric.h"

/* Below this the cubic is a straight line to the last digit. */
static const double NO_SKEWNESS = 1e-7;

struct moments {
    double mean, deviation, skewness, least;
};

/* The deviation with n - 1, as Student's; the skewness as above, 0 where all values are alike. */
static struct moments moments_of(const double *values, size_t count)
{
    const double n = (double)count;
    struct moments m = {.least = INFINITY};
    double squares = 0.0, cubes = 0.0;

    for (size_t i = 0; i < count; i++) {
        m.mean += (values[i] - m.mean) / (double)(i + 1); /* exact where all are alike */
        m.least = fmin(m.least, values[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const double away = values[i] - m.mean;

        squares += away * away;
        cubes += away * away * away;
    }
    m.deviation = sqrt(squares / (n - 1.0));
    m.skewness = squares > 0.0 ? (1.0 + 6.0 / n) * cubes / n / pow(squares / n, 1.5) : 0.0;
    return m;
}

/* h(x) above. */
static double unskewed(double x, double skewness, double count)
{
    if (fabs(skewness) < NO_SKEWNESS) {
        return x;
    }
    return 3.0 / skewness * (cbrt(1.0 + skewness * (x - skewness / (6.0 * count))) - 1.0);
}

/* Of a law that is skewed to the right less than half lies above the mean, so all n trials do in fewer than
 * 2^-n cases: the bound need not be below the least. Nor below 0, where nothing else is. */
static double floor_of(const struct moments *m)
{
    if (m->skewness > 0.0) {
        return m->least;
    }
    return m->least >= 0.0 ? 0.0 : -INFINITY;
}

iw_estimate iwi_mean_estimate(const double *values, size_t count)
{
    const struct moments m = moments_of(values, count);
    const double n = (double)count;
    double x;

    if (count < IW_LEAST_TRIALS || isnan(m.deviation)) {
        return (iw_estimate){m.mean, NAN, NAN};
    }
    if (m.deviation == 0.0) {
        return (iw_estimate){m.mean, m.mean, m.mean};
    }
    x = iwi_t_quantile(0.975, n - 1.0) / sqrt(n);
    return (iw_estimate){m.mean, fmax(m.mean - m.deviation * unskewed(x, m.skewness, n), floor_of(&m)),
                         m.mean - m.deviation * unskewed(-x, m.skewness, n)};
}

iw_estimate iwi_student_estimate(const double *values, size_t count)
{
    const struct moments m = moments_of(values, count);
    const double n = (double)count;
    double reach;

    if (count < 2) {
        return (iw_estimate){m.mean, NAN, NAN};
    }
    reach = iwi_t_quantile(0.975, n - 1.0) * m.deviation / sqrt(n);
    return (iw_estimate){m.mean, m.mean - reach, m.mean + reach};
}
