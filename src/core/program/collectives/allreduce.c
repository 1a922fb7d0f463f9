/* Allreduces of ranks without nodes, and those that combine other collectives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"
#include "core/program/collectives/rounds.h"
#include "core/program/collectives/tree.h"
#include "core/program/collectives/two_level.h"

/* Allreduce by recursive doubling: whole vectors are exchanged with the rank 2^k away in round k (MPICH and
 * Open MPI for short messages). Of the first 2 rem ranks the even ones give their data to the odd ones first.
 */

static void recursive_doubling_make_fold(const struct iwi_operation *op, struct iwi_fold *fold)
{
    iwi_fold_init(fold, op->ranks, 0, 1);
    fold->core_rounds = fold->steps;
    fold->in_bytes = op->bytes;
    fold->out_bytes = op->bytes;
}

static uint64_t recursive_doubling_rounds(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    recursive_doubling_make_fold(op, &fold);
    return iwi_fold_rounds(&fold);
}

static uint64_t recursive_doubling_messages(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    recursive_doubling_make_fold(op, &fold);
    return iwi_fold_messages(&fold);
}

static void recursive_doubling_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct iwi_fold fold;

    recursive_doubling_make_fold(op, &fold);
    if (fold.extras == 0) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, op->bytes, op->bytes);
    } else {
        iwi_fold_round(&fold, index, round);
    }
}

static void recursive_doubling_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                                    struct iwi_role *role)
{
    struct iwi_fold fold;
    uint32_t step;
    uint32_t core_rank;

    recursive_doubling_make_fold(op, &fold);
    if (iwi_fold_role(&fold, index, rank, role, &step, &core_rank)) {
        iwi_fold_exchange(&fold, core_rank, step, op->bytes, op->bytes, role);
        role->reduce_bytes = op->bytes;
    }
}

const struct iwi_algorithm iwi_allreduce_recursive_doubling = {
    .kind = IWI_ALLREDUCE,
    .name = "recursive-doubling",
    .summary = "whole vectors with the rank 2^k away in round k",
    IWI_ROUNDS_OF(recursive_doubling),
};

/* Allreduce by Rabenseifner: reduce-scatter by vector halving, then allgather by vector doubling (MPICH and
 * Open MPI for long messages). Messages of 0 bytes, where there are fewer bytes than ranks, are sent too.
 */

static void rabenseifner_make_fold(const struct iwi_operation *op, struct iwi_fold *fold)
{
    iwi_fold_init(fold, op->ranks, 0, 1);
    fold->core_rounds = 2 * fold->steps;
    fold->in_bytes = op->bytes;
    fold->out_bytes = op->bytes;
}

static uint64_t rabenseifner_rounds(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    rabenseifner_make_fold(op, &fold);
    return iwi_fold_rounds(&fold);
}

static uint64_t rabenseifner_messages(const struct iwi_operation *op)
{
    struct iwi_fold fold;

    rabenseifner_make_fold(op, &fold);
    return iwi_fold_messages(&fold);
}

static void rabenseifner_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct iwi_fold fold;

    rabenseifner_make_fold(op, &fold);
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

static void rabenseifner_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                              struct iwi_role *role)
{
    struct iwi_fold fold;
    uint32_t step;
    uint32_t core_rank;

    rabenseifner_make_fold(op, &fold);
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
    IWI_ROUNDS_OF(rabenseifner),
};

/* Allreduce around a ring: P - 1 rounds of reduce-scatter, then P - 1 of allgather, one block each (Open MPI,
 * NCCL). Blocks differ by a byte where P does not divide the data; those of 0 bytes are sent too.
 */

static uint64_t ring_round_count(const struct iwi_operation *op)
{
    return UINT64_C(2) * (op->ranks - 1);
}

static bool is_reducing(const struct iwi_operation *op, uint64_t index)
{
    return index < op->ranks - 1;
}

/* In round k of either half rank r passes block r - k (+ 1 in the second half), the one that it got last. */
static uint32_t blocks_behind(const struct iwi_operation *op, uint64_t index)
{
    const uint32_t ranks = op->ranks;

    return (uint32_t)(is_reducing(op, index) ? index : index % ranks);
}

static void ring_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const uint64_t block_bytes = op->bytes / op->ranks;
    const uint32_t larger = (uint32_t)(op->bytes % op->ranks);

    if (larger == 0) {
        iwi_round_shift(round, op->ranks, 1, block_bytes, is_reducing(op, index) ? block_bytes : 0);
    } else {
        iwi_round_ring(round, op->ranks, blocks_behind(op, index),
                       (struct iwi_block_sizes){{larger, op->ranks}, {block_bytes + 1, block_bytes, 0}},
                       is_reducing(op, index));
    }
}

static void ring_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t ranks = op->ranks;
    const bool is_first_half = is_reducing(op, index);
    const uint32_t sent = iwi_virtual_of_rank(ranks, blocks_behind(op, index), rank);
    const uint32_t received = iwi_virtual_of_rank(ranks, 1, sent);
    const uint64_t received_bytes = iwi_block_bytes(op->bytes, ranks, received);

    iwi_role_ring(role, ranks, rank, iwi_block_bytes(op->bytes, ranks, sent), received_bytes);
    role->reduce_bytes = is_first_half ? received_bytes : 0;
}

const struct iwi_algorithm iwi_allreduce_ring = {
    .kind = IWI_ALLREDUCE,
    .name = "ring",
    .summary = "blocks around a ring: reduce-scatter, then allgather",
    .round_count = ring_round_count,
    .message_count = iwi_all_send_messages,
    .round = ring_round,
    .role = ring_role,
};

/* Allreduce by dissemination: the whole vector to the rank 2^k ahead in round k, as the papers model it
 * (for ranks that are no power of two some contributions are combined twice).
 */

static void dissemination_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, UINT32_C(1) << index, op->bytes, op->bytes);
}

const struct iwi_algorithm iwi_allreduce_dissemination = {
    .kind = IWI_ALLREDUCE,
    .name = "dissemination",
    .summary = "whole vector to the rank 2^k ahead in round k",
    IWI_STREAMING_ROUNDS(iwi_log2_ranks, dissemination_round),
};

/* Allreduce as a reduction to rank 0 and a broadcast from it, both on binomial trees (Open MPI's
 * nonoverlapping). SPDX-License-Identifier: BSD-3-Clause
 */

const struct iwi_algorithm iwi_allreduce_reduce_bcast = {
    .kind = IWI_ALLREDUCE,
    .name = "reduce-bcast",
    .summary = "binomial reduce, then binomial broadcast",
    IWI_ROUNDS_OF(iwi_binomial),
};

/* Allreduce of two levels: inside each node to its leader, among the leaders, inside back (MPICH). */

#define SHORT_BYTES (UINT64_C(2) * 1024) /* MPICH's limit for what runs among the leaders */

static void plan_allreduce(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, false);
    two->up = (struct iwi_inside){.exists = true, .is_reducing = true, .bytes = op->bytes};
    two->down = (struct iwi_inside){.exists = true, .bytes = op->bytes};
    two->across.algorithm =
        op->bytes <= SHORT_BYTES ? &iwi_allreduce_recursive_doubling : &iwi_allreduce_rabenseifner;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_allreduce)

const struct iwi_algorithm iwi_allreduce_two_level = {
    .kind = IWI_ALLREDUCE,
    .name = "two-level",
    .summary = "binomial inside nodes, doubling or rabenseifner over leaders",
    .uses_nodes = true,
    IWI_ROUNDS_OF(two_level),
};
