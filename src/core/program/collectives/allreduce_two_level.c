/* Allreduce of two levels: inside each node to its leader, among the leaders, inside back (MPICH).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/two_level.h"

#define SHORT_BYTES (UINT64_C(2) * 1024) /* MPICH's limit for what runs among the leaders */

static void plan_allreduce(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, false);
    two->up = (struct iwi_inside){.exists = true, .is_reducing = true, .bytes = op->bytes};
    two->down = (struct iwi_inside){.exists = true, .bytes = op->bytes};
    two->across.algorithm =
        op->bytes <= SHORT_BYTES ? &iwi_allreduce_recursive_doubling : &iwi_allreduce_rabenseifner;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_allreduce)

const struct iwi_algorithm iwi_allreduce_two_level = {
    .kind = IWI_ALLREDUCE,
    .name = "two-level",
    .summary = "binomial inside nodes, doubling or rabenseifner over leaders",
    .uses_nodes = true,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
