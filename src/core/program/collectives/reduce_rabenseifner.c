/* Reduction by Rabenseifner: reduce-scatter by vector halving, then a binomial gather to the root (MPICH and
 * Open MPI for long messages). Ranks are numbered from the root on, so that it is never folded away.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"

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
