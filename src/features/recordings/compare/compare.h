/* Between the parts of iw_noise_compare().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COMPARE_H
#define IWI_COMPARE_H

#include <idlewave/analysis.h>

#include "core/base/order.h"
#include "core/stats/block_bootstrap.h"

/* One of the two recordings: its detours, and what is drawn from it. */
struct iwi_compared_side {
    iw_recording *detours; /* without those below the common threshold; freed by iwi_without_short_free() */
    iw_recording *losses;  /* of quanta, or NULL; `detours` borrows from them */
    struct iwi_blocks blocks;
    double *watched_ns; /* of all CPUs, by block */
    double *noise_ns, *count;
    int64_t *sorted_ns; /* durations of all CPUs, ascending */
    size_t sorted_count;
    struct iwi_resampling resampling;
};

void iwi_without_short_free(iw_recording *coarse, const iw_recording *recording);

/* Sum of the numerators by block over the time watched, of both sides, and the interval of their difference.
 */
IW_NODISCARD iw_status iwi_compare_ratio(const iw_log *log, const struct iwi_compared_side *a,
                                         const double *numerator_a, const struct iwi_compared_side *b,
                                         const double *numerator_b, iw_compare_value *value_p);

/* Median, 99th percentile and longest with their intervals, and both distances. */
IW_NODISCARD iw_status iwi_compare_durations(const iw_log *log, const struct iwi_compared_side *a,
                                             const struct iwi_compared_side *b,
                                             iw_noise_comparison *comparison);

/* comparison->sources. */
IW_NODISCARD iw_status iwi_compare_sources(const iw_log *log, const struct iwi_compared_side *a,
                                           const struct iwi_compared_side *b,
                                           iw_noise_comparison *comparison);

#endif
