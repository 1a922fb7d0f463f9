/* Alltoall of two levels: leaders gather what their node sends, exchange it pairwise, and scatter what they
 * got.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/two_level.h"

/* ---- over the leaders: in round k with the nodes k + 1 after and before ---- */

static void leader_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
}

static void leader_role(const struct iwi_operation *op, uint64_t index, uint32_t node, struct iwi_role *role)
{
    const struct iwi_node_map map = iwi_placed_map(op);
    const uint32_t distance = (uint32_t)index + 1;
    const uint32_t to = iwi_rank_of_virtual(op->ranks, distance, node);
    const uint32_t from = iwi_virtual_of_rank(op->ranks, distance, node);
    const uint64_t own_bytes = op->bytes * iwi_node_size(&map, node);

    iwi_role_clear(role);
    iwi_role_send(role, to, own_bytes * iwi_node_size(&map, to));
    iwi_role_recv(role, from, 0, own_bytes * iwi_node_size(&map, from));
}

static const struct iwi_algorithm over_leaders = {
    .kind = IWI_ALLTOALL,
    .round_count = iwi_other_ranks,
    .message_count = iwi_all_send_messages,
    .round = leader_round,
    .role = leader_role,
};

/* ---- both levels ---- */

static void plan_alltoall(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, false);
    two->up = two->down =
        (struct iwi_inside){.exists = true, .is_personal = true, .bytes = op->bytes * op->ranks};
    two->across.algorithm = &over_leaders;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_alltoall)

const struct iwi_algorithm iwi_alltoall_two_level = {
    .kind = IWI_ALLTOALL,
    .name = "two-level",
    .summary = "gather inside nodes, pairwise over leaders, scatter",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
    .uses_nodes = true,
    .joins_nodes = true,
};
