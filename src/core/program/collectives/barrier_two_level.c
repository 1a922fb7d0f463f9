/* Barrier of two levels: each node reports to its leader, leaders disseminate, each node is released (MPICH).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/two_level.h"

static void plan_barrier(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, false);
    two->up = two->down = (struct iwi_inside){.exists = true, .bytes = 1};
    two->across.algorithm = &iwi_barrier_dissemination;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_barrier)

const struct iwi_algorithm iwi_barrier_two_level = {
    .kind = IWI_BARRIER,
    .name = "two-level",
    .summary = "binomial inside nodes, dissemination over their leaders",
    .uses_nodes = true,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
