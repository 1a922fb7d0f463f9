/* The fewest sources whose removal brings the slowdown down to a target.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SMALLEST_SET_H
#define IWI_SMALLEST_SET_H

#include "features/whatif/changes.h"

struct iwi_smallest {
    bool is_found, is_exact; /* is_exact: no smaller one does; if none is found, none at all does */
    bool *is_removed;        /* by part, if found; to be freed */
};

/* Simulations, of all trials each, that the search may take. */
uint64_t iwi_smallest_set_budget(const struct iwi_experiment *experiment);

/* Out of the changes of kind SOURCE and REST, which have their numbers, the largest saving first. `all`: the
 * slowdown without all of them; `now`: with all. */
IW_NODISCARD iw_status iwi_smallest_set(struct iwi_experiment *experiment, const struct iwi_changes *changes,
                                        double now, double all, double target,
                                        struct iwi_smallest *smallest_p);

#endif
