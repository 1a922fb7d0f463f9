/* Parts of the model of a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WINDOW_MODEL_H
#define IWI_WINDOW_MODEL_H

#include "features/model/tail.h"

/* What one source alone does. */
struct iwi_source_law {
    uint64_t events; /* detours in which it takes part */
    struct iwi_window_law law;
    bool has_tail;
    struct iwi_tail tail;
};

struct iw_window_model {
    iw_window_horizon horizon;
    struct iwi_window_law law;
    struct iwi_window_replicates replicates;
    bool has_tail; /* fitted, though perhaps not to be used behind what was seen */
    struct iwi_tail tail;
    size_t source_count; /* 0: there is only one, which is the whole */
    struct iwi_source_law *sources;
};

/* E[largest of n] under that source alone; behind what was seen by the most likely tail, if it has one. */
double iwi_source_mean_max_ns(const struct iwi_source_law *source, double n, double observed_ranks);

#endif
