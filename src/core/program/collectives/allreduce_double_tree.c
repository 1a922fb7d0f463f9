/* Allreduce on two binary trees at once (Sanders, Speck, Traeff; NCCL): each carries half of the data up and
 * down, pipelined by segments. SPDX-License-Identifier: BSD-3-Clause
 *
 * Trees are as in_order_tree.h says; H is the height of the top. The edge above a
 * node of height h that is the left (c = 0) or right (c = 1) child of its parent carries segment s up in
 * round 2(s + h) + c, and down in round 2(s + 2H - 1 - h) + c: as heights grow strictly towards the top, each
 * node has a segment before it passes it on.
 */
#include "core/program/collectives/in_order_tree.h"

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

static struct half half_of(const struct iwi_operation *op, bool is_second)
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

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct half half = half_of(op, false);

    return op->ranks > 1 ? 2 * (half.segments + 2 * (uint64_t)half.tree.top - 1) : 0;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return UINT64_C(2) * (op->ranks - 1) * (half_of(op, false).segments + half_of(op, true).segments);
}

/* Lowest child that any edge in use can have in this round. The first tree has at least as many segments. */
static uint32_t lowest_height(const struct half *half, uint64_t time)
{
    const uint64_t up = time >= half->segments ? time - half->segments + 1 : 0;
    const uint64_t down = time >= 2 * half->tree.top - 1 ? 0 : 2 * half->tree.top - 1 - time;

    return (uint32_t)(up < down ? up : down);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct half first = half_of(op, false);
    const struct half second = half_of(op, true);
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
static uint32_t slot_of(const struct half halves[2], uint64_t index, uint32_t sender, int tree, int direction)
{
    uint32_t slot = 0;

    for (int number = 0; number < 2 * tree + direction; number++) {
        slot += send_hop(&halves[number / 2], index, number % 2, sender).exists;
    }
    return slot;
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct half halves[2] = {half_of(op, false), half_of(op, true)};

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
            iwi_role_recv(role, in.rank, slot_of(halves, index, in.rank, tree, direction), in.bytes);
            role->reduce_bytes += direction == UP ? in.bytes : 0;
        }
    }
}

const struct iwi_algorithm iwi_allreduce_double_tree = {
    .kind = IWI_ALLREDUCE,
    .name = "double-tree",
    .summary = "two binary trees, half of the data each, pipelined by segments",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
