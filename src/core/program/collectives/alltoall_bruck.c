/* Alltoall by Bruck's algorithm: round k forwards all blocks whose distance has bit k set.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const uint32_t blocks = iwi_count_with_bit(op->ranks, (uint32_t)index);

    iwi_round_shift(round, op->ranks, UINT32_C(1) << index, op->bytes * blocks, 0);
}

const struct iwi_algorithm iwi_alltoall_bruck = {
    .kind = IWI_ALLTOALL,
    .name = "bruck",
    .summary = "forwards blocks to the rank 2^k ahead in round k",
    .round_count = iwi_log2_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
