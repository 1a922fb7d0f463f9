/* Allreduce by Rabenseifner: reduce-scatter by vector halving, then allgather by vector doubling (MPICH and
 * Open MPI for long messages). Messages of 0 bytes, where there are fewer bytes than ranks, are sent too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"

static void make_fold(const struct iwi_operation *op, struct iwi_fold *fold)
{
    iwi_fold_init(fold, op->ranks, 0, 1);
    fold->core_rounds = 2 * fold->steps;
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
    iwi_fold_round(&fold, index, round);
}

/* The allgather undoes the halvings, the last one first. */
static void doubling_role(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t bit,
                          struct iwi_role *role)
{
    const uint64_t known = iwi_halved_bytes(fold, bytes, core_rank, bit + 1);
    const uint64_t missing = iwi_halved_bytes(fold, bytes, core_rank, bit) - known;

    iwi_fold_exchange(fold, core_rank, bit, known, missing, role);
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
        doubling_role(&fold, op->bytes, core_rank, 2 * fold.steps - 1 - step, role);
    }
}

const struct iwi_algorithm iwi_allreduce_rabenseifner = {
    .kind = IWI_ALLREDUCE,
    .name = "rabenseifner",
    .summary = "reduce-scatter by halving, allgather by doubling",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
