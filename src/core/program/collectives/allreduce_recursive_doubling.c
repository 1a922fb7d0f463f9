/* Allreduce by recursive doubling: whole vectors are exchanged with the rank 2^k away in round k (MPICH and
 * Open MPI for short messages). Of the first 2 rem ranks the even ones give their data to the odd ones first.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"

static void make_fold(const struct iwi_operation *op, struct iwi_fold *fold)
{
    iwi_fold_init(fold, op->ranks, 0, 1);
    fold->core_rounds = fold->steps;
    fold->in_bytes = op->bytes;
    fold->out_bytes = op->bytes;
}

static uint64_t round_count(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    make_fold(op, &fold);
    return iwi_fold_rounds(&fold);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    make_fold(op, &fold);
    return iwi_fold_messages(&fold);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct iwi_fold fold;

    make_fold(op, &fold);
    if (fold.extras == 0) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, op->bytes, op->bytes);
    } else {
        iwi_fold_round(&fold, index, round);
    }
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    struct iwi_fold fold;
    uint32_t step;
    uint32_t core_rank;

    make_fold(op, &fold);
    if (iwi_fold_role(&fold, index, rank, role, &step, &core_rank)) {
        iwi_fold_exchange(&fold, core_rank, step, op->bytes, op->bytes, role);
        role->reduce_bytes = op->bytes;
    }
}

const struct iwi_algorithm iwi_allreduce_recursive_doubling = {
    .kind = IWI_ALLREDUCE,
    .name = "recursive-doubling",
    .summary = "whole vectors with the rank 2^k away in round k",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
