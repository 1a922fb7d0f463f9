/* Tests whether excesses are of one generalised Pareto law.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/model/tail.h"

/* The distance that is exceeded with these probabilities if xi and sigma were fitted, by xi. Found by
 * simulation: 8,000 samples of 200 values each, fitted by iwi_gpd_fit(); src/features/model/tests/tail_test.c
 * checks them. */
enum { LEVELS = 5, SHAPES = 7 };
static const double LEVEL[LEVELS] = {0.25, 0.1, 0.05, 0.01, 0.005};
static const double SHAPE[SHAPES] = {-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8};
static const double DISTANCE[SHAPES][LEVELS] = {
    {0.635, 0.904, 1.129, 1.686, 1.881}, {0.602, 0.857, 1.041, 1.541, 1.797},
    {0.567, 0.797, 0.976, 1.435, 1.625}, {0.539, 0.746, 0.897, 1.290, 1.464},
    {0.515, 0.703, 0.869, 1.248, 1.403}, {0.497, 0.682, 0.814, 1.165, 1.316},
    {0.485, 0.659, 0.804, 1.128, 1.269},
};

/* A^2 = -n - sum (2 i - 1) (log z_i + log(1 - z_(n+1-i))) / n, values ascending, z their probabilities. */
double iwi_gpd_distance(const struct iwi_gpd *gpd, const double *excess, size_t count)
{
    const double n = (double)count;
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double small = iwi_gpd_above(gpd, excess[count - 1 - i]);
        const double large = iwi_gpd_above(gpd, excess[i]);

        sum += (2.0 * (double)i + 1.0) * (log(fmax(1.0 - small, 1e-300)) + log(fmax(large, 1e-300)));
    }
    return -n - sum / n;
}

/* The table's distance for a level, between the shapes it has. */
static double distance_at(double xi, size_t level)
{
    size_t i = 0;
    double part;

    while (i + 2 < SHAPES && SHAPE[i + 1] < xi) {
        i++;
    }
    part = fmin(fmax((xi - SHAPE[i]) / (SHAPE[i + 1] - SHAPE[i]), 0.0), 1.0);
    return DISTANCE[i][level] + part * (DISTANCE[i + 1][level] - DISTANCE[i][level]);
}

double iwi_gpd_goodness(const struct iwi_gpd *gpd, const double *excess, size_t count)
{
    const double distance = iwi_gpd_distance(gpd, excess, count);
    double before = distance_at(gpd->xi, 0);

    if (distance <= before) {
        return LEVEL[0];
    }
    for (size_t level = 1; level < LEVELS; level++) {
        const double here = distance_at(gpd->xi, level);

        if (distance < here) {
            const double part = (distance - before) / (here - before);

            return LEVEL[level - 1] * pow(LEVEL[level] / LEVEL[level - 1], part);
        }
        before = here;
    }
    return LEVEL[LEVELS - 1];
}

enum { MOST_OUTLIERS = 40 };

/* For all numbers of outliers together. */
static const double OUTLIER_LEVEL = 0.005;

/* P(`apart` values above y all exceed y + gap), if the law is that of the values up to y. */
static double chance_of_gap(const double *excess, size_t count, size_t apart, double weight)
{
    const double y = excess[apart], gap = excess[apart - 1] - y;
    struct iwi_gpd_posterior p;
    double chance = 0.0;

    iwi_gpd_fit(excess, count, apart, weight, &p);
    for (size_t i = 0; i < IWI_GPD_GRID; i++) {
        for (size_t j = 0; j < IWI_GPD_GRID; j++) {
            const double sigma = exp(p.log_sigma[j]), xi = p.tau[i] * sigma, sigma_at = sigma + xi * y;

            if (p.mass[i][j] > 1e-9 && sigma_at > 0.0) {
                chance +=
                    p.mass[i][j] * pow(iwi_gpd_above(&(struct iwi_gpd){xi, sigma_at}, gap), (double)apart);
            }
        }
    }
    return chance;
}

/* Gaps after the j largest values, times j, are alike for an exponential tail, those of logarithms for a
 * Pareto tail: the number after which the gap stands out. */
static size_t widest_gap(const double *excess, size_t most, bool is_logarithmic)
{
    double widest = -1.0;
    size_t after = 0;

    for (size_t j = 1; j <= most; j++) {
        const double high = excess[j - 1], low = excess[j];
        const double gap = (double)j * (is_logarithmic ? log(high / fmax(low, 1e-9 * high)) : high - low);

        if (gap > widest) {
            widest = gap;
            after = j;
        }
    }
    return after;
}

size_t iwi_gpd_outliers(const double *excess, size_t count, double weight)
{
    const size_t most = count / 2 < MOST_OUTLIERS ? count / 2 : MOST_OUTLIERS;

    if (most == 0 || excess[0] <= 0.0) {
        return 0;
    }
    for (int kind = 0; kind < 2; kind++) {
        const size_t after = widest_gap(excess, most, kind == 1);

        if (chance_of_gap(excess, count, after, weight) < OUTLIER_LEVEL / MOST_OUTLIERS) {
            return after;
        }
    }
    return 0;
}
