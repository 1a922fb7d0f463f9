/* Allgather by recursive doubling: all that is known is exchanged with the rank 2^k away in round k.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For ranks that are no power of two Bruck's algorithm takes its place (as in Open MPI).
 */
#include "program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return iwi_ceil_log2(op->ranks);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return op->ranks * round_count(op);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    if (iwi_is_power_of_two(op->ranks)) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, op->bytes << index, 0);
    } else {
        iwi_allgather_bruck.round(op, index, round);
    }
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const uint32_t known = UINT32_C(1) << index;

    if (!iwi_is_power_of_two(op->ranks)) {
        iwi_allgather_bruck.part(op, index, rank, part);
        return;
    }
    iwi_part_clear(part);
    iwi_part_send(part, rank ^ known, op->bytes * known);
    iwi_part_recv(part, rank ^ known, 0, op->bytes * known);
}

const struct iwi_algorithm iwi_allgather_recursive_doubling = {
    .kind = IWI_ALLGATHER,
    .name = "recursive-doubling",
    .summary = "exchange with the rank 2^k away in round k",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
