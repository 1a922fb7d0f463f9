/* Allgather by Bruck's algorithm: round k gets the next 2^k blocks from the rank 2^k ahead.
 * SPDX-License-Identifier: BSD-3-Clause
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
    const uint32_t distance = UINT32_C(1) << index;
    const uint32_t blocks = distance < op->ranks - distance ? distance : op->ranks - distance;

    iwi_round_shift(round, op->ranks, op->ranks - distance, op->bytes * blocks, 0);
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    struct iwi_round round;

    fill_round(op, index, &round);
    iwi_part_of_shift(part, &round, op->ranks, rank);
}

const struct iwi_algorithm iwi_allgather_bruck = {
    .kind = IWI_ALLGATHER,
    .name = "bruck",
    .summary = "2^k blocks from the rank 2^k ahead in round k",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
