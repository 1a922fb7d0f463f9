/* Allgather by Bruck's algorithm: round k gets the next 2^k blocks from the rank 2^k ahead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const uint32_t distance = UINT32_C(1) << index;
    const uint32_t blocks = distance < op->ranks - distance ? distance : op->ranks - distance;

    iwi_round_shift(round, op->ranks, op->ranks - distance, op->bytes * blocks, 0);
}

const struct iwi_algorithm iwi_allgather_bruck = {
    .kind = IWI_ALLGATHER,
    .name = "bruck",
    .summary = "2^k blocks from the rank 2^k ahead in round k",
    .round_count = iwi_log2_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
