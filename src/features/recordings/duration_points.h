/* Distributions of durations as pictures show them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DURATION_POINTS_H
#define IWI_DURATION_POINTS_H

#include <idlewave/analysis.h>

/* The share of durations that are at least so long, ascending, each length once; thinned towards the short
 * ones. To be freed. */
IW_NODISCARD iw_status iwi_duration_points_new(const iw_log *log, const int64_t *sorted_ns, size_t count,
                                               iw_duration_point **points_p, size_t *point_count_p);

#endif
