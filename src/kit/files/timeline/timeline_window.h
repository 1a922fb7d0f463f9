/* What of a timeline is exported.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_WINDOW_H
#define IWI_TIMELINE_WINDOW_H

#include <idlewave/timeline.h>

#include "core/base/base.h"

/* Ranks of the exact window from index `first` on, steps that touch [from, to). */
struct iwi_exact_window {
    const iw_timeline *timeline;
    uint32_t first, count;
    iw_time from_ps, to_ps;
};

/* Steps of one rank. */
struct iwi_exact_window_steps {
    uint32_t rank;
    const iw_step *steps;
    size_t count;
    uint64_t first_number;
};

/* `window` NULL: everything. IW_ERR_UNSUPPORTED: nothing is exact; IW_ERR_RANGE: not all of that is. */
IW_NODISCARD iw_status iwi_exact_window_open(const iw_log *log, const iw_timeline *timeline,
                                             const iw_timeline_window *wanted,
                                             struct iwi_exact_window *window);

struct iwi_exact_window_steps iwi_exact_window_steps(const struct iwi_exact_window *window, uint32_t number);

#endif
