/* Allgather by recursive doubling: all that is known is exchanged with the rank 2^k away in round k.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For ranks that are no power of two Bruck's algorithm takes its place (as in Open MPI).
 */
#include "core/program/collectives/rounds.h"

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    if (iwi_is_power_of_two(op->ranks)) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, op->bytes << index, 0);
    } else {
        iwi_allgather_bruck.round(op, index, round);
    }
}

const struct iwi_algorithm iwi_allgather_recursive_doubling = {
    .kind = IWI_ALLGATHER,
    .name = "recursive-doubling",
    .summary = "exchange with the rank 2^k away in round k",
    .round_count = iwi_log2_ranks,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
