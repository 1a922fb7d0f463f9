/* Functions of struct iwi_algorithm that many algorithms share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

uint64_t iwi_other_ranks(const struct iwi_operation *op)
{
    return op->ranks - 1;
}

uint64_t iwi_log2_ranks(const struct iwi_operation *op)
{
    return iwi_ceil_log2(op->ranks);
}

uint64_t iwi_all_send_messages(const struct iwi_operation *op)
{
    return op->ranks * op->algorithm->round_count(op);
}

void iwi_streaming_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    struct iwi_round round;

    op->algorithm->round(op, index, &round);
    assert(round.is_shift || round.is_flip);
    iwi_role_clear(role);
    if (round.is_shift) {
        iwi_role_send(role, iwi_rank_of_virtual(op->ranks, round.shift, rank), round.bytes);
        iwi_role_recv(role, iwi_virtual_of_rank(op->ranks, round.shift, rank), 0, round.bytes);
    } else {
        iwi_role_send(role, rank ^ round.flip, round.bytes);
        iwi_role_recv(role, rank ^ round.flip, 0, round.bytes);
    }
    role->reduce_bytes = round.reduce_bytes;
}
