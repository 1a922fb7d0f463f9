/* idlewave/stats.h - numbers about samples. Pure functions: arrays in, numbers out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_STATS_H
#define IW_STATS_H

#include <idlewave/log.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A value and its 95 % interval; low = high = value where it is exact. */
typedef struct iw_estimate {
    double value, low, high;
} iw_estimate;

typedef struct iw_summary {
    size_t count;
    double min, q1, median, q3, max, mean;
    double ci95_low, ci95_high; /* of the median, by bootstrap; NaN for fewer than 2 samples */
} iw_summary;

/** Quantile q of sorted values, linear interpolation between order statistics (R's type 7). count > 0. */
IW_API double iw_quantile_sorted(const double *sorted, size_t count, double q);

/** Summary of `count` > 0 values (not changed). The bootstrap (2,000 resamples) draws from `seed` only. */
IW_API IW_NODISCARD iw_status iw_summarize(const iw_log *log, const double *values, size_t count,
                                           uint64_t seed, iw_summary *summary_p);

#ifdef __cplusplus
}
#endif
#endif
