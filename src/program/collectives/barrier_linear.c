/* Barrier by rank 0, which hears from and then releases one rank after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/tree.h"

static struct iwi_tree_args args_of(const struct iwi_operation *op)
{
    return (struct iwi_tree_args){.ranks = op->ranks, .bytes = 1};
}

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct iwi_tree_args args = args_of(op);

    return 2 * iwi_tree_rounds(&iwi_star, &args);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct iwi_tree_args args = args_of(op);

    return 2 * iwi_tree_messages(&args);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct iwi_tree_args args = args_of(op);
    const uint64_t half = iwi_tree_rounds(&iwi_star, &args);

    if (index < half) {
        iwi_tree_up_round(&iwi_star, &args, index, round);
    } else {
        iwi_tree_down_round(&iwi_star, &args, index - half, round);
    }
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_tree_args args = args_of(op);
    const uint64_t half = iwi_tree_rounds(&iwi_star, &args);

    if (index < half) {
        iwi_tree_up_part(&iwi_star, &args, index, rank, part);
    } else {
        iwi_tree_down_part(&iwi_star, &args, index - half, rank, part);
    }
}

const struct iwi_algorithm iwi_barrier_linear = {
    .kind = IWI_BARRIER,
    .name = "linear",
    .summary = "rank 0 hears from each rank, then releases each",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
