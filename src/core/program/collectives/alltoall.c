/* Alltoalls.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"
#include "core/program/collectives/two_level.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return op->ranks > 1;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return (uint64_t)op->ranks * (op->ranks - 1);
}

static void linear_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
    round->fan = op->ranks - 1;
    round->is_all_to_all = true;
    round->bytes = op->bytes;
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    (void)index;
    iwi_role_clear(role);
    for (uint32_t distance = 1; distance < op->ranks; distance++) {
        const uint32_t peer = iwi_rank_of_virtual(op->ranks, distance, rank);

        iwi_role_send(role, peer, op->bytes);
        /* seen from the peer this rank is P - distance ahead: its send number P - distance - 1 */
        iwi_role_recv(role, peer, op->ranks - distance - 1, op->bytes);
    }
}

const struct iwi_algorithm iwi_alltoall_linear = {
    .kind = IWI_ALLTOALL,
    .name = "linear",
    .summary = "all messages posted at once",
    .round_count = round_count,
    .message_count = message_count,
    .round = linear_round,
    .role = fill_role,
};

/* Alltoall in P - 1 rounds: in round i to the rank i + 1 ahead, from the rank i + 1 behind. */

static void pairwise_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, (uint32_t)index + 1, op->bytes, 0);
}

const struct iwi_algorithm iwi_alltoall_pairwise = {
    .kind = IWI_ALLTOALL,
    .name = "pairwise",
    .summary = "to the rank i ahead in round i",
    IWI_STREAMING_ROUNDS(iwi_other_ranks, pairwise_round),
};

/* Alltoall by Bruck's algorithm: round k forwards all blocks whose distance has bit k set. */

static void bruck_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const uint32_t blocks = iwi_count_with_bit(op->ranks, (uint32_t)index);

    iwi_round_shift(round, op->ranks, UINT32_C(1) << index, op->bytes * blocks, 0);
}

const struct iwi_algorithm iwi_alltoall_bruck = {
    .kind = IWI_ALLTOALL,
    .name = "bruck",
    .summary = "forwards blocks to the rank 2^k ahead in round k",
    IWI_STREAMING_ROUNDS(iwi_log2_ranks, bruck_round),
};

/* Alltoall of two levels: leaders gather what their node sends, exchange it pairwise, and scatter what they
 * got.
 */

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
    IWI_ROUNDS_OF(two_level),
    .uses_nodes = true,
    .joins_nodes = true,
};
