/* Allreduce on two binary trees at once (Sanders, Speck, Traeff; NCCL): each carries half of the data up and
 * down, pipelined by segments. SPDX-License-Identifier: BSD-3-Clause
 *
 * Trees are as in_order_tree.h says; H is the height of the top. The edge above a
 * node of height h that is the left (c = 0) or right (c = 1) child of its parent carries segment s up in
 * round 2(s + h) + c, and down in round 2(s + 2H - 1 - h) + c: as heights grow strictly towards the top, each
 * node has a segment before it passes it on.
 */
#include "core/program/collectives/nodes.h"
#include "core/program/collectives/rounds.h"

struct iwi_in_order_tree {
    uint32_t members;
    bool is_second;
    uint32_t top; /* H */
};

/* Members at places of the tree, and the inverse. */
static inline uint32_t iwi_tree_member(const struct iwi_in_order_tree *tree, uint32_t place)
{
    if (!tree->is_second) {
        return place;
    }
    return tree->members % 2 == 0 ? tree->members - 1 - place : iwi_rank_of_virtual(tree->members, 1, place);
}

static inline uint32_t iwi_tree_place(const struct iwi_in_order_tree *tree, uint32_t member)
{
    if (!tree->is_second) {
        return member;
    }
    return tree->members % 2 == 0 ? tree->members - 1 - member
                                  : iwi_virtual_of_rank(tree->members, 1, member);
}

static inline uint32_t iwi_tree_height(const struct iwi_in_order_tree *tree, uint32_t place)
{
    return place == 0 ? tree->top : (uint32_t)__builtin_ctz(place);
}

static inline bool iwi_tree_parent(const struct iwi_in_order_tree *tree, uint32_t place, uint32_t *parent_p)
{
    const uint32_t bit = place & (~place + 1);

    if (place == 0) {
        return false;
    }
    *parent_p = (place ^ bit) | (bit << 1);
    if (*parent_p >= tree->members) {
        *parent_p = place ^ bit;
    }
    return true;
}

/* Side 0 is left, 1 right. */
static inline bool iwi_tree_child(const struct iwi_in_order_tree *tree, uint32_t place, uint32_t side,
                                  uint32_t *child_p)
{
    const uint32_t height = iwi_tree_height(tree, place);
    uint32_t distance = height == 0 ? 0 : UINT32_C(1) << (height - 1);

    if (side == 0) {
        *child_p = place - distance;
        return distance > 0 && place != 0;
    }
    while (distance > 0 && place + distance >= tree->members) {
        distance /= 2;
    }
    *child_p = place + distance;
    return distance > 0;
}

enum { UP, DOWN };

struct half {
    struct iwi_in_order_tree tree;
    uint64_t bytes, segment_bytes, segments;
};

struct hop {
    bool exists;
    uint32_t rank; /* the other end */
    uint64_t bytes;
};

static struct half double_tree_half_of(const struct iwi_operation *op, bool is_second)
{
    const uint64_t bytes = is_second ? op->bytes / 2 : op->bytes - op->bytes / 2;

    return (struct half){{op->ranks, is_second, iwi_ceil_log2(op->ranks)},
                         bytes,
                         op->segment_bytes,
                         iwi_segment_count(bytes, op->segment_bytes)};
}

/* Does the edge above `child` carry a segment in that direction now? */
static bool carries(const struct half *half, uint32_t child, uint64_t time, int direction, uint64_t *bytes_p)
{
    const uint32_t height = iwi_tree_height(&half->tree, child);
    const uint64_t start = direction == UP ? height : 2 * half->tree.top - 1 - height;

    if (time < start || time - start >= half->segments) {
        return false;
    }
    *bytes_p = iwi_segment_size(half->bytes, half->segment_bytes, time - start);
    return true;
}

/* The message between `rank` and its parent in this round, if any. */
static struct hop parent_hop(const struct half *half, uint64_t index, int direction, uint32_t rank)
{
    const uint32_t node = iwi_tree_place(&half->tree, rank);
    struct hop hop = {false, 0, 0};
    uint32_t parent;

    if (iwi_tree_parent(&half->tree, node, &parent) && (parent < node) == index % 2) {
        hop.exists = carries(half, node, index / 2, direction, &hop.bytes);
        hop.rank = iwi_tree_member(&half->tree, parent);
    }
    return hop;
}

/* The message between `rank` and one of its children in this round, if any. */
static struct hop child_hop(const struct half *half, uint64_t index, int direction, uint32_t rank)
{
    struct hop hop = {false, 0, 0};
    uint32_t child;

    if (iwi_tree_child(&half->tree, iwi_tree_place(&half->tree, rank), (uint32_t)(index % 2), &child)) {
        hop.exists = carries(half, child, index / 2, direction, &hop.bytes);
        hop.rank = iwi_tree_member(&half->tree, child);
    }
    return hop;
}

static struct hop send_hop(const struct half *half, uint64_t index, int direction, uint32_t rank)
{
    return direction == UP ? parent_hop(half, index, UP, rank) : child_hop(half, index, DOWN, rank);
}

static uint64_t double_tree_rounds(const struct iwi_operation *op)
{
    const struct half half = double_tree_half_of(op, false);

    return op->ranks > 1 ? 2 * (half.segments + 2 * (uint64_t)half.tree.top - 1) : 0;
}

static uint64_t double_tree_messages(const struct iwi_operation *op)
{
    return UINT64_C(2) * (op->ranks - 1) *
           (double_tree_half_of(op, false).segments + double_tree_half_of(op, true).segments);
}

/* Lowest child that any edge in use can have in this round. The first tree has at least as many segments. */
static uint32_t lowest_height(const struct half *half, uint64_t time)
{
    const uint64_t up = time >= half->segments ? time - half->segments + 1 : 0;
    const uint64_t down = time >= 2 * half->tree.top - 1 ? 0 : 2 * half->tree.top - 1 - time;

    return (uint32_t)(up < down ? up : down);
}

static void double_tree_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct half first = double_tree_half_of(op, false);
    const struct half second = double_tree_half_of(op, true);
    const uint32_t stride = UINT32_C(1) << lowest_height(&first, index / 2);
    const uint32_t count = (op->ranks - 1) / stride + 1;
    const bool is_rank0_in_both = op->ranks % 2 == 1 && (op->ranks - 1) % stride == 0;

    iwi_round_all(round, op->ranks);
    round->fan = 4;
    if (stride > 1) {
        round->range_count = 0;
        iwi_round_add(round, 0, count, stride);
        iwi_round_add(round, iwi_tree_member(&second.tree, 0), count - is_rank0_in_both,
                      op->ranks % 2 == 0 ? -(int64_t)stride : (int64_t)stride);
    }
}

/* Messages are issued in the order (tree 0 up, tree 0 down, tree 1 up, tree 1 down). */
static uint32_t double_tree_slot_of(const struct half halves[2], uint64_t index, uint32_t sender, int tree,
                                    int direction)
{
    uint32_t slot = 0;

    for (int number = 0; number < 2 * tree + direction; number++) {
        slot += send_hop(&halves[number / 2], index, number % 2, sender).exists;
    }
    return slot;
}

static void double_tree_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                             struct iwi_role *role)
{
    const struct half halves[2] = {double_tree_half_of(op, false), double_tree_half_of(op, true)};

    iwi_role_clear(role);
    for (int number = 0; number < 4; number++) {
        const int tree = number / 2;
        const int direction = number % 2;
        const struct hop out = send_hop(&halves[tree], index, direction, rank);
        const struct hop in = direction == UP ? child_hop(&halves[tree], index, UP, rank)
                                              : parent_hop(&halves[tree], index, DOWN, rank);

        if (out.exists) {
            iwi_role_send(role, out.rank, out.bytes);
        }
        if (in.exists) {
            iwi_role_recv(role, in.rank, double_tree_slot_of(halves, index, in.rank, tree, direction),
                          in.bytes);
            role->reduce_bytes += direction == UP ? in.bytes : 0;
        }
    }
}

const struct iwi_algorithm iwi_allreduce_double_tree = {
    .kind = IWI_ALLREDUCE,
    .name = "double-tree",
    .summary = "two binary trees, half of the data each, pipelined by segments",
    IWI_ROUNDS_OF(double_tree),
};

/* Allreduce on two binary trees over the nodes, with a chain inside each node (NCCL's trees): each carries
 * half of the data up and down, pipelined by segments.
 *
 * The head of a node's chain speaks to other nodes: the first rank in the first tree, the second in the
 * other. With C + 1 ranks on the largest node, the rank at place p of its chain has the height C - p, heads
 * have C plus their node's height in the tree, and the top has T. The edge above a rank of height h carries
 * segment s up in round s + h, and down in round s + 2 T - 1 - h: heights grow strictly towards the top.
 */

enum { MOST_EDGES = 8 }; /* of each half: up, and down to the chain, left and right */

struct node_half {
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

static struct node_half node_tree_half_of(const struct iwi_operation *op, bool is_second)
{
    struct node_half half = {.map = iwi_node_map_of(op), .segment_bytes = op->segment_bytes};

    half.tree = (struct iwi_in_order_tree){half.map.count, is_second, iwi_ceil_log2(half.map.count)};
    half.chain = iwi_largest_node(&half.map) - 1;
    half.top = half.chain + half.tree.top;
    half.bytes = is_second ? op->bytes / 2 : op->bytes - op->bytes / 2;
    half.segments = iwi_segment_count(half.bytes, op->segment_bytes);
    return half;
}

static uint32_t head_seat(const struct node_half *half, uint32_t node)
{
    return half->tree.is_second && iwi_node_size(&half->map, node) > 1 ? 1 : 0;
}

/* The rank at that place of the node's chain. */
static uint32_t chain_rank(const struct node_half *half, uint32_t node, uint32_t place)
{
    const uint32_t size = iwi_node_size(&half->map, node);

    return iwi_rank_at(&half->map, node, iwi_rank_of_virtual(size, head_seat(half, node), place));
}

static uint32_t chain_place(const struct node_half *half, uint32_t rank)
{
    const uint32_t node = iwi_node_of(&half->map, rank), size = iwi_node_size(&half->map, node);

    return iwi_virtual_of_rank(size, head_seat(half, node), iwi_seat_of(&half->map, rank));
}

static uint32_t height_of(const struct node_half *half, uint32_t rank)
{
    const uint32_t place = chain_place(half, rank);
    const uint32_t node = iwi_node_of(&half->map, rank);

    return place > 0 ? half->chain - place
                     : half->chain + iwi_tree_height(&half->tree, iwi_tree_place(&half->tree, node));
}

/* Adds the edge above `child`, whose other end is `peer`, if it carries a segment that way now. */
static void add_edge(const struct node_half *half, uint64_t index, uint32_t child, uint32_t peer, bool is_up,
                     struct edge *edges, uint32_t *count)
{
    const uint32_t height = height_of(half, child);
    const uint64_t start = is_up ? height : 2 * (uint64_t)half->top - 1 - height;

    if (index >= start && index - start < half->segments) {
        edges[(*count)++] = (struct edge){peer, half->tree.is_second, is_up,
                                          iwi_segment_size(half->bytes, half->segment_bytes, index - start)};
    }
}

static void add_parent(const struct node_half *half, uint64_t index, uint32_t rank, bool is_up,
                       struct edge *edges, uint32_t *count)
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

static void add_children(const struct node_half *half, uint64_t index, uint32_t rank, bool is_up,
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
static uint32_t find_sends(const struct node_half halves[2], uint64_t index, uint32_t rank,
                           struct edge *edges)
{
    uint32_t count = 0;

    for (int h = 0; h < 2; h++) {
        add_parent(&halves[h], index, rank, true, edges, &count);
        add_children(&halves[h], index, rank, false, edges, &count);
    }
    return count;
}

static uint32_t find_receives(const struct node_half halves[2], uint64_t index, uint32_t rank,
                              struct edge *edges)
{
    uint32_t count = 0;

    for (int h = 0; h < 2; h++) {
        add_children(&halves[h], index, rank, true, edges, &count);
        add_parent(&halves[h], index, rank, false, edges, &count);
    }
    return count;
}

static uint32_t node_tree_slot_of(const struct node_half halves[2], uint64_t index,
                                  const struct edge *received, uint32_t rank)
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

static uint64_t node_tree_rounds(const struct iwi_operation *op)
{
    const struct node_half half = node_tree_half_of(op, false);

    return op->ranks > 1 ? half.segments + 2 * (uint64_t)half.top - 1 : 0;
}

static uint64_t node_tree_messages(const struct iwi_operation *op)
{
    return UINT64_C(2) * (op->ranks - 1) *
           (node_tree_half_of(op, false).segments + node_tree_half_of(op, true).segments);
}

static void node_tree_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
    round->fan = MOST_EDGES;
}

static void node_tree_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                           struct iwi_role *role)
{
    const struct node_half halves[2] = {node_tree_half_of(op, false), node_tree_half_of(op, true)};
    struct edge edges[MOST_EDGES];
    uint32_t count = find_sends(halves, index, rank, edges);

    iwi_role_clear(role);
    for (uint32_t i = 0; i < count; i++) {
        iwi_role_send(role, edges[i].peer, edges[i].bytes);
    }
    count = find_receives(halves, index, rank, edges);
    for (uint32_t i = 0; i < count; i++) {
        iwi_role_recv(role, edges[i].peer, node_tree_slot_of(halves, index, &edges[i], rank), edges[i].bytes);
        role->reduce_bytes += edges[i].is_up ? edges[i].bytes : 0;
    }
}

const struct iwi_algorithm iwi_allreduce_node_double_tree = {
    .kind = IWI_ALLREDUCE,
    .name = "node-double-tree",
    .summary = "two trees over nodes, a chain inside each, by segments",
    .uses_nodes = true,
    IWI_ROUNDS_OF(node_tree),
};
