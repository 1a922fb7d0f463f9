/* Broadcast of two levels: over the leaders of the nodes, then inside each node (MPICH).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/two_level.h"

#define SHORT_BYTES (UINT64_C(12) * 1024) /* MPICH's limits for what runs over the leaders */
#define FEW_NODES 8

static void plan_bcast(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, true);
    two->down = (struct iwi_inside){.exists = true, .bytes = op->bytes};
    two->across.algorithm = op->bytes <= SHORT_BYTES || two->map.count < FEW_NODES
                                ? &iwi_bcast_binomial
                                : &iwi_bcast_scatter_allgather;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_bcast)

const struct iwi_algorithm iwi_bcast_two_level = {
    .kind = IWI_BCAST,
    .name = "two-level",
    .summary = "over the leaders of nodes, then binomial inside",
    .uses_nodes = true,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
