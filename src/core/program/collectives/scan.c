/* Scans by recursive doubling and from rank to rank, but for what is combined.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

/* Recursive doubling: partial results are exchanged with rank ^ 2^k in round k, where there is such a rank.
 * The part lacks reduce_bytes; false: this rank has no partner in this round. */
static uint64_t scan_doubling_messages(const struct iwi_operation *op)
{
    uint64_t pairs = 0;

    for (uint32_t k = 0; k < iwi_ceil_log2(op->ranks); k++) {
        pairs += iwi_count_with_bit(op->ranks, k); /* the upper rank of a pair has bit k */
    }
    return 2 * pairs;
}

static void scan_doubling_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
}

static bool doubling_part(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                          struct iwi_role *role)
{
    const uint32_t partner = rank ^ (UINT32_C(1) << index);

    iwi_role_clear(role);
    if (partner >= op->ranks) {
        return false;
    }
    iwi_role_send(role, partner, op->bytes);
    iwi_role_recv(role, partner, 0, op->bytes);
    return true;
}

/* Linear: in round i rank i passes its prefix on to rank i + 1. The part lacks reduce_bytes; true for the
 * receiver. */
static void scan_linear_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)op;
    iwi_round_clear(round);
    iwi_round_add(round, (uint32_t)index, 2, 1);
}

static bool linear_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    iwi_role_clear(role);
    if (rank == index) {
        iwi_role_send(role, rank + 1, op->bytes);
    } else if (rank == index + 1) {
        iwi_role_recv(role, rank - 1, 0, op->bytes);
        return true;
    }
    return false;
}

/* Inclusive scan from rank to rank (Open MPI). */

static void scan_linear_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                             struct iwi_role *role)
{
    if (linear_part(op, index, rank, role)) {
        role->reduce_bytes = op->bytes;
    }
}

const struct iwi_algorithm iwi_scan_linear = {
    .kind = IWI_SCAN,
    .name = "linear",
    .summary = "each rank passes its prefix to the next",
    .round_count = iwi_other_ranks,
    .message_count = iwi_other_ranks,
    .round = scan_linear_round,
    .role = scan_linear_role,
};

/* Inclusive scan by recursive doubling (MPICH). */

static void scan_doubling_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                               struct iwi_role *role)
{
    const bool is_upper = (rank >> index & 1) != 0;

    if (doubling_part(op, index, rank, role)) {
        /* the upper one of a pair combines into its partial result and into its prefix */
        role->reduce_bytes = is_upper ? 2 * op->bytes : op->bytes;
    }
}

const struct iwi_algorithm iwi_scan_recursive_doubling = {
    .kind = IWI_SCAN,
    .name = "recursive-doubling",
    .summary = "partial results with the rank 2^k away in round k",
    .round_count = iwi_log2_ranks,
    .message_count = scan_doubling_messages,
    .round = scan_doubling_round,
    .role = scan_doubling_role,
};

/* Exclusive scan from rank to rank (Open MPI). */

static void exscan_linear_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                               struct iwi_role *role)
{
    if (linear_part(op, index, rank, role) && rank + 1 < op->ranks) {
        role->reduce_bytes = op->bytes; /* for the next rank; the last one only takes its prefix */
    }
}

const struct iwi_algorithm iwi_exscan_linear = {
    .kind = IWI_EXSCAN,
    .name = "linear",
    .summary = "each rank passes its prefix to the next",
    .round_count = iwi_other_ranks,
    .message_count = iwi_other_ranks,
    .round = scan_linear_round,
    .role = exscan_linear_role,
};

/* Exclusive scan by recursive doubling (MPICH). */

static void exscan_doubling_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                                 struct iwi_role *role)
{
    const bool is_upper = (rank >> index & 1) != 0;
    const bool is_first_prefix = (rank & ((UINT32_C(1) << index) - 1)) == 0;

    if (doubling_part(op, index, rank, role)) {
        /* the prefix starts as a copy of the first data from below, which costs no reduction */
        role->reduce_bytes = is_upper && !is_first_prefix ? 2 * op->bytes : op->bytes;
    }
}

const struct iwi_algorithm iwi_exscan_recursive_doubling = {
    .kind = IWI_EXSCAN,
    .name = "recursive-doubling",
    .summary = "partial results with the rank 2^k away in round k",
    .round_count = iwi_log2_ranks,
    .message_count = scan_doubling_messages,
    .round = scan_doubling_round,
    .role = exscan_doubling_role,
};
