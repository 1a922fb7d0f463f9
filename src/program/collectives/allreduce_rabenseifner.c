/* Allreduce by Rabenseifner: reduce-scatter by vector halving, then allgather by vector doubling (MPICH and
 * Open MPI for long messages). Messages of 0 bytes, where there are fewer bytes than ranks, are sent too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/fold.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);

    return iwi_fold_rounds(&fold, UINT64_C(2) * fold.steps, true);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);

    return UINT64_C(2) * fold.core * fold.steps + UINT64_C(2) * fold.extras;
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);
    uint32_t step;

    if (iwi_fold_phase(&fold, UINT64_C(2) * fold.steps, index, &step) == IWI_FOLD_CORE) {
        iwi_fold_core(&fold, fold.core, round);
    } else {
        iwi_fold_pairs(&fold, round);
    }
}

static void core_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t step, uint32_t core_rank,
                      struct iwi_part *part)
{
    const bool is_halving = step < fold->steps;
    const uint32_t bit = is_halving ? step : 2 * fold->steps - 1 - step;
    const uint64_t kept = iwi_halved_bytes(fold, bytes, core_rank, bit + 1);
    const uint64_t given = iwi_halved_bytes(fold, bytes, core_rank, bit) - kept;

    if (is_halving) {
        iwi_fold_exchange(fold, core_rank, bit, given, kept, part);
        part->reduce_bytes = kept;
    } else {
        iwi_fold_exchange(fold, core_rank, bit, kept, given, part);
    }
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_fold fold = iwi_fold_make(op->ranks, 0, 1);
    uint32_t step;
    uint32_t core_rank;

    switch (iwi_fold_phase(&fold, UINT64_C(2) * fold.steps, index, &step)) {
    case IWI_FOLD_IN: iwi_fold_in_part(&fold, op->bytes, rank, part); break;
    case IWI_FOLD_OUT: iwi_fold_out_part(&fold, op->bytes, rank, part); break;
    case IWI_FOLD_CORE:
        iwi_part_clear(part);
        if (iwi_fold_core_of_rank(&fold, rank, &core_rank)) {
            core_part(&fold, op->bytes, step, core_rank, part);
        }
        break;
    }
}

const struct iwi_algorithm iwi_allreduce_rabenseifner = {
    .kind = IWI_ALLREDUCE,
    .name = "rabenseifner",
    .summary = "reduce-scatter by halving, allgather by doubling",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
