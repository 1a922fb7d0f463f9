/* Bootstrap of time series: blocks of time are drawn, not single events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BLOCK_BOOTSTRAP_H
#define IWI_BLOCK_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

struct iwi_blocks {
    int64_t block_ns;
    size_t count;
};

/* A hundredth of the length, but at least 100 ms, and at least 20 blocks: long blocks keep bursts whole, many
 * blocks make intervals trustworthy. `length_ns` > 0. */
struct iwi_blocks iwi_choose_blocks(int64_t length_ns);

static inline size_t iwi_block_of(const struct iwi_blocks *blocks, int64_t time_ns)
{
    const size_t block = (size_t)(time_ns / blocks->block_ns);

    return block < blocks->count ? block : blocks->count - 1; /* what begins behind the end */
}

/* How often each block stands in each replicate. */
struct iwi_resampling {
    size_t block_count, replicate_count;
    uint16_t *times; /* [replicate][block] */
};

/* `stream` tells apart what must be drawn independently. */
IW_NODISCARD iw_status iwi_resampling_new(const iw_log *log, size_t block_count, size_t replicate_count,
                                          uint64_t seed, uint32_t stream,
                                          struct iwi_resampling *resampling_p);
void iwi_resampling_release(struct iwi_resampling *resampling);

/* Of each replicate: the sum of the numerators over the sum of the denominators, added with factor `sign` to
 * `sums`. */
void iwi_add_ratios(const struct iwi_resampling *resampling, const double *numerator,
                    const double *denominator, double sign, double *sums);

struct iwi_interval {
    double low, high;
};

/* The 2.5 % and 97.5 % quantiles; sorts the values. NaN if some value is. */
struct iwi_interval iwi_percentile_interval(double *values, size_t count);

#endif
