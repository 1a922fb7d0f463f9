/* Ping-pong between ranks 2i and 2i + 1; an odd last rank idles.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return op->ranks > 1 ? 2 : 0;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return op->ranks & ~UINT32_C(1);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_clear(round);
    iwi_round_add(round, 0, op->ranks & ~UINT32_C(1), 1);
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t partner = rank ^ 1;

    iwi_role_clear(role);
    if (partner >= op->ranks) {
        return;
    }
    if ((rank & 1) == index) { /* ping from the even ranks, pong from the odd ones */
        iwi_role_send(role, partner, op->bytes);
    } else {
        iwi_role_recv(role, partner, 0, op->bytes);
    }
}

const struct iwi_algorithm iwi_pingpong_pairs = {
    .kind = IWI_PINGPONG,
    .name = "pairs",
    .summary = "there and back between ranks 2i and 2i + 1",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
