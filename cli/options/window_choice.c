/* Windows of ranks around a delay.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/window_choice.h"

/* The window begins so many ranks, or this part of all, before the one that must be in it. */
enum { MOST_RANKS_BEFORE = 1024, PART_BEFORE = 16 };

void window_centre_on(uint32_t rank, uint64_t fitting, iw_timeline_opts *timeline)
{
    const uint32_t ranks = timeline->about.ranks;
    const uint32_t count = fitting > 0 ? (uint32_t)fitting : 1, before = count / 2;

    timeline->rank_count = count;
    if (rank >= before && (timeline->about.is_periodic || rank - before <= ranks - count)) {
        timeline->first_rank = rank - before;
    } else if (timeline->about.is_periodic) {
        timeline->first_rank = ranks - (before - rank);
    } else {
        timeline->first_rank = rank < before ? 0 : ranks - count;
    }
}

void window_begin_before(uint32_t rank, iw_timeline_opts *timeline)
{
    const uint32_t ranks = timeline->about.ranks;
    const uint32_t part = ranks / PART_BEFORE, before = part < MOST_RANKS_BEFORE ? part : MOST_RANKS_BEFORE;

    timeline->rank_count = 0; /* all */
    if (rank >= before) {
        timeline->first_rank = rank - before;
    } else {
        timeline->first_rank = timeline->about.is_periodic ? ranks - (before - rank) : 0;
    }
}
