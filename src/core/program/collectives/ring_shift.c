/* One step around a ring: every rank sends to the next and receives from the one before.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return op->ranks > 1;
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_shift(round, op->ranks, 1, op->bytes, 0);
}

const struct iwi_algorithm iwi_ring_shift = {
    .kind = IWI_RING,
    .name = "shift",
    .summary = "every rank sends to the next one",
    .round_count = round_count,
    .message_count = iwi_all_send_messages,
    .round = fill_round,
    .role = iwi_streaming_role,
};
