/* Quantiles of samples, and the bootstrap confidence interval of the median.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/stats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/base.h"
#include "base/rng.h"

enum { RESAMPLES = 2000, LARGE_SAMPLE = 2048 };

double iw_quantile_sorted(const double *sorted, size_t count, double q)
{
    return gsl_stats_quantile_from_sorted_data(sorted, 1, count, q); /* GSL interpolates as type 7 does */
}

/* The value of the order statistic `index` of a resample, given how often each sorted value was drawn. */
static double pick(const double *sorted, const uint32_t *drawn, size_t index)
{
    size_t i = 0;

    for (size_t seen = drawn[0]; seen <= index; seen += drawn[i]) {
        i++;
    }
    return sorted[i];
}

/* Counting how often each of the sorted values is drawn makes sorting the resample needless. Each word of
 * random bits serves two draws: 32 bits choose among fewer than 2^11 values without measurable bias. */
static double resampled_median(const double *sorted, size_t count, uint64_t seed, uint64_t resample,
                               uint32_t *drawn)
{
    const struct iwi_draw_id id = {seed, resample, IWI_DRAW_BOOTSTRAP, 0, 0};
    double upper;

    memset(drawn, 0, count * sizeof *drawn);
    for (size_t i = 0; i < count; i += 2) {
        const uint64_t bits = iwi_draw(id, i / 2);

        drawn[((bits >> 32) * count) >> 32]++;
        if (i + 1 < count) {
            drawn[((bits & UINT32_MAX) * count) >> 32]++;
        }
    }
    upper = pick(sorted, drawn, count / 2);
    return count % 2 == 1 ? upper : 0.5 * (pick(sorted, drawn, count / 2 - 1) + upper);
}

/* The same for large samples without drawing them: the median of n uniform numbers is Beta(n/2, n/2), by now
 * a normal of mean 1/2 and variance 1/(4(n+2)); the resample's median is the value at that share of the
 * ranks. */
static double resampled_median_of_many(const double *sorted, size_t count, uint64_t seed, uint64_t resample)
{
    const struct iwi_draw_id id = {seed, resample, IWI_DRAW_BOOTSTRAP, 0, 0};
    const double deviation = 0.5 / sqrt((double)count + 2.0);
    const double share = 0.5 + deviation * gsl_cdf_ugaussian_Pinv(iwi_draw_unit(id, 0));

    return sorted[(size_t)(share *
                           (double)count)]; /* 52 random bits reach 8.3 deviations: never out of [0, 1) */
}

/* Percentile bootstrap: the 2.5 % and 97.5 % quantiles of the resampled medians. */
static iw_status bootstrap(const iw_log *log, const double *sorted, size_t count, uint64_t seed,
                           iw_summary *summary)
{
    double *medians = iwi_new_array(log, RESAMPLES, sizeof *medians);
    uint32_t *drawn = iwi_new_array(log, count < LARGE_SAMPLE ? count : 0, sizeof *drawn);
    const iw_status status = medians != NULL && drawn != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        for (size_t r = 0; r < RESAMPLES; r++) {
            medians[r] = count < LARGE_SAMPLE ? resampled_median(sorted, count, seed, r, drawn)
                                              : resampled_median_of_many(sorted, count, seed, r);
        }
        gsl_sort(medians, 1, RESAMPLES);
        summary->ci95_low = iw_quantile_sorted(medians, RESAMPLES, 0.025);
        summary->ci95_high = iw_quantile_sorted(medians, RESAMPLES, 0.975);
    }
    free(drawn);
    free(medians);
    return status;
}

iw_status iw_summarize(const iw_log *log, const double *values, size_t count, uint64_t seed,
                       iw_summary *summary_p)
{
    double *sorted = iwi_new_array(log, count, sizeof *sorted);
    iw_summary s = {.count = count, .ci95_low = NAN, .ci95_high = NAN};
    iw_status status = sorted != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        memcpy(sorted, values, count * sizeof *sorted);
        gsl_sort(sorted, 1, count);
        s.min = sorted[0];
        s.q1 = iw_quantile_sorted(sorted, count, 0.25);
        s.median = iw_quantile_sorted(sorted, count, 0.5);
        s.q3 = iw_quantile_sorted(sorted, count, 0.75);
        s.max = sorted[count - 1];
        s.mean = gsl_stats_mean(sorted, 1, count);
        status = count < 2 ? IW_OK : bootstrap(log, sorted, count, seed, &s);
    }
    if (status == IW_OK) {
        *summary_p = s;
    }
    free(sorted);
    return status;
}
