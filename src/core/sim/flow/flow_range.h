/* Which numbers of a range of ranks lie in a block of them, found without looking at the others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_RANGE_H
#define IWI_FLOW_RANGE_H

#include "core/program/program.h"

/* A range goes around the ring of P ranks, maybe several times, and passes the block once in each turn. */
struct iwi_turns {
    int64_t ranks;                /* P */
    int64_t first, stride, count; /* of the range; the stride is the shorter way around */
    int64_t low, high;            /* the block: ranks low ... high - 1 */
    int64_t turn;
};

/* Numbers begin ... end - 1 of the range are ranks rank, rank + stride, ... of the block. */
struct iwi_turn {
    int64_t begin, end, rank;
};

static inline struct iwi_turns iwi_turns_of(const struct iwi_range *range, uint32_t ranks, uint32_t low,
                                            uint32_t high)
{
    const int64_t p = ranks, stride = (range->stride % p + p) % p;

    return (struct iwi_turns){.ranks = p,
                              .first = range->first,
                              .stride = stride > p / 2 ? stride - p : stride,
                              .count = range->count,
                              .low = low,
                              .high = high};
}

/* The least number whose place is at or beyond `distance` from the first, n > 0. */
static inline int64_t iwi_turns_reach(int64_t distance, int64_t n)
{
    return distance <= 0 ? 0 : (distance + n - 1) / n;
}

/* The next turn that meets the block, in the order of numbers; false: there is none. */
static inline bool iwi_turns_next(struct iwi_turns *turns, struct iwi_turn *turn_p)
{
    const int64_t n = turns->stride < 0 ? -turns->stride : turns->stride;
    const int64_t length = (turns->count - 1) * n; /* of the way */

    while (turns->count > 0 && turns->low < turns->high) {
        const int64_t moved = turns->turn++ * turns->ranks;
        /* along the way, from the first rank on */
        const int64_t near =
            moved + (turns->stride < 0 ? turns->first - (turns->high - 1) : turns->low - turns->first);
        const int64_t far = near + (turns->high - turns->low);
        int64_t begin, end;

        if (near > length || (n == 0 && moved > 0)) {
            return false;
        }
        begin = n == 0 ? (near > 0 || far <= 0 ? turns->count : 0) : iwi_turns_reach(near, n);
        end = n == 0 ? turns->count : iwi_turns_reach(far, n);
        end = end < turns->count ? end : turns->count;
        if (begin < end) {
            *turn_p = (struct iwi_turn){
                begin, end, turns->first + begin * turns->stride + (turns->stride < 0 ? moved : -moved)};
            return true;
        }
    }
    return false;
}

#endif
