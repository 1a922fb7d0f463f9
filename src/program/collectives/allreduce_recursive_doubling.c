/* Allreduce by recursive doubling: whole vectors are exchanged with the rank 2^k away in round k (MPICH and
 * Open MPI for short messages). Of the first 2 rem ranks the even ones give their data to the odd ones first.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/fold.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);

    return iwi_fold_rounds(&fold, fold.steps, true);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);

    return (uint64_t)fold.core * fold.steps + UINT64_C(2) * fold.extras;
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);
    uint32_t step;

    if (fold.extras == 0) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, op->bytes, op->bytes);
    } else if (iwi_fold_phase(&fold, fold.steps, index, &step) == IWI_FOLD_CORE) {
        iwi_fold_core(&fold, fold.core, round);
    } else {
        iwi_fold_pairs(&fold, round);
    }
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);
    uint32_t step;
    uint32_t core_rank;

    switch (iwi_fold_phase(&fold, fold.steps, index, &step)) {
    case IWI_FOLD_IN: iwi_fold_in_part(&fold, op->bytes, rank, part); break;
    case IWI_FOLD_OUT: iwi_fold_out_part(&fold, op->bytes, rank, part); break;
    case IWI_FOLD_CORE:
        iwi_part_clear(part);
        if (iwi_fold_core_of_rank(&fold, rank, &core_rank)) {
            iwi_fold_exchange(&fold, core_rank, step, op->bytes, op->bytes, part);
            part->reduce_bytes = op->bytes;
        }
        break;
    }
}

const struct iwi_algorithm iwi_allreduce_recursive_doubling = {
    .kind = IWI_ALLREDUCE,
    .name = "recursive-doubling",
    .summary = "whole vectors with the rank 2^k away in round k",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
