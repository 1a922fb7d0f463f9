/* Sets of ranks that grow together: of each rank one that it belongs to, at last the set's lowest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SETS_H
#define IWI_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
