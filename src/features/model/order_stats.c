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
