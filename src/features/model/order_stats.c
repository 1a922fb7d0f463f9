/* The mean of the largest of n losses, by order statistics, and its replicates.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/model/window_law.h"

enum { REPLICATES = 300 };

double iwi_window_law_quantile_ns(const struct iwi_window_law *law, double share)
{
    double above = 0.0;

    for (size_t i = 0; i < law->count; i++) {
        above += law->share[i];
        if (above > share) {
            return law->loss_ns[i];
        }
    }
    return 0.0;
}

/* P(largest of n <= a value that is exceeded with probability `above`). */
static double none_above(double above, double n)
{
    return above < 1.0 ? exp(n * log1p(-above)) : 0.0;
}

/* The largest of n is value i with probability F_i^n - F_(i+1)^n, values descending. */
double iwi_window_mean_max_ns(const struct iwi_window_law *law, const double *share, double n, double most_ns)
{
    double above = 0.0, below = 1.0, mean = 0.0;

    for (size_t i = 0; i < law->count && below > 1e-15; i++) {
        double next;

        if (share[i] <= 0.0) {
            continue;
        }
        above += share[i];
        next = i + 1 < law->count ? none_above(above, n) : 0.0;
        mean += fmin(law->loss_ns[i], most_ns) * (below - next);
        below = next;
    }
    return mean;
}

/* A replicate weighs each block as often as it was drawn. */
static void weigh_blocks(const struct iwi_window_law *law, const uint16_t *times, double *share)
{
    double sum = 0.0;

    for (size_t block = 0; block < law->block_count; block++) {
        const double *in_block = &law->block_share[block * law->capacity];

        if (times[block] > 0) {
            const double weight = times[block];

            for (size_t i = 0; i < law->count; i++) {
                share[i] += weight * in_block[i];
            }
        }
    }
    for (size_t i = 0; i < law->count; i++) {
        sum += share[i];
    }
    for (size_t i = 0; i < law->count; i++) {
        share[i] /= sum;
    }
}

iw_status iwi_window_replicates_new(const iw_log *log, const struct iwi_window_law *law, uint64_t seed,
                                    struct iwi_window_replicates *replicates_p)
{
    struct iwi_window_replicates made = {.share = NULL};

    IW_TRY(iwi_resampling_new(log, law->block_count, REPLICATES, seed, 0, &made.drawn));
    made.share = iwi_new_array(log, law->count * REPLICATES, sizeof *made.share);
    if (made.share == NULL) {
        iwi_window_replicates_release(&made);
        return IW_ERR_NOMEM;
    }
    for (size_t r = 0; r < REPLICATES; r++) {
        weigh_blocks(law, &made.drawn.times[r * law->block_count], &made.share[r * law->count]);
    }
    *replicates_p = made;
    return IW_OK;
}

void iwi_window_replicates_release(struct iwi_window_replicates *replicates)
{
    iwi_resampling_release(&replicates->drawn);
    free(replicates->share);
    *replicates = (struct iwi_window_replicates){0};
}

/* The interval of the mean of the largest of n losses by order statistics: bootstrap-t of its logarithm.
 *
 * A recording that happens to lack large losses gives a mean that is too small and seems too sure. Quantiles
 * of replicates repeat that mistake; replicates divided by their own standard error tell how often it
 * happens.
 */

/* How E[max] changes with the share of each value: with A_i the share of values 0 ... i, E is the sum of
 * (v_i - v_(i+1)) (1 - (1 - A_i)^n). Returns how many slopes are not 0. */
static size_t find_slopes(const struct iwi_window_law *law, const double *share, double n, double *slope)
{
    double above = 0.0, sum = 0.0;
    size_t used = 0;

    for (size_t i = 0; i + 1 < law->count; i++) {
        above += share[i];
        slope[i] = 0.0;
        if (above < 1.0 && (n - 1.0) * log1p(-above) > -40.0) {
            slope[i] = (law->loss_ns[i] - law->loss_ns[i + 1]) * n * exp((n - 1.0) * log1p(-above));
            used = i + 1;
        }
    }
    for (size_t i = used; i-- > 0;) {
        sum += slope[i];
        slope[i] = sum;
    }
    return used;
}

/* The standard error of E[max] by the infinitesimal jackknife over blocks, of which the sample has each
 * `times` times (NULL: once). */
static double standard_error_ns(const struct iwi_window_law *law, const double *share, const uint16_t *times,
                                double n, double *slope)
{
    const size_t used = find_slopes(law, share, n, slope);
    const double block_share = 1.0 / (double)law->block_count;
    double mean = 0.0, squares = 0.0;

    for (size_t i = 0; i < used; i++) {
        mean += slope[i] * share[i];
    }
    for (size_t block = 0; block < law->block_count; block++) {
        const double *in_block = &law->block_share[block * law->capacity];
        const double weight = times == NULL ? 1.0 : times[block];
        double influence = -mean * block_share;

        for (size_t i = 0; i < used && weight > 0.0; i++) {
            influence += slope[i] * in_block[i];
        }
        squares += weight * influence * influence;
    }
    return sqrt(squares);
}

/* Replicates of (log(replicate) - log(mean)) / standard error; those without any loss are left out. */
static size_t find_ratios(const struct iwi_window_law *law, const struct iwi_window_replicates *replicates,
                          double n, double mean_ns, double *slope, double *ratios)
{
    size_t count = 0;

    for (size_t r = 0; r < replicates->drawn.replicate_count; r++) {
        const double *share = &replicates->share[r * law->count];
        const double here_ns = iwi_window_mean_max_ns(law, share, n, HUGE_VAL);
        const double error_ns =
            standard_error_ns(law, share, &replicates->drawn.times[r * law->block_count], n, slope);

        if (here_ns > 0.0 && error_ns > 0.0) {
            ratios[count++] = log(here_ns / mean_ns) * here_ns / error_ns;
        }
    }
    return count;
}

/* The mean rises no faster than the rate of what rules it. If that was seen j times, the rate is known to a
 * factor (Garwood 1936): no interval needs to be wider. j is 1 / error^2 where all are alike; a quarter of
 * that leaves room for those that are not. */
static struct iwi_interval widest(double error)
{
    const double seen = fmax(floor(0.25 / (error * error)), 1.0);

    return (struct iwi_interval){iwi_gamma_quantile(seen, 0.025),
                                 (seen + 1.0) / seen * iwi_gamma_quantile(seen + 1.0, 0.975)};
}

iw_status iwi_window_observed(const iw_log *log, const struct iwi_window_law *law,
                              const struct iwi_window_replicates *replicates, double n,
                              iw_estimate *estimate_p)
{
    const double mean_ns = iwi_window_mean_max_ns(law, law->share, n, HUGE_VAL);
    double *slope = iwi_new_array(log, law->count, sizeof *slope);
    double *ratios = iwi_new_array(log, replicates->drawn.replicate_count, sizeof *ratios);
    iw_status status = IW_ERR_NOMEM;

    if (slope != NULL && ratios != NULL) {
        const double error = standard_error_ns(law, law->share, NULL, n, slope) / mean_ns;
        const size_t count = mean_ns > 0.0 ? find_ratios(law, replicates, n, mean_ns, slope, ratios) : 0;

        *estimate_p = (iw_estimate){mean_ns, mean_ns, mean_ns};
        if (count > 0 && error > 0.0) {
            const struct iwi_interval interval = iwi_percentile_interval(ratios, count);
            const struct iwi_interval limit = widest(error);

            estimate_p->low = mean_ns * fmax(exp(-fmax(interval.high, 0.0) * error), limit.low);
            estimate_p->high = mean_ns * fmin(exp(-fmin(interval.low, 0.0) * error), limit.high);
        }
        status = IW_OK;
    }
    free(slope);
    free(ratios);
    return status;
}
