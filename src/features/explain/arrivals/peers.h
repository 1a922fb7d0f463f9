/* Which ranks do the same work, so that their times can be compared, and time that one lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PEERS_H
#define IWI_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "features/explain/arrivals/visits.h"

/* Of each rank a number, the same for ranks that make the same kinds of visits equally often, in any order,
 * in the same stage, and that are connected by collectives. Without the last, a stage that waits for another
 * one where the file does not tell of it would seem to be busy. For the same reason groups of all ranks do
 * not connect them where the file has no messages, unless there are no other groups. */
IW_NODISCARD iw_status iwi_visits_peers(const struct iwi_visits *visits, uint64_t *peers);

/* ---- time that a rank lost and its peers did not ---- */

/* Peers make the same visits (kind, size, size of the group, as often) and stand in the same stage. Two
 * things are compared: stretches of computation, and for how long a rank did nothing before each visit, since
 * it left the one before. Where all peers have equally many of them in a step, the i-th of each (before the
 * i-th visit of a kind) are compared; else their sums over the step. One is too long by what it exceeds the
 * median of the peers (the lower one of two), if that is more than 3 deviations (1.4826 MAD) of theirs, 2 %
 * of it, and 5 us.
 */

/* Adds pauses: of the cause IWI_PAUSE_SLOW for computation, IWI_PAUSE_OTHER for doing nothing. For files that
 * name none. `visits` is finished and aligned. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_visits_find_slow(struct iwi_visits *visits);

/* ---- sets of ranks that grow together: of each rank one that it belongs to, at last the lowest ---- */

/* Each rank by itself. */
static inline void iwi_sets_init(uint32_t *set_of, size_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        set_of[rank] = rank;
    }
}

/* The lowest rank of the set; makes the way to it shorter. */
static inline uint32_t iwi_set_lowest(uint32_t *set_of, uint32_t rank)
{
    while (set_of[rank] != rank) {
        set_of[rank] = set_of[set_of[rank]];
        rank = set_of[rank];
    }
    return rank;
}

/* True: they were apart. */
static inline bool iwi_sets_unite(uint32_t *set_of, uint32_t a, uint32_t b)
{
    a = iwi_set_lowest(set_of, a);
    b = iwi_set_lowest(set_of, b);
    set_of[a > b ? a : b] = a < b ? a : b;
    return a != b;
}

#endif
