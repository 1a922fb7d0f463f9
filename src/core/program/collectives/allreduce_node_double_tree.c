/* Allreduce on two binary trees over the nodes, with a chain inside each node (NCCL's trees): each carries
 * half of the data up and down, pipelined by segments.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of a node's chain speaks to other nodes: the first rank in the first tree, the second in the
 * other. With C + 1 ranks on the largest node, the rank at place p of its chain has the height C - p, heads
 * have C plus their node's height in the tree, and the top has T. The edge above a rank of height h carries
 * segment s up in round s + h, and down in round s + 2 T - 1 - h: heights grow strictly towards the top.
 */
#include "core/program/collectives/in_order_tree.h"
#include "core/program/collectives/nodes.h"

enum { MOST_EDGES = 8 }; /* of each half: up, and down to the chain, left and right */

struct half {
    struct iwi_node_map map;
    struct iwi_in_order_tree tree; /* of nodes */
    uint32_t chain, top;           /* C, T */
    uint64_t bytes, segment_bytes, segments;
};

/* A message of this round between a rank and `peer`. */
struct edge {
    uint32_t peer;
    uint8_t half;
    bool is_up;
    uint64_t bytes;
};

static struct half half_of(const struct iwi_operation *op, bool is_second)
{
    struct half half = {.map = iwi_node_map_of(op), .segment_bytes = op->segment_bytes};

    half.tree = (struct iwi_in_order_tree){half.map.count, is_second, iwi_ceil_log2(half.map.count)};
    half.chain = iwi_largest_node(&half.map) - 1;
    half.top = half.chain + half.tree.top;
    half.bytes = is_second ? op->bytes / 2 : op->bytes - op->bytes / 2;
    half.segments = iwi_segment_count(half.bytes, op->segment_bytes);
    return half;
}

static uint32_t head_seat(const struct half *half, uint32_t node)
{
    return half->tree.is_second && iwi_node_size(&half->map, node) > 1 ? 1 : 0;
}

/* The rank at that place of the node's chain. */
static uint32_t chain_rank(const struct half *half, uint32_t node, uint32_t place)
{
    const uint32_t size = iwi_node_size(&half->map, node);

    return iwi_rank_at(&half->map, node, iwi_rank_of_virtual(size, head_seat(half, node), place));
}

static uint32_t chain_place(const struct half *half, uint32_t rank)
{
    const uint32_t node = iwi_node_of(&half->map, rank), size = iwi_node_size(&half->map, node);

    return iwi_virtual_of_rank(size, head_seat(half, node), iwi_seat_of(&half->map, rank));
}

static uint32_t height_of(const struct half *half, uint32_t rank)
{
    const uint32_t place = chain_place(half, rank);
    const uint32_t node = iwi_node_of(&half->map, rank);

    return place > 0 ? half->chain - place
                     : half->chain + iwi_tree_height(&half->tree, iwi_tree_place(&half->tree, node));
}

/* Adds the edge above `child`, whose other end is `peer`, if it carries a segment that way now. */
static void add_edge(const struct half *half, uint64_t index, uint32_t child, uint32_t peer, bool is_up,
                     struct edge *edges, uint32_t *count)
{
    const uint32_t height = height_of(half, child);
    const uint64_t start = is_up ? height : 2 * (uint64_t)half->top - 1 - height;

    if (index >= start && index - start < half->segments) {
        edges[(*count)++] = (struct edge){peer, half->tree.is_second, is_up,
                                          iwi_segment_size(half->bytes, half->segment_bytes, index - start)};
    }
}

static void add_parent(const struct half *half, uint64_t index, uint32_t rank, bool is_up, struct edge *edges,
                       uint32_t *count)
{
    const uint32_t place = chain_place(half, rank), node = iwi_node_of(&half->map, rank);
    uint32_t parent;

    if (place > 0) {
        add_edge(half, index, rank, chain_rank(half, node, place - 1), is_up, edges, count);
    } else if (iwi_tree_parent(&half->tree, iwi_tree_place(&half->tree, node), &parent)) {
        add_edge(half, index, rank, chain_rank(half, iwi_tree_member(&half->tree, parent), 0), is_up, edges,
                 count);
    }
}

static void add_children(const struct half *half, uint64_t index, uint32_t rank, bool is_up,
                         struct edge *edges, uint32_t *count)
{
    const uint32_t place = chain_place(half, rank), node = iwi_node_of(&half->map, rank);

    if (place + 1 < iwi_node_size(&half->map, node)) {
        const uint32_t child = chain_rank(half, node, place + 1);

        add_edge(half, index, child, child, is_up, edges, count);
    }
    for (uint32_t side = 0; place == 0 && side < 2; side++) {
        uint32_t at;

        if (iwi_tree_child(&half->tree, iwi_tree_place(&half->tree, node), side, &at)) {
            const uint32_t child = chain_rank(half, iwi_tree_member(&half->tree, at), 0);

            add_edge(half, index, child, child, is_up, edges, count);
        }
    }
}

/* What the rank sends in this round, in the order in which it does. */
static uint32_t find_sends(const struct half halves[2], uint64_t index, uint32_t rank, struct edge *edges)
{
    uint32_t count = 0;

    for (int h = 0; h < 2; h++) {
        add_parent(&halves[h], index, rank, true, edges, &count);
        add_children(&halves[h], index, rank, false, edges, &count);
    }
    return count;
}

static uint32_t find_receives(const struct half halves[2], uint64_t index, uint32_t rank, struct edge *edges)
{
    uint32_t count = 0;

    for (int h = 0; h < 2; h++) {
        add_children(&halves[h], index, rank, true, edges, &count);
        add_parent(&halves[h], index, rank, false, edges, &count);
    }
    return count;
}

static uint32_t slot_of(const struct half halves[2], uint64_t index, const struct edge *received,
                        uint32_t rank)
{
    struct edge edges[MOST_EDGES];
    const uint32_t count = find_sends(halves, index, received->peer, edges);
    uint32_t slot = 0;

    while (slot + 1 < count && (edges[slot].peer != rank || edges[slot].half != received->half ||
                                edges[slot].is_up != received->is_up)) {
        slot++;
    }
    return slot;
}

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct half half = half_of(op, false);

    return op->ranks > 1 ? half.segments + 2 * (uint64_t)half.top - 1 : 0;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return UINT64_C(2) * (op->ranks - 1) * (half_of(op, false).segments + half_of(op, true).segments);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
    round->fan = MOST_EDGES;
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct half halves[2] = {half_of(op, false), half_of(op, true)};
    struct edge edges[MOST_EDGES];
    uint32_t count = find_sends(halves, index, rank, edges);

    iwi_role_clear(role);
    for (uint32_t i = 0; i < count; i++) {
        iwi_role_send(role, edges[i].peer, edges[i].bytes);
    }
    count = find_receives(halves, index, rank, edges);
    for (uint32_t i = 0; i < count; i++) {
        iwi_role_recv(role, edges[i].peer, slot_of(halves, index, &edges[i], rank), edges[i].bytes);
        role->reduce_bytes += edges[i].is_up ? edges[i].bytes : 0;
    }
}

const struct iwi_algorithm iwi_allreduce_node_double_tree = {
    .kind = IWI_ALLREDUCE,
    .name = "node-double-tree",
    .summary = "two trees over nodes, a chain inside each, by segments",
    .uses_nodes = true,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
