/* Scans by recursive doubling and from rank to rank, but for what is combined.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/scan.h"

uint64_t iwi_scan_doubling_messages(const struct iwi_operation *op)
{
    uint64_t pairs = 0;

    for (uint32_t k = 0; k < iwi_ceil_log2(op->ranks); k++) {
        pairs += iwi_count_with_bit(op->ranks, k); /* the upper rank of a pair has bit k */
    }
    return 2 * pairs;
}

void iwi_scan_doubling_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
}

bool iwi_scan_doubling_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                            struct iwi_role *role)
{
    const uint32_t partner = rank ^ (UINT32_C(1) << index);

    iwi_role_clear(role);
    if (partner >= op->ranks) {
        return false;
    }
    iwi_role_send(role, partner, op->bytes);
    iwi_role_recv(role, partner, 0, op->bytes);
    return true;
}

void iwi_scan_linear_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)op;
    iwi_round_clear(round);
    iwi_round_add(round, (uint32_t)index, 2, 1);
}

bool iwi_scan_linear_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                          struct iwi_role *role)
{
    iwi_role_clear(role);
    if (rank == index) {
        iwi_role_send(role, rank + 1, op->bytes);
    } else if (rank == index + 1) {
        iwi_role_recv(role, rank - 1, 0, op->bytes);
        return true;
    }
    return false;
}
