/* Reduce-scatter around a ring: each round passes one partial block to the next rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_shift(round, op->ranks, 1, op->bytes, op->bytes);
}

const struct iwi_algorithm iwi_reduce_scatter_ring = {
    .kind = IWI_REDUCE_SCATTER,
    .name = "ring",
    .summary = "one partial block to the next rank each round",
    .round_count = iwi_other_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
