/* Allreduce by dissemination: the whole vector to the rank 2^k ahead in round k, as the papers model it
 * (for ranks that are no power of two some contributions are combined twice).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, UINT32_C(1) << index, op->bytes, op->bytes);
}

const struct iwi_algorithm iwi_allreduce_dissemination = {
    .kind = IWI_ALLREDUCE,
    .name = "dissemination",
    .summary = "whole vector to the rank 2^k ahead in round k",
    .round_count = iwi_log2_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
