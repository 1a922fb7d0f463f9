/* The drift of a random walk, with an interval.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With increments dy_i of variance s^2 dx_i the best estimate is sum dy / sum dx, of variance s^2 / sum dx. A
 * line of least squares would take the points for independent: its interval is far too narrow.
 */
#include "core/stats/drift_fit.h"

#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"

struct sums {
    double x, y; /* of the increments */
    size_t count;
};

struct residuals {
    double squares;    /* of all */
    double neighbours; /* products of successive ones of a group */
};

/* Whether point i continues the walk of the one before. */
static bool continues(const uint32_t *group, size_t i)
{
    return i > 0 && (group == NULL || group[i] == group[i - 1]);
}

static struct sums sum_up(const double *x, const double *y, const uint32_t *group, size_t count)
{
    struct sums sums = {0.0, 0.0, 0};

    for (size_t i = 1; i < count; i++) {
        if (continues(group, i)) {
            sums.x += x[i] - x[i - 1];
            sums.y += y[i] - y[i - 1];
            sums.count++;
        }
    }
    return sums;
}

/* Of equal variance: divided by the root of dx. */
static struct residuals residuals_of(const double *x, const double *y, const uint32_t *group, size_t count,
                                     double drift)
{
    struct residuals residuals = {0.0, 0.0};
    double before = 0.0;

    for (size_t i = 0; i < count; i++) {
        double residual = 0.0;

        if (continues(group, i)) {
            const double dx = x[i] - x[i - 1];

            residual = (y[i] - y[i - 1] - drift * dx) / sqrt(dx);
        }
        residuals.squares += residual * residual;
        residuals.neighbours += residual * before;
        before = residual;
    }
    return residuals;
}

/* If increments follow AR(1) with coefficient r, the variance of their mean is about (1 + r)/(1 - r) that of
 * independent ones. The sample's r is too small by about (1 + 3 r)/n. Negative ones do not narrow. */
static double widening(const struct residuals *residuals, size_t count)
{
    const double sample = residuals->neighbours / residuals->squares;
    const double r = fmin(fmax(sample + (1.0 + 3.0 * sample) / (double)count, 0.0), 0.95);

    return sqrt((1.0 + r) / (1.0 - r));
}

iw_estimate iwi_fit_drift(const double *x, const double *y, const uint32_t *group, size_t count)
{
    const struct sums sums = sum_up(x, y, group, count);
    iw_estimate drift = {NAN, NAN, NAN};
    struct residuals residuals;
    double half = 0.0;

    if (!(sums.x > 0.0)) {
        return drift;
    }
    drift.value = sums.y / sums.x;
    if (sums.count < 2) {
        return drift;
    }
    residuals = residuals_of(x, y, group, count, drift.value);
    if (residuals.squares > 0.0) {
        const double freedom = (double)(sums.count - 1);

        half = iwi_t_quantile(0.975, freedom) * sqrt(residuals.squares / freedom / sums.x) *
               widening(&residuals, sums.count);
    }
    drift.low = drift.value - half;
    drift.high = drift.value + half;
    return drift;
}
