/* Gathers and scatters.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_gather_binomial = {
    .kind = IWI_GATHER,
    .name = "binomial",
    .summary = "binomial tree",
    IWI_ROUNDS_OF(iwi_binomial),
};

/* Gather by the root, which takes from one rank after the other, in rank order. */

/* The way up takes the highest rank first. Turned once more. */
static uint64_t in_rank_order(const struct iwi_operation *op, uint64_t index)
{
    return iwi_star_rounds(op) - 1 - index;
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_star_round(op, in_rank_order(op, index), round);
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    iwi_star_role(op, in_rank_order(op, index), rank, role);
}

const struct iwi_algorithm iwi_gather_linear = {
    .kind = IWI_GATHER,
    .name = "linear",
    .summary = "the root receives from each rank",
    .round_count = iwi_star_rounds,
    .message_count = iwi_star_messages,
    .round = fill_round,
    .role = fill_role,
};

/* Scatter down a binomial tree: a message carries the blocks of a whole subtree. */

const struct iwi_algorithm iwi_scatter_binomial = {
    .kind = IWI_SCATTER,
    .name = "binomial",
    .summary = "binomial tree",
    IWI_ROUNDS_OF(iwi_binomial),
};

/* Scatter by the root to one rank after the other, in rank order. */

const struct iwi_algorithm iwi_scatter_linear = {
    .kind = IWI_SCATTER,
    .name = "linear",
    .summary = "the root sends to each rank",
    IWI_ROUNDS_OF(iwi_star),
};
