/* Reduce-scatters.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"
#include "core/program/collectives/rounds.h"

static void pairwise_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, (uint32_t)index + 1, op->bytes, op->bytes);
}

const struct iwi_algorithm iwi_reduce_scatter_pairwise = {
    .kind = IWI_REDUCE_SCATTER,
    .name = "pairwise",
    .summary = "own contribution straight to each block's owner",
    IWI_STREAMING_ROUNDS(iwi_other_ranks, pairwise_round),
};

/* Reduce-scatter by recursive halving (MPICH): the far half of the blocks goes to the partner first. The
 * keeper of a folded pair works on both blocks of the pair and hands the extra's block back at the end.
 */

static void make_fold(const struct iwi_operation *op, struct iwi_fold *fold)
{
    iwi_fold_init(fold, op->ranks, 0, 1);
    fold->core_rounds = fold->steps;
    fold->in_bytes = op->bytes * op->ranks;
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

static void recursive_halving_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct iwi_fold fold;

    make_fold(op, &fold);
    iwi_fold_round(&fold, index, round);
}

/* Blocks of the core ranks [first, first + count): two for each keeper of a pair, one for the others. */
static uint64_t blocks_of_core(const struct iwi_fold *fold, uint32_t first, uint32_t count)
{
    const uint32_t end = first + count;
    const uint32_t pairs_before = first < fold->extras ? first : fold->extras;
    const uint32_t pairs_until = end < fold->extras ? end : fold->extras;

    return count + (pairs_until - pairs_before);
}

static void core_role(const struct iwi_fold *fold, uint64_t bytes, uint32_t step, uint32_t core_rank,
                      struct iwi_role *role)
{
    const uint32_t bit = fold->steps - 1 - step;
    const uint32_t half = UINT32_C(1) << bit;
    const uint32_t kept_first = core_rank & ~(half - 1);
    const uint64_t kept = bytes * blocks_of_core(fold, kept_first, half);
    const uint64_t given = bytes * blocks_of_core(fold, kept_first ^ half, half);

    iwi_fold_exchange(fold, core_rank, bit, given, kept, role);
    role->reduce_bytes = kept;
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    struct iwi_fold fold;
    uint32_t step;
    uint32_t core_rank;

    make_fold(op, &fold);
    if (iwi_fold_role(&fold, index, rank, role, &step, &core_rank)) {
        core_role(&fold, op->bytes, step, core_rank, role);
    }
}

const struct iwi_algorithm iwi_reduce_scatter_recursive_halving = {
    .kind = IWI_REDUCE_SCATTER,
    .name = "recursive-halving",
    .summary = "half of the remaining data to the rank 2^k away",
    .round_count = round_count,
    .message_count = message_count,
    .round = recursive_halving_round,
    .role = fill_role,
};

/* Reduce-scatter around a ring: each round passes one partial block to the next rank. */

static void ring_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_shift(round, op->ranks, 1, op->bytes, op->bytes);
}

const struct iwi_algorithm iwi_reduce_scatter_ring = {
    .kind = IWI_REDUCE_SCATTER,
    .name = "ring",
    .summary = "one partial block to the next rank each round",
    IWI_STREAMING_ROUNDS(iwi_other_ranks, ring_round),
};
