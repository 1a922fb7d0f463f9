/* Rings: all shift at once, or a token goes around.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static uint64_t shift_round_count(const struct iwi_operation *op)
{
    return op->ranks > 1;
}

static void shift_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_shift(round, op->ranks, 1, op->bytes, 0);
}

const struct iwi_algorithm iwi_ring_shift = {
    .kind = IWI_RING,
    .name = "shift",
    .summary = "every rank sends to the next one",
    IWI_STREAMING_ROUNDS(shift_round_count, shift_round),
};

/* A token once around the ring, from the root back to the root. */

static uint64_t token_round_count(const struct iwi_operation *op)
{
    return op->ranks > 1 ? op->ranks : 0;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return token_round_count(op);
}

static uint32_t holder(const struct iwi_operation *op, uint64_t index)
{
    return iwi_rank_of_virtual(op->ranks, op->root, (uint32_t)index);
}

static void token_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_clear(round);
    iwi_round_add(round, holder(op, index), 2, 1);
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t from = holder(op, index);
    const uint32_t to = iwi_rank_of_virtual(op->ranks, 1, from);

    iwi_role_clear(role);
    if (rank == from) {
        iwi_role_send(role, to, op->bytes);
    } else if (rank == to) {
        iwi_role_recv(role, from, 0, op->bytes);
    }
}

const struct iwi_algorithm iwi_ring_token = {
    .kind = IWI_RING,
    .name = "token",
    .summary = "a token once around",
    .round_count = token_round_count,
    .message_count = message_count,
    .round = token_round,
    .role = fill_role,
};
