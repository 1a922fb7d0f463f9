/* Barrier up and down a binomial tree of rank 0.
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

    return 2 * iwi_tree_rounds(&iwi_binomial, &args);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct iwi_tree_args args = args_of(op);

    return 2 * iwi_tree_messages(&args);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct iwi_tree_args args = args_of(op);
    const uint64_t half = iwi_tree_rounds(&iwi_binomial, &args);

    if (index < half) {
        iwi_tree_up_round(&iwi_binomial, &args, index, round);
    } else {
        iwi_tree_down_round(&iwi_binomial, &args, index - half, round);
    }
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_tree_args args = args_of(op);
    const uint64_t half = iwi_tree_rounds(&iwi_binomial, &args);

    if (index < half) {
        iwi_tree_up_part(&iwi_binomial, &args, index, rank, part);
    } else {
        iwi_tree_down_part(&iwi_binomial, &args, index - half, rank, part);
    }
}

const struct iwi_algorithm iwi_barrier_tree = {
    .kind = IWI_BARRIER,
    .name = "tree",
    .summary = "binomial tree: all report, then are released",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
