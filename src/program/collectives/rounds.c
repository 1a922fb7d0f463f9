/* Functions of struct iwi_algorithm that many algorithms share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/rounds.h"

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

void iwi_streaming_part(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_part *part)
{
    struct iwi_round round;

    op->algorithm->round(op, index, &round);
    assert(round.is_shift || round.is_flip);
    iwi_part_clear(part);
    if (round.is_shift) {
        iwi_part_send(part, iwi_rank_of_virtual(op->ranks, round.shift, rank), round.bytes);
        iwi_part_recv(part, iwi_virtual_of_rank(op->ranks, round.shift, rank), 0, round.bytes);
    } else {
        iwi_part_send(part, rank ^ round.flip, round.bytes);
        iwi_part_recv(part, rank ^ round.flip, 0, round.bytes);
    }
    part->reduce_bytes = round.reduce_bytes;
}
