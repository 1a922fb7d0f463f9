/* Reduce-scatter by recursive halving (MPICH): the far half of the blocks goes to the partner first. The
 * keeper of a folded pair works on both blocks of the pair and hands the extra's block back at the end.
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

    if (iwi_fold_phase(&fold, fold.steps, index, &step) == IWI_FOLD_CORE) {
        iwi_fold_core(&fold, fold.core, round);
    } else {
        iwi_fold_pairs(&fold, round);
    }
}

/* Blocks of the core ranks [first, first + count): two for each keeper of a pair, one for the others. */
static uint64_t blocks_of_core(const struct iwi_fold *fold, uint32_t first, uint32_t count)
{
    const uint32_t end = first + count;
    const uint32_t pairs_before = first < fold->extras ? first : fold->extras;
    const uint32_t pairs_until = end < fold->extras ? end : fold->extras;

    return count + (pairs_until - pairs_before);
}

static void core_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t step, uint32_t core_rank,
                      struct iwi_part *part)
{
    const uint32_t bit = fold->steps - 1 - step;
    const uint32_t half = UINT32_C(1) << bit;
    const uint32_t kept_first = core_rank & ~(half - 1);
    const uint64_t kept = bytes * blocks_of_core(fold, kept_first, half);
    const uint64_t given = bytes * blocks_of_core(fold, kept_first ^ half, half);

    iwi_fold_exchange(fold, core_rank, bit, given, kept, part);
    part->reduce_bytes = kept;
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);
    uint32_t step;
    uint32_t core_rank;

    switch (iwi_fold_phase(&fold, fold.steps, index, &step)) {
    case IWI_FOLD_IN: iwi_fold_in_part(&fold, op->bytes * op->ranks, rank, part); break;
    case IWI_FOLD_OUT: iwi_fold_out_part(&fold, op->bytes, rank, part); break;
    case IWI_FOLD_CORE:
        iwi_part_clear(part);
        if (iwi_fold_core_of_rank(&fold, rank, &core_rank)) {
            core_part(&fold, op->bytes, step, core_rank, part);
        }
        break;
    }
}

const struct iwi_algorithm iwi_reduce_scatter_recursive_halving = {
    .kind = IWI_REDUCE_SCATTER,
    .name = "recursive-halving",
    .summary = "half of what is left to the rank 2^k away",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
