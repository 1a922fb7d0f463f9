/* Binomial, binary, chain and star trees in rounds, downwards and upwards.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

/* ---- what operations do on trees ---- */

struct use {
    bool goes_up, goes_down; /* both: first up, then down */
    bool is_rooted;          /* at op->root; others at rank 0 */
    bool is_personal;        /* a message carries the bytes of each rank below its edge */
    bool is_reducing;        /* up: receivers combine */
    bool is_signal;          /* messages of 1 byte */
};

/* Only of operations with an algorithm on trees. */
static const struct use uses[IWI_OP_KINDS] = {
    [IWI_BARRIER] = {.goes_up = true, .goes_down = true, .is_signal = true},
    [IWI_BCAST] = {.goes_down = true, .is_rooted = true},
    [IWI_REDUCE] = {.goes_up = true, .is_rooted = true, .is_reducing = true},
    [IWI_ALLREDUCE] = {.goes_up = true, .goes_down = true, .is_reducing = true},
    [IWI_GATHER] = {.goes_up = true, .is_rooted = true, .is_personal = true},
    [IWI_SCATTER] = {.goes_down = true, .is_rooted = true, .is_personal = true},
};

/* ---- an operation on a tree of some shape ---- */

struct tree {
    const struct shape *shape;
    const struct use *use;
    uint32_t ranks, root;
    uint64_t bytes, segment_bytes, segments; /* segment_bytes 0: one segment */
};

/* Ranks are virtual here: numbered from the root on. Rounds are those of the way down. */
struct shape {
    bool is_pipelined;                               /* data is cut into segments */
    uint64_t (*way_rounds)(const struct tree *tree); /* of one way; at least 2 ranks */
    void (*active)(const struct tree *tree, uint64_t index, struct iwi_range *range);
    void (*links)(const struct tree *tree, uint64_t index, uint32_t v, struct iwi_links *links);
    uint32_t (*subtree)(uint32_t ranks, uint32_t v); /* ranks below and with v; NULL: 1 */
    /* The parents of a round, whose children are all at the distance returned; NULL: not so. */
    uint32_t (*pairs)(const struct tree *tree, uint64_t index, struct iwi_range *parents);
};

static struct tree tree_of(const struct shape *shape, const struct iwi_operation *op)
{
    const struct use *use = &uses[op->algorithm->kind];
    const uint64_t bytes = use->is_signal ? 1 : op->bytes;
    const uint64_t segment_bytes = shape->is_pipelined ? op->segment_bytes : 0;

    return (struct tree){.shape = shape,
                         .use = use,
                         .ranks = op->ranks,
                         .root = use->is_rooted ? op->root : 0,
                         .bytes = bytes,
                         .segment_bytes = segment_bytes,
                         .segments = iwi_segment_count(bytes, segment_bytes)};
}

static uint64_t ways(const struct tree *tree)
{
    return (uint64_t)tree->use->goes_up + tree->use->goes_down;
}

static uint64_t tree_rounds(const struct shape *shape, const struct iwi_operation *op)
{
    const struct tree tree = tree_of(shape, op);

    return op->ranks > 1 ? ways(&tree) * shape->way_rounds(&tree) : 0;
}

static uint64_t tree_messages(const struct shape *shape, const struct iwi_operation *op)
{
    const struct tree tree = tree_of(shape, op);

    return ways(&tree) * (op->ranks - 1) * tree.segments;
}

/* The round of the way down that round `index` is, or is the mirror image of. */
static uint64_t find_round(const struct tree *tree, uint64_t index, bool *is_up_p)
{
    const uint64_t up_rounds = tree->use->goes_up ? tree->shape->way_rounds(tree) : 0;

    *is_up_p = index < up_rounds;
    return *is_up_p ? up_rounds - 1 - index : index - up_rounds;
}

static void tree_round(const struct shape *shape, const struct iwi_operation *op, uint64_t index,
                       struct iwi_round *round)
{
    const struct tree tree = tree_of(shape, op);
    struct iwi_range range;
    bool is_up;

    shape->active(&tree, find_round(&tree, index, &is_up), &range);
    iwi_round_clear(round);
    iwi_round_add(round, iwi_rank_of_virtual(tree.ranks, tree.root, range.first), range.count, range.stride);
    if (shape->pairs != NULL && !tree.use->is_personal) {
        const uint32_t distance = shape->pairs(&tree, find_round(&tree, index, &is_up), &range);

        round->is_pairs = true;
        round->senders = range;
        round->senders.first =
            iwi_rank_of_virtual(tree.ranks, tree.root, is_up ? range.first + distance : range.first);
        round->shift = is_up ? tree.ranks - distance : distance;
        round->bytes = tree.bytes;
        round->reduce_bytes = is_up && tree.use->is_reducing ? tree.bytes : 0;
    }
}

/* Parent and child as real ranks. */
static struct iwi_links tree_links(const struct tree *tree, uint64_t index, uint32_t rank)
{
    struct iwi_links links = {0};

    tree->shape->links(tree, index, iwi_virtual_of_rank(tree->ranks, tree->root, rank), &links);
    links.parent = iwi_rank_of_virtual(tree->ranks, tree->root, links.parent);
    links.child = iwi_rank_of_virtual(tree->ranks, tree->root, links.child);
    return links;
}

/* Bytes on the edge above `child`, a real rank. */
static uint64_t edge_bytes(const struct tree *tree, uint32_t child, uint64_t segment)
{
    const uint64_t size = iwi_segment_size(tree->bytes, tree->segment_bytes, segment);

    if (!tree->use->is_personal || tree->shape->subtree == NULL) {
        return size;
    }
    return size * tree->shape->subtree(tree->ranks, iwi_virtual_of_rank(tree->ranks, tree->root, child));
}

static void down_role(const struct tree *tree, const struct iwi_links *links, uint32_t rank,
                      struct iwi_role *role)
{
    if (links->has_parent) {
        iwi_role_recv(role, links->parent, 0, edge_bytes(tree, rank, links->parent_segment));
    }
    if (links->has_child) {
        iwi_role_send(role, links->child, edge_bytes(tree, links->child, links->child_segment));
    }
}

/* Backwards the last segment comes first; data takes the same edges the other way. */
static void up_role(const struct tree *tree, const struct iwi_links *links, uint32_t rank,
                    struct iwi_role *role)
{
    const uint64_t last = tree->segments - 1;

    if (links->has_child) {
        const uint64_t bytes = edge_bytes(tree, links->child, last - links->child_segment);

        iwi_role_recv(role, links->child, 0, bytes);
        role->reduce_bytes = tree->use->is_reducing ? bytes : 0;
    }
    if (links->has_parent) {
        iwi_role_send(role, links->parent, edge_bytes(tree, rank, last - links->parent_segment));
    }
}

static void tree_role(const struct shape *shape, const struct iwi_operation *op, uint64_t index,
                      uint32_t rank, struct iwi_role *role)
{
    const struct tree tree = tree_of(shape, op);
    bool is_up;
    const uint64_t down_index = find_round(&tree, index, &is_up);
    const struct iwi_links links = tree_links(&tree, down_index, rank);

    iwi_role_clear(role);
    if (is_up) {
        up_role(&tree, &links, rank, role);
    } else {
        down_role(&tree, &links, rank, role);
    }
}

/* iwi_SHAPE_rounds(), _messages(), _round() and _role(): what a struct iwi_algorithm needs. */
#define ALGORITHM_FUNCTIONS(shape)                                                                    \
    uint64_t iwi_##shape##_rounds(const struct iwi_operation *op)                                     \
    {                                                                                                 \
        return tree_rounds(&(shape), op);                                                             \
    }                                                                                                 \
    uint64_t iwi_##shape##_messages(const struct iwi_operation *op)                                   \
    {                                                                                                 \
        return tree_messages(&(shape), op);                                                           \
    }                                                                                                 \
    void iwi_##shape##_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round) \
    {                                                                                                 \
        tree_round(&(shape), op, index, round);                                                       \
    }                                                                                                 \
    void iwi_##shape##_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,            \
                            struct iwi_role *role)                                                    \
    {                                                                                                 \
        tree_role(&(shape), op, index, rank, role);                                                   \
    }

/* ---- binomial: v takes from v without its lowest set bit; long distances first ---- */

static uint32_t binomial_mask(const struct tree *tree, uint64_t index)
{
    return UINT32_C(1) << (iwi_ceil_log2(tree->ranks) - 1 - (uint32_t)index);
}

static uint64_t binomial_way_rounds(const struct tree *tree)
{
    return iwi_ceil_log2(tree->ranks);
}

static void binomial_active(const struct tree *tree, uint64_t index, struct iwi_range *range)
{
    const uint32_t mask = binomial_mask(tree, index);

    *range = (struct iwi_range){0, (tree->ranks - 1) / mask + 1, mask};
}

static void binomial_links(const struct tree *tree, uint64_t index, uint32_t v, struct iwi_links *links)
{
    const uint32_t mask = binomial_mask(tree, index);
    const uint32_t low = v & (2 * mask - 1);

    links->has_parent = low == mask;
    links->parent = v - mask;
    links->has_child = low == 0 && v + mask < tree->ranks;
    links->child = v + mask;
}

static uint32_t binomial_pairs(const struct tree *tree, uint64_t index, struct iwi_range *parents)
{
    const uint32_t mask = binomial_mask(tree, index);

    *parents = (struct iwi_range){0, (tree->ranks - 1 - mask) / (2 * mask) + 1, 2 * (int64_t)mask};
    return mask;
}

uint32_t iwi_binomial_subtree(uint32_t ranks, uint32_t virtual_rank)
{
    const uint32_t lowest_bit = virtual_rank & (~virtual_rank + 1);
    const uint32_t higher = ranks - virtual_rank;

    return virtual_rank == 0 || higher < lowest_bit ? higher : lowest_bit;
}

static const struct shape binomial = {.way_rounds = binomial_way_rounds,
                                      .active = binomial_active,
                                      .links = binomial_links,
                                      .subtree = iwi_binomial_subtree,
                                      .pairs = binomial_pairs};

struct iwi_links iwi_binomial_links(const struct iwi_operation *op, uint64_t index, uint32_t rank)
{
    const struct tree tree = tree_of(&binomial, op);

    return tree_links(&tree, index, rank);
}

ALGORITHM_FUNCTIONS(binomial)

/* ---- binary, numbered as by Open MPI: depth d holds the 2^d ranks from 2^d - 1 on; children of v there are
 *      v + 2^d and v + 2*2^d; depth d passes segment s to its left child in round 2(s+d), to its right child
 *      in round 2(s+d)+1 ---- */

static uint64_t binary_way_rounds(const struct tree *tree)
{
    const uint32_t deepest = iwi_floor_log2(tree->ranks);
    /* up to half of the deepest level are left children */
    const bool is_last_right_empty = tree->ranks < UINT64_C(3) << (deepest - 1);

    return 2 * (tree->segments + deepest - 1) - is_last_right_empty;
}

static void binary_active(const struct tree *tree, uint64_t index, struct iwi_range *range)
{
    const uint64_t time = index / 2;
    const uint32_t deepest_sender = iwi_floor_log2(tree->ranks) - 1;
    const uint32_t low = (uint32_t)(time >= tree->segments ? time - tree->segments + 1 : 0);
    const uint32_t high = time < deepest_sender ? (uint32_t)time : deepest_sender;
    const uint64_t begin = (UINT64_C(1) << low) - 1;
    const uint64_t end = (UINT64_C(1) << (high + 2)) - 1;

    *range =
        (struct iwi_range){(uint32_t)begin, (uint32_t)((end < tree->ranks ? end : tree->ranks) - begin), 1};
}

static void binary_links(const struct tree *tree, uint64_t index, uint32_t v, struct iwi_links *links)
{
    const uint64_t time = index / 2;
    const uint32_t side = (uint32_t)(index % 2); /* 0: left */
    const uint32_t depth = iwi_floor_log2(v + 1);
    const uint64_t child = v + (UINT64_C(1) << depth) * (1 + side);
    const uint32_t parents = (UINT32_C(1) << depth) / 2; /* ranks at depth - 1 */
    const uint32_t own_side = v + 1 >= 3 * parents;

    links->has_child = child < tree->ranks && time >= depth && time - depth < tree->segments;
    links->child = (uint32_t)child;
    links->child_segment = time - depth;
    links->has_parent = v > 0 && own_side == side && time + 1 >= depth && time + 1 - depth < tree->segments;
    links->parent = v - parents * (1 + own_side);
    links->parent_segment = time + 1 - depth;
}

static const struct shape binary = {
    .is_pipelined = true, .way_rounds = binary_way_rounds, .active = binary_active, .links = binary_links};

ALGORITHM_FUNCTIONS(binary)

/* ---- chain: v passes segment i - v to v + 1 in round i ---- */

static uint64_t chain_way_rounds(const struct tree *tree)
{
    return tree->ranks + tree->segments - 2;
}

static void chain_active(const struct tree *tree, uint64_t index, struct iwi_range *range)
{
    const uint32_t first = (uint32_t)(index >= tree->segments ? index - tree->segments + 1 : 0);
    const uint32_t last_sender = index < tree->ranks - 2 ? (uint32_t)index : tree->ranks - 2;

    *range = (struct iwi_range){first, last_sender + 2 - first, 1};
}

static void chain_links(const struct tree *tree, uint64_t index, uint32_t v, struct iwi_links *links)
{
    links->has_child = v + 1 < tree->ranks && index >= v && index - v < tree->segments;
    links->child = v + 1;
    links->child_segment = index - v;
    links->has_parent = v > 0 && index + 1 >= v && index + 1 - v < tree->segments;
    links->parent = v - 1;
    links->parent_segment = index + 1 - v;
}

static const struct shape chain = {
    .is_pipelined = true, .way_rounds = chain_way_rounds, .active = chain_active, .links = chain_links};

ALGORITHM_FUNCTIONS(chain)

/* ---- star: the root serves one rank a round, in the order of real ranks ---- */

static uint32_t star_leaf(const struct tree *tree, uint64_t index)
{
    const uint32_t rank = (uint32_t)(index < tree->root ? index : index + 1);

    return iwi_virtual_of_rank(tree->ranks, tree->root, rank);
}

static uint64_t star_way_rounds(const struct tree *tree)
{
    return tree->ranks - 1;
}

static void star_active(const struct tree *tree, uint64_t index, struct iwi_range *range)
{
    *range = (struct iwi_range){0, 2, star_leaf(tree, index)};
}

static void star_links(const struct tree *tree, uint64_t index, uint32_t v, struct iwi_links *links)
{
    links->has_child = v == 0;
    links->child = star_leaf(tree, index);
    links->has_parent = v == links->child;
    links->parent = 0;
}

static const struct shape star = {.way_rounds = star_way_rounds, .active = star_active, .links = star_links};

ALGORITHM_FUNCTIONS(star)
