/* Exchange with the neighbours in a grid of 2 dimensions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/halo.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return iwi_halo_rounds(op, 2);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return iwi_halo_messages(op, 2);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_halo_round(op, 2, index, round);
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    iwi_halo_part(op, 2, index, rank, part);
}

const struct iwi_algorithm iwi_halo2d_neighbours = {
    .kind = IWI_HALO2D,
    .name = "neighbours",
    .summary = "neighbours in a 2-dimensional grid",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
