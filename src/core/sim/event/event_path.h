/* Explaining in the event engine: paths follow the winner of every maximum. Nothing happens unless paths are
 * kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_EVENT_PATH_H
#define IWI_EVENT_PATH_H

#include "core/sim/event/event_state.h"
#include "core/sim/path.h"

/* What released a node: the end or the start of another, or the beginning of the run. */
#define IWI_CAUSE_NONE UINT64_MAX

static inline uint64_t iwi_cause(uint64_t node, bool is_start)
{
    return 2 * node + is_start;
}

/* The path to a release. */
static inline iw_split path_of_cause(const struct event_paths *paths, uint64_t cause)
{
    if (cause == IWI_CAUSE_NONE) {
        return (iw_split){.hops = 0};
    }
    return cause % 2 ? paths->start[cause / 2] : paths->end[cause / 2];
}

/* Later of two times wins; the first one when they are equal. */
static inline iw_split path_of_later(iw_time first, const iw_split *first_path, iw_time second,
                                     const iw_split *second_path)
{
    return second > first ? *second_path : *first_path;
}

static inline iw_split path_after_gap(const iw_split *start, const struct iwi_cost *cost)
{
    iw_split path = *start;

    iwi_path_add_gap(&path, cost);
    return path;
}

#endif
