/* Reduction by Rabenseifner: reduce-scatter by vector halving, then a binomial gather to the root (MPICH and
 * Open MPI for long messages). Ranks are numbered from the root on, so that it is never folded away.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/fold.h"

static struct iwi_fold fold_of(const struct iwi_operation *op)
{
    return iwi_fold_make(op->ranks, op->root, 0);
}

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct iwi_fold fold = fold_of(op);

    return iwi_fold_rounds(&fold, UINT64_C(2) * fold.steps, false);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct iwi_fold fold = fold_of(op);

    return fold.extras + (uint64_t)fold.core * fold.steps + fold.core - 1;
}

/* In the gather the core ranks below 2^(bit+1) are left; the upper half of them gives what it has. */
static uint32_t gather_bit(const struct iwi_fold *fold, uint32_t step)
{
    return 2 * fold->steps - 1 - step;
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct iwi_fold fold = fold_of(op);
    uint32_t step;

    if (iwi_fold_phase(&fold, UINT64_C(2) * fold.steps, index, &step) == IWI_FOLD_IN) {
        iwi_fold_pairs(&fold, round);
    } else if (step < fold.steps) {
        iwi_fold_core(&fold, fold.core, round);
    } else {
        iwi_fold_core(&fold, UINT32_C(2) << gather_bit(&fold, step), round);
    }
}

static void halving_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t bit, uint32_t core_rank,
                         struct iwi_part *part)
{
    const uint64_t kept = iwi_halved_bytes(fold, bytes, core_rank, bit + 1);

    iwi_fold_exchange(fold, core_rank, bit, iwi_halved_bytes(fold, bytes, core_rank, bit) - kept, kept, part);
    part->reduce_bytes = kept;
}

static void gather_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t bit, uint32_t core_rank,
                        struct iwi_part *part)
{
    const uint32_t half = UINT32_C(1) << bit;
    const uint64_t own = iwi_halved_bytes(fold, bytes, core_rank, bit + 1);

    if (core_rank >= 2 * half) {
        return;
    }
    if (core_rank >= half) {
        iwi_part_send(part, iwi_fold_rank_of_core(fold, core_rank - half), own);
    } else {
        iwi_part_recv(part, iwi_fold_rank_of_core(fold, core_rank + half), 0,
                      iwi_halved_bytes(fold, bytes, core_rank, bit) - own);
    }
}

static void fill_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    const struct iwi_fold fold = fold_of(op);
    uint32_t step;
    uint32_t core_rank;

    if (iwi_fold_phase(&fold, UINT64_C(2) * fold.steps, index, &step) == IWI_FOLD_IN) {
        iwi_fold_in_part(&fold, op->bytes, rank, part);
        return;
    }
    iwi_part_clear(part);
    if (!iwi_fold_core_of_rank(&fold, rank, &core_rank)) {
        return;
    }
    if (step < fold.steps) {
        halving_part(&fold, op->bytes, step, core_rank, part);
    } else {
        gather_part(&fold, op->bytes, gather_bit(&fold, step), core_rank, part);
    }
}

const struct iwi_algorithm iwi_reduce_rabenseifner = {
    .kind = IWI_REDUCE,
    .name = "rabenseifner",
    .summary = "reduce-scatter by halving, binomial gather",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .part = fill_part,
};
