/* Alltoall with everything posted at once: to the ranks r + 1, r + 2, ... in one round (Open MPI's linear).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return op->ranks > 1;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return (uint64_t)op->ranks * (op->ranks - 1);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
    round->fan = op->ranks - 1;
    round->is_all_to_all = true;
    round->bytes = op->bytes;
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    (void)index;
    iwi_role_clear(role);
    for (uint32_t distance = 1; distance < op->ranks; distance++) {
        const uint32_t peer = iwi_rank_of_virtual(op->ranks, distance, rank);

        iwi_role_send(role, peer, op->bytes);
        /* seen from the peer this rank is P - distance ahead: its send number P - distance - 1 */
        iwi_role_recv(role, peer, op->ranks - distance - 1, op->bytes);
    }
}

const struct iwi_algorithm iwi_alltoall_linear = {
    .kind = IWI_ALLTOALL,
    .name = "linear",
    .summary = "all messages posted at once",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
