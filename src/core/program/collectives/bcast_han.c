/* Broadcast of two levels by segments (Open MPI's han).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/han.h"

const struct iwi_algorithm iwi_bcast_han = {
    .kind = IWI_BCAST,
    .name = "han",
    .summary = "over leaders, then inside nodes, by segments",
    .uses_nodes = true,
    .round_count = iwi_han_rounds,
    .message_count = iwi_han_messages,
    .round = iwi_han_round,
    .role = iwi_han_role,
};
