/* Allgather around a ring: each round passes one block to the next rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return op->ranks - 1;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return op->ranks * round_count(op);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_shift(round, op->ranks, 1, op->bytes, 0);
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    struct iwi_round round;

    fill_round(op, index, &round);
    iwi_part_of_shift(part, &round, op->ranks, rank);
}

const struct iwi_algorithm iwi_allgather_ring = {
    .kind = IWI_ALLGATHER,
    .name = "ring",
    .summary = "one block to the next rank each round",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
