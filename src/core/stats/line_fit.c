/* The slope of a line through points that stand in an order, with an interval.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/line_fit.h"

#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"

struct sums {
    double xx, xy; /* around the means of the groups */
    size_t groups;
};

struct residuals {
    double squares;    /* of all */
    double neighbours; /* products of successive ones of a group */
};

/* One past the last point of the group that begins at `first`. */
static size_t group_end(const uint32_t *group, size_t first, size_t count)
{
    size_t end = first + 1;

    while (end < count && (group == NULL || group[end] == group[first])) {
        end++;
    }
    return end;
}

static struct sums sum_up(const double *x, const double *y, const uint32_t *group, size_t count)
{
    struct sums sums = {0.0, 0.0, 0};

    for (size_t first = 0, end; first < count; first = end) {
        end = group_end(group, first, count);
        const double mean_x = iwi_mean(&x[first], end - first), mean_y = iwi_mean(&y[first], end - first);

        for (size_t i = first; i < end; i++) {
            sums.xx += (x[i] - mean_x) * (x[i] - mean_x);
            sums.xy += (x[i] - mean_x) * (y[i] - mean_y);
        }
        sums.groups++;
    }
    return sums;
}

static struct residuals residuals_of(const double *x, const double *y, const uint32_t *group, size_t count,
                                     double slope)
{
    struct residuals residuals = {0.0, 0.0};

    for (size_t first = 0, end; first < count; first = end) {
        end = group_end(group, first, count);
        const double mean_x = iwi_mean(&x[first], end - first), mean_y = iwi_mean(&y[first], end - first);
        double before = 0.0;

        for (size_t i = first; i < end; i++) {
            const double residual = y[i] - mean_y - slope * (x[i] - mean_x);

            residuals.squares += residual * residual;
            residuals.neighbours += residual * before;
            before = residual;
        }
    }
    return residuals;
}

/* If residuals follow AR(1) with coefficient r, the variance of the slope is about (1 + r)/(1 - r) that of
 * independent ones. The sample's r is too small by about (2 + 4 r)/n behind a fitted line. */
static double widening(const struct residuals *residuals, size_t count)
{
    const double sample = residuals->neighbours / residuals->squares;
    const double r = fmin(fmax(sample + (2.0 + 4.0 * sample) / (double)count, 0.0), 0.95);

    return sqrt((1.0 + r) / (1.0 - r));
}

iw_estimate iwi_fit_slope(const double *x, const double *y, const uint32_t *group, size_t count)
{
    const struct sums sums = sum_up(x, y, group, count);
    iw_estimate slope = {NAN, NAN, NAN};
    struct residuals residuals;
    double half = 0.0;

    if (!(sums.xx > 0.0)) {
        return slope;
    }
    slope.value = sums.xy / sums.xx;
    if (count < sums.groups + 2) {
        return slope;
    }
    residuals = residuals_of(x, y, group, count, slope.value);
    if (residuals.squares > 0.0) {
        const double freedom = (double)(count - sums.groups - 1);

        half = iwi_t_quantile(0.975, freedom) * sqrt(residuals.squares / freedom / sums.xx) *
               widening(&residuals, count);
    }
    slope.low = slope.value - half;
    slope.high = slope.value + half;
    return slope;
}
