/* Broadcasts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"
#include "core/program/collectives/two_level.h"

const struct iwi_algorithm iwi_bcast_binomial = {
    .kind = IWI_BCAST,
    .name = "binomial",
    .summary = "binomial tree",
    IWI_ROUNDS_OF(iwi_binomial),
};

/* Broadcast down a complete binary tree, pipelined by segments. */

const struct iwi_algorithm iwi_bcast_binary = {
    .kind = IWI_BCAST,
    .name = "binary",
    .summary = "binary tree, pipelined by segments",
    IWI_ROUNDS_OF(iwi_binary),
};

/* Broadcast along a chain of all ranks, pipelined by segments (Open MPI's pipeline). */

const struct iwi_algorithm iwi_bcast_chain = {
    .kind = IWI_BCAST,
    .name = "chain",
    .summary = "chain, pipelined by segments",
    IWI_ROUNDS_OF(iwi_chain),
};

/* Broadcast by the root to one rank after the other, in rank order. */

const struct iwi_algorithm iwi_bcast_linear = {
    .kind = IWI_BCAST,
    .name = "linear",
    .summary = "the root sends to each rank",
    IWI_ROUNDS_OF(iwi_star),
};

/* Broadcast as a binomial scatter of blocks and an allgather of them (van de Geijn; MPICH for long messages).
 *
 * As in MPICH: blocks have ceil(bytes / P) bytes, so the last ones may be short or empty; the scatter skips
 * empty messages, the allgather does not. The allgather is recursive doubling for powers of two and at most
 * 512 KiB, else a ring.
 */

#define DOUBLING_MOST_BYTES (UINT64_C(512) * 1024)

static bool is_doubling(const struct iwi_operation *op)
{
    return iwi_is_power_of_two(op->ranks) && op->bytes <= DOUBLING_MOST_BYTES;
}

static uint64_t block_bytes(const struct iwi_operation *op)
{
    return op->bytes / op->ranks + (op->bytes % op->ranks != 0);
}

/* Bytes of the blocks [first, first + count). */
static uint64_t span_bytes(const struct iwi_operation *op, uint32_t first, uint32_t count)
{
    const uint64_t begin = block_bytes(op) * first;
    const uint64_t end = begin + block_bytes(op) * count;

    return (end < op->bytes ? end : op->bytes) - (begin < op->bytes ? begin : op->bytes);
}

static uint32_t scatter_rounds(const struct iwi_operation *op)
{
    return iwi_ceil_log2(op->ranks);
}

static uint64_t round_count(const struct iwi_operation *op)
{
    return scatter_rounds(op) + (is_doubling(op) ? iwi_floor_log2(op->ranks) : op->ranks - 1);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const uint64_t blocks = op->bytes == 0 ? 1 : (op->bytes - 1) / block_bytes(op) + 1; /* not empty */

    return blocks - 1 + op->ranks * (round_count(op) - scatter_rounds(op));
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    if (index < scatter_rounds(op)) {
        iwi_binomial_round(op, index, round);
        round->is_pairs = false; /* its edges carry blocks, not the whole */
    } else if (is_doubling(op)) {
        iwi_round_all(round, op->ranks);
    } else if (op->bytes % op->ranks == 0) {
        iwi_round_shift(round, op->ranks, 1, block_bytes(op), 0);
    } else {
        const uint32_t whole = (uint32_t)(op->bytes / block_bytes(op));

        iwi_round_ring(
            round, op->ranks,
            iwi_rank_of_virtual(op->ranks, op->root, (uint32_t)(index - scatter_rounds(op))),
            (struct iwi_block_sizes){{whole, whole + 1}, {block_bytes(op), op->bytes % block_bytes(op), 0}},
            false);
    }
}

/* Bytes that the scatter brings to `child` for itself and all ranks below it. */
static uint64_t subtree_bytes(const struct iwi_operation *op, uint32_t child)
{
    const uint32_t v = iwi_virtual_of_rank(op->ranks, op->root, child);

    return span_bytes(op, v, iwi_binomial_subtree(op->ranks, v));
}

static void scatter_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct iwi_links links = iwi_binomial_links(op, index, rank);
    const uint64_t bytes = subtree_bytes(op, links.has_child ? links.child : rank);

    iwi_role_clear(role);
    if (links.has_child && bytes > 0) {
        iwi_role_send(role, links.child, bytes);
    } else if (links.has_parent && bytes > 0) {
        iwi_role_recv(role, links.parent, 0, bytes);
    }
}

static void doubling_role(const struct iwi_operation *op, uint32_t step, uint32_t rank, struct iwi_role *role)
{
    const uint32_t count = UINT32_C(1) << step;
    const uint32_t v = iwi_virtual_of_rank(op->ranks, op->root, rank);
    const uint32_t own = v & ~(count - 1);
    const uint32_t partner = iwi_rank_of_virtual(op->ranks, op->root, v ^ count);

    iwi_role_clear(role);
    iwi_role_send(role, partner, span_bytes(op, own, count));
    iwi_role_recv(role, partner, 0, span_bytes(op, own ^ count, count));
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t step = (uint32_t)(index - scatter_rounds(op));

    if (index < scatter_rounds(op)) {
        scatter_role(op, index, rank, role);
    } else if (is_doubling(op)) {
        doubling_role(op, step, rank, role);
    } else {
        const uint32_t v = iwi_virtual_of_rank(op->ranks, op->root, rank);
        const uint32_t sent = iwi_virtual_of_rank(op->ranks, step, v);
        const uint32_t received = iwi_virtual_of_rank(op->ranks, 1, sent);

        iwi_role_ring(role, op->ranks, rank, span_bytes(op, sent, 1), span_bytes(op, received, 1));
    }
}

const struct iwi_algorithm iwi_bcast_scatter_allgather = {
    .kind = IWI_BCAST,
    .name = "scatter-allgather",
    .summary = "binomial scatter, then allgather",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};

/* Broadcast of two levels: over the leaders of the nodes, then inside each node (MPICH). */

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
    IWI_ROUNDS_OF(two_level),
};
