/* Barrier by dissemination: 1 byte to the rank 2^k ahead in round k (Hensgen, Finkel, Manber).
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
    iwi_round_shift(round, op->ranks, UINT32_C(1) << index, 1, 0);
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    struct iwi_round round;

    fill_round(op, index, &round);
    iwi_part_of_shift(part, &round, op->ranks, rank);
}

const struct iwi_algorithm iwi_barrier_dissemination = {
    .kind = IWI_BARRIER,
    .name = "dissemination",
    .summary = "1 byte to the rank 2^k ahead in round k",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
