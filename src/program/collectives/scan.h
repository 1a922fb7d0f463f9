/* What inclusive and exclusive scans share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SCAN_H
#define IWI_SCAN_H

#include "program/collectives/rounds.h"

/* Recursive doubling: partial results are exchanged with rank ^ 2^k in round k, where there is such a rank.
 */
static inline uint64_t iwi_scan_doubling_messages(uint32_t ranks)
{
    uint64_t pairs = 0;

    for (uint32_t k = 0; k < iwi_ceil_log2(ranks); k++) {
        pairs += iwi_count_with_bit(ranks, k); /* the upper rank of a pair has bit k */
    }
    return 2 * pairs;
}

/* Fills all but reduce_bytes; false: this rank has no partner in this round. */
static inline bool iwi_scan_doubling_part(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                                          struct iwi_part *part)
{
    const uint32_t partner = rank ^ (UINT32_C(1) << index);

    iwi_part_clear(part);
    if (partner >= op->ranks) {
        return false;
    }
    iwi_part_send(part, partner, op->bytes);
    iwi_part_recv(part, partner, 0, op->bytes);
    return true;
}

/* Linear: in round i rank i passes its prefix on to rank i + 1. */
static inline void iwi_scan_linear_round(uint64_t index, struct iwi_round *round)
{
    iwi_round_clear(round);
    iwi_round_add(round, (uint32_t)index, 2, 1);
}

/* Fills all but reduce_bytes; true for the receiver. */
static inline bool iwi_scan_linear_part(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                                        struct iwi_part *part)
{
    iwi_part_clear(part);
    if (rank == index) {
        iwi_part_send(part, rank + 1, op->bytes);
    } else if (rank == index + 1) {
        iwi_part_recv(part, rank - 1, 0, op->bytes);
        return true;
    }
    return false;
}

#endif
