/* Bootstrap of time series by blocks (Kunsch 1989; here the blocks do not overlap: Carlstein 1986).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/block_bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include <idlewave/estimate.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"

static const int64_t SHORTEST_BLOCK_NS = 100000000;
enum { LEAST_BLOCKS = 20, MOST_BLOCKS = 100 };

struct iwi_blocks iwi_choose_blocks(int64_t length_ns)
{
    const int64_t wanted = iwi_min(iwi_max(length_ns / SHORTEST_BLOCK_NS, LEAST_BLOCKS), MOST_BLOCKS);
    const int64_t block_ns = (length_ns + wanted - 1) / wanted;

    return (struct iwi_blocks){block_ns, (size_t)((length_ns + block_ns - 1) / block_ns)};
}

iw_status iwi_resampling_new(const iw_log *log, size_t block_count, size_t replicate_count, uint64_t seed,
                             uint32_t stream, struct iwi_resampling *resampling_p)
{
    uint16_t *times = iwi_new_array(log, block_count * replicate_count, sizeof *times);

    if (times == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t r = 0; r < replicate_count; r++) {
        const struct iwi_draw_id id = {seed, r, IWI_DRAW_BOOTSTRAP, stream, 0};

        for (size_t i = 0; i < block_count; i++) {
            times[r * block_count + iwi_draw_below(id, i, block_count)]++;
        }
    }
    *resampling_p = (struct iwi_resampling){block_count, replicate_count, times};
    return IW_OK;
}

void iwi_resampling_release(struct iwi_resampling *resampling)
{
    free(resampling->times);
    resampling->times = NULL;
}

void iwi_add_ratios(const struct iwi_resampling *resampling, const double *numerator,
                    const double *denominator, double sign, double *sums)
{
    for (size_t r = 0; r < resampling->replicate_count; r++) {
        const uint16_t *times = &resampling->times[r * resampling->block_count];
        double above = 0.0, below = 0.0;

        for (size_t i = 0; i < resampling->block_count; i++) {
            above += times[i] * numerator[i];
            below += times[i] * denominator[i];
        }
        sums[r] += sign * (above / below);
    }
}

struct iwi_interval iwi_percentile_interval(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) {
            return (struct iwi_interval){NAN, NAN};
        }
    }
    iwi_sort_doubles(values, count);
    return (struct iwi_interval){iw_quantile_sorted(values, count, 0.025),
                                 iw_quantile_sorted(values, count, 0.975)};
}
