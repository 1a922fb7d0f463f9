/* Reduce-scatter in P - 1 rounds: each rank gives every other its block directly (MPICH, long messages).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, (uint32_t)index + 1, op->bytes, op->bytes);
}

const struct iwi_algorithm iwi_reduce_scatter_pairwise = {
    .kind = IWI_REDUCE_SCATTER,
    .name = "pairwise",
    .summary = "own contribution straight to each block's owner",
    .round_count = iwi_other_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
