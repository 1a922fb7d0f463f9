/* Allgathers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"
#include "core/program/collectives/two_level.h"

static void ring_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_shift(round, op->ranks, 1, op->bytes, 0);
}

const struct iwi_algorithm iwi_allgather_ring = {
    .kind = IWI_ALLGATHER,
    .name = "ring",
    .summary = "one block to the next rank each round",
    IWI_STREAMING_ROUNDS(iwi_other_ranks, ring_round),
};

/* Allgather by Bruck's algorithm: round k gets the next 2^k blocks from the rank 2^k ahead. */

static void bruck_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const uint32_t distance = UINT32_C(1) << index;
    const uint32_t blocks = distance < op->ranks - distance ? distance : op->ranks - distance;

    iwi_round_shift(round, op->ranks, op->ranks - distance, op->bytes * blocks, 0);
}

const struct iwi_algorithm iwi_allgather_bruck = {
    .kind = IWI_ALLGATHER,
    .name = "bruck",
    .summary = "2^k blocks from the rank 2^k ahead in round k",
    IWI_STREAMING_ROUNDS(iwi_log2_ranks, bruck_round),
};

/* Allgather by recursive doubling: all that is known is exchanged with the rank 2^k away in round k.
 *
 * For ranks that are no power of two Bruck's algorithm takes its place (as in Open MPI).
 */

static void recursive_doubling_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    if (iwi_is_power_of_two(op->ranks)) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, op->bytes << index, 0);
    } else {
        iwi_allgather_bruck.round(op, index, round);
    }
}

const struct iwi_algorithm iwi_allgather_recursive_doubling = {
    .kind = IWI_ALLGATHER,
    .name = "recursive-doubling",
    .summary = "exchange with the rank 2^k away in round k",
    IWI_STREAMING_ROUNDS(iwi_log2_ranks, recursive_doubling_round),
};

/* Allgather of two levels: gather inside each node, allgather over the leaders, broadcast inside (Open MPI's
 * han).
 */

/* Of all ranks together: MPICH's limit between Bruck and the ring. */
#define LONG_BYTES (UINT64_C(80) * 1024)

/* ---- over the leaders, whose blocks are those of all ranks of their node ---- */

static bool is_ring(const struct iwi_operation *op)
{
    return op->bytes * op->placed_ranks >= LONG_BYTES;
}

static uint64_t leader_rounds(const struct iwi_operation *op)
{
    return is_ring(op) ? op->ranks - 1 : iwi_ceil_log2(op->ranks);
}

static void leader_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
}

/* Bytes of the nodes first ... first + count - 1, around the ring of nodes. */
static uint64_t span_bytes(const struct iwi_operation *op, uint32_t first, uint32_t count)
{
    const struct iwi_node_map map = iwi_placed_map(op);
    const uint64_t end = (uint64_t)first + count;
    const uint32_t before = iwi_ranks_before(&map, first);

    if (end <= map.count) {
        return op->bytes * (iwi_ranks_before(&map, (uint32_t)end) - before);
    }
    return op->bytes * (map.ranks - before + iwi_ranks_before(&map, (uint32_t)(end - map.count)));
}

/* Bruck: in round k the 2^k blocks from its own on go to the leader 2^k before. */
static void bruck_role(const struct iwi_operation *op, uint32_t distance, uint32_t node,
                       struct iwi_role *role)
{
    const uint32_t count = distance < op->ranks - distance ? distance : op->ranks - distance;
    const uint32_t after = iwi_rank_of_virtual(op->ranks, distance, node);

    iwi_role_send(role, iwi_virtual_of_rank(op->ranks, distance, node), span_bytes(op, node, count));
    iwi_role_recv(role, after, 0, span_bytes(op, after, count));
}

static void leader_role(const struct iwi_operation *op, uint64_t index, uint32_t node, struct iwi_role *role)
{
    iwi_role_clear(role);
    if (is_ring(op)) {
        const uint32_t sent = iwi_virtual_of_rank(op->ranks, (uint32_t)index, node);
        const uint32_t received = iwi_virtual_of_rank(op->ranks, 1, sent);

        iwi_role_ring(role, op->ranks, node, span_bytes(op, sent, 1), span_bytes(op, received, 1));
    } else {
        bruck_role(op, UINT32_C(1) << index, node, role);
    }
}

static const struct iwi_algorithm over_leaders = {
    .kind = IWI_ALLGATHER,
    .round_count = leader_rounds,
    .message_count = iwi_all_send_messages,
    .round = leader_round,
    .role = leader_role,
};

/* ---- both levels ---- */

static void plan_allgather(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, false);
    two->up = (struct iwi_inside){.exists = true, .is_personal = true, .bytes = op->bytes};
    two->down = (struct iwi_inside){.exists = true, .bytes = op->bytes * op->ranks};
    two->across.algorithm = &over_leaders;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_allgather)

const struct iwi_algorithm iwi_allgather_two_level = {
    .kind = IWI_ALLGATHER,
    .name = "two-level",
    .summary = "gather inside nodes, bruck or ring over leaders, broadcast",
    .uses_nodes = true,
    IWI_ROUNDS_OF(two_level),
};
