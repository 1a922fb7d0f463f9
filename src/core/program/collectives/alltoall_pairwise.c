/* Alltoall in P - 1 rounds: in round i to the rank i + 1 ahead, from the rank i + 1 behind.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, (uint32_t)index + 1, op->bytes, 0);
}

const struct iwi_algorithm iwi_alltoall_pairwise = {
    .kind = IWI_ALLTOALL,
    .name = "pairwise",
    .summary = "to the rank i ahead in round i",
    .round_count = iwi_other_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
