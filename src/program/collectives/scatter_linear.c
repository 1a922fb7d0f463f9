/* Scatter by the root to one rank after the other, in rank order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/tree.h"

static struct iwi_tree_args args_of(const struct iwi_operation *op)
{
    return (struct iwi_tree_args){
        .ranks = op->ranks, .root = op->root, .bytes = op->bytes, .is_personal = true};
}

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct iwi_tree_args args = args_of(op);

    return iwi_tree_rounds(&iwi_star, &args);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct iwi_tree_args args = args_of(op);

    return iwi_tree_messages(&args);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct iwi_tree_args args = args_of(op);

    iwi_tree_down_round(&iwi_star, &args, index, round);
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_tree_args args = args_of(op);

    iwi_tree_down_part(&iwi_star, &args, index, rank, part);
}

const struct iwi_algorithm iwi_scatter_linear = {
    .kind = IWI_SCATTER,
    .name = "linear",
    .summary = "the root sends to each rank",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
