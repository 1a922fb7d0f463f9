/* Reduces.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"
#include "core/program/collectives/tree.h"
#include "core/program/collectives/two_level.h"

const struct iwi_algorithm iwi_reduce_binomial = {
    .kind = IWI_REDUCE,
    .name = "binomial",
    .summary = "binomial tree",
    IWI_ROUNDS_OF(iwi_binomial),
};

/* Reduction up a complete binary tree, pipelined by segments. */

const struct iwi_algorithm iwi_reduce_binary = {
    .kind = IWI_REDUCE,
    .name = "binary",
    .summary = "binary tree, pipelined by segments",
    IWI_ROUNDS_OF(iwi_binary),
};

/* Reduction along a chain of all ranks, pipelined by segments (Open MPI's pipeline). */

const struct iwi_algorithm iwi_reduce_chain = {
    .kind = IWI_REDUCE,
    .name = "chain",
    .summary = "chain, pipelined by segments",
    IWI_ROUNDS_OF(iwi_chain),
};

/* Reduction by the root, which takes from one rank after the other, the highest first (as Open MPI). */

const struct iwi_algorithm iwi_reduce_linear = {
    .kind = IWI_REDUCE,
    .name = "linear",
    .summary = "the root receives from each rank",
    IWI_ROUNDS_OF(iwi_star),
};

/* Reduction by Rabenseifner: reduce-scatter by vector halving, then a binomial gather to the root (MPICH and
 * Open MPI for long messages). Ranks are numbered from the root on, so that it is never folded away.
 */

static void make_fold(const struct iwi_operation *op, struct iwi_fold *fold)
{
    iwi_fold_init(fold, op->ranks, op->root, 0);
    fold->core_rounds = 2 * fold->steps;
    fold->in_bytes = op->bytes;
    fold->out_bytes = 0;
}

static uint64_t round_count(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    make_fold(op, &fold);
    return (uint64_t)fold.core_rounds + (fold.extras > 0); /* extras get nothing back */
}

static uint64_t message_count(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    make_fold(op, &fold);
    return fold.extras + (uint64_t)fold.core * fold.steps + fold.core - 1;
}

/* In the gather the core ranks below 2^(bit+1) are left; the upper half of them gives what it has. */
static uint32_t gather_bit(const struct iwi_fold *fold, uint32_t step)
{
    return 2 * fold->steps - 1 - step;
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct iwi_fold fold;
    uint32_t step;

    make_fold(op, &fold);
    if (!iwi_fold_is_core(&fold, index, &step)) {
        iwi_fold_pairs(&fold, round);
    } else if (step < fold.steps) {
        iwi_fold_core(&fold, fold.core, round);
    } else {
        iwi_fold_core(&fold, UINT32_C(2) << gather_bit(&fold, step), round);
    }
}

static void gather_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t bit,
                        struct iwi_role *role)
{
    const uint32_t half = UINT32_C(1) << bit;
    const uint64_t own = iwi_halved_bytes(fold, bytes, core_rank, bit + 1);

    if (core_rank >= 2 * half) {
        return;
    }
    if (core_rank >= half) {
        iwi_role_send(role, iwi_fold_rank_of_core(fold, core_rank - half), own);
    } else {
        iwi_role_recv(role, iwi_fold_rank_of_core(fold, core_rank + half), 0,
                      iwi_halved_bytes(fold, bytes, core_rank, bit) - own);
    }
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    struct iwi_fold fold;
    uint32_t step;
    uint32_t core_rank;

    make_fold(op, &fold);
    if (!iwi_fold_role(&fold, index, rank, role, &step, &core_rank)) {
        return;
    }
    if (step < fold.steps) {
        iwi_fold_halve(&fold, op->bytes, core_rank, step, role);
    } else {
        gather_part(&fold, op->bytes, core_rank, gather_bit(&fold, step), role);
    }
}

const struct iwi_algorithm iwi_reduce_rabenseifner = {
    .kind = IWI_REDUCE,
    .name = "rabenseifner",
    .summary = "reduce-scatter by halving, binomial gather",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};

/* Reduction of two levels: inside each node to its leader, then over the leaders (MPICH). */

#define SHORT_BYTES (UINT64_C(2) * 1024) /* MPICH's limit for what runs over the leaders */

static void plan_reduce(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, true);
    two->up = (struct iwi_inside){.exists = true, .is_reducing = true, .bytes = op->bytes};
    two->across.algorithm = op->bytes <= SHORT_BYTES ? &iwi_reduce_binomial : &iwi_reduce_rabenseifner;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_reduce)

const struct iwi_algorithm iwi_reduce_two_level = {
    .kind = IWI_REDUCE,
    .name = "two-level",
    .summary = "binomial inside nodes, then over their leaders",
    .uses_nodes = true,
    IWI_ROUNDS_OF(two_level),
};
