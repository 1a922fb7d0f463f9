/* Broadcast along a chain of all ranks, pipelined by segments (Open MPI's pipeline).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_bcast_chain = {
    .kind = IWI_BCAST,
    .name = "chain",
    .summary = "chain, pipelined by segments",
    .round_count = iwi_chain_rounds,
    .message_count = iwi_chain_messages,
    .round = iwi_chain_round,
    .role = iwi_chain_role,
};
