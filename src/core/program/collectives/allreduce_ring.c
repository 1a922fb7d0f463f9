/* Allreduce around a ring: P - 1 rounds of reduce-scatter, then P - 1 of allgather, one block each (Open MPI,
 * NCCL). Blocks differ by a byte where P does not divide the data; those of 0 bytes are sent too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
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

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
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

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
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
    .round_count = round_count,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = fill_role,
};
