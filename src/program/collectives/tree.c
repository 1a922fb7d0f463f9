/* Binomial, binary, chain and star trees in rounds, downwards and upwards.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/tree.h"

/* ---- binomial: v takes from v without its lowest set bit; long distances first ---- */

static uint32_t binomial_mask(const struct iwi_tree_args *args, uint64_t index)
{
    return UINT32_C(1) << (iwi_ceil_log2(args->ranks) - 1 - (uint32_t)index);
}

static uint64_t binomial_round_count(const struct iwi_tree_args *args, uint64_t segments)
{
    (void)segments;
    return iwi_ceil_log2(args->ranks);
}

static void binomial_active(const struct iwi_tree_args *args, uint64_t segments, uint64_t index,
                            struct iwi_range *range)
{
    const uint32_t mask = binomial_mask(args, index);

    (void)segments;
    *range = (struct iwi_range){0, (args->ranks - 1) / mask + 1, mask};
}

static void binomial_links(const struct iwi_tree_args *args, uint64_t segments, uint64_t index, uint32_t v,
                           struct iwi_links *links)
{
    const uint32_t mask = binomial_mask(args, index);
    const uint32_t low = v & (2 * mask - 1);

    (void)segments;
    links->has_parent = low == mask;
    links->parent = v - mask;
    links->has_child = low == 0 && v + mask < args->ranks;
    links->child = v + mask;
}

static uint32_t binomial_subtree(const struct iwi_tree_args *args, uint32_t v)
{
    const uint32_t lowest_bit = v & (~v + 1);

    return v == 0 || args->ranks - v < lowest_bit ? args->ranks - v : lowest_bit;
}

const struct iwi_tree_shape iwi_binomial = {binomial_round_count, binomial_active, binomial_links,
                                            binomial_subtree};

/* ---- binary: children of v are 2v+1 and 2v+2; depth d passes segment s to its left child in round 2(s+d),
 *      to its right child in round 2(s+d)+1 ---- */

static uint64_t binary_round_count(const struct iwi_tree_args *args, uint64_t segments)
{
    const uint32_t deepest = iwi_floor_log2(args->ranks);
    const bool is_last_right_empty = iwi_is_power_of_two(args->ranks);

    return 2 * (segments + deepest - 1) - is_last_right_empty;
}

static void binary_active(const struct iwi_tree_args *args, uint64_t segments, uint64_t index,
                          struct iwi_range *range)
{
    const uint64_t time = index / 2;
    const uint32_t deepest_sender = iwi_floor_log2(args->ranks) - 1;
    const uint32_t low = (uint32_t)(time >= segments ? time - segments + 1 : 0);
    const uint32_t high = time < deepest_sender ? (uint32_t)time : deepest_sender;
    const uint64_t begin = (UINT64_C(1) << low) - 1;
    const uint64_t end = (UINT64_C(1) << (high + 2)) - 1;

    *range =
        (struct iwi_range){(uint32_t)begin, (uint32_t)((end < args->ranks ? end : args->ranks) - begin), 1};
}

static void binary_links(const struct iwi_tree_args *args, uint64_t segments, uint64_t index, uint32_t v,
                         struct iwi_links *links)
{
    const uint64_t time = index / 2;
    const uint32_t side = (uint32_t)(index % 2); /* 0: left */
    const uint32_t depth = iwi_floor_log2(v + 1);
    const uint64_t child = 2 * (uint64_t)v + 1 + side;

    links->has_child = child < args->ranks && time >= depth && time - depth < segments;
    links->child = (uint32_t)child;
    links->child_segment = time - depth;
    links->has_parent = v > 0 && (v - 1) % 2 == side && time + 1 >= depth && time + 1 - depth < segments;
    links->parent = v > 0 ? (v - 1) / 2 : 0;
    links->parent_segment = time + 1 - depth;
}

const struct iwi_tree_shape iwi_binary = {binary_round_count, binary_active, binary_links, NULL};

/* ---- chain: v passes segment i - v to v + 1 in round i ---- */

static uint64_t chain_round_count(const struct iwi_tree_args *args, uint64_t segments)
{
    return args->ranks + segments - 2;
}

static void chain_active(const struct iwi_tree_args *args, uint64_t segments, uint64_t index,
                         struct iwi_range *range)
{
    const uint32_t first = (uint32_t)(index >= segments ? index - segments + 1 : 0);
    const uint32_t last_sender = index < args->ranks - 2 ? (uint32_t)index : args->ranks - 2;

    *range = (struct iwi_range){first, last_sender + 2 - first, 1};
}

static void chain_links(const struct iwi_tree_args *args, uint64_t segments, uint64_t index, uint32_t v,
                        struct iwi_links *links)
{
    links->has_child = v + 1 < args->ranks && index >= v && index - v < segments;
    links->child = v + 1;
    links->child_segment = index - v;
    links->has_parent = v > 0 && index + 1 >= v && index + 1 - v < segments;
    links->parent = v - 1;
    links->parent_segment = index + 1 - v;
}

const struct iwi_tree_shape iwi_chain = {chain_round_count, chain_active, chain_links, NULL};

/* ---- star: the root serves one rank a round, in the order of real ranks ---- */

static uint32_t star_leaf(const struct iwi_tree_args *args, uint64_t index)
{
    const uint32_t rank = (uint32_t)(index < args->root ? index : index + 1);

    return iwi_virtual_of_rank(args->ranks, args->root, rank);
}

static uint64_t star_round_count(const struct iwi_tree_args *args, uint64_t segments)
{
    (void)segments;
    return args->ranks - 1;
}

static void star_active(const struct iwi_tree_args *args, uint64_t segments, uint64_t index,
                        struct iwi_range *range)
{
    (void)segments;
    *range = (struct iwi_range){0, 2, star_leaf(args, index)};
}

static void star_links(const struct iwi_tree_args *args, uint64_t segments, uint64_t index, uint32_t v,
                       struct iwi_links *links)
{
    (void)segments;
    links->has_child = v == 0;
    links->child = star_leaf(args, index);
    links->has_parent = v == links->child;
    links->parent = 0;
}

const struct iwi_tree_shape iwi_star = {star_round_count, star_active, star_links, NULL};

/* ---- all shapes ---- */

static uint64_t segments_of(const struct iwi_tree_args *args)
{
    return iwi_segment_count(args->bytes, args->segment_bytes);
}

/* Bytes on the edge above `child`, a real rank. */
static uint64_t edge_bytes(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args,
                           uint32_t child, uint64_t segment)
{
    const uint64_t size = iwi_segment_size(args->bytes, args->segment_bytes, segment);

    if (!args->is_personal || shape->subtree == NULL) {
        return size;
    }
    return size * shape->subtree(args, iwi_virtual_of_rank(args->ranks, args->root, child));
}

uint64_t iwi_tree_rounds(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args)
{
    return args->ranks > 1 ? shape->round_count(args, segments_of(args)) : 0;
}

uint64_t iwi_tree_messages(const struct iwi_tree_args *args)
{
    return (args->ranks - 1) * segments_of(args);
}

struct iwi_links iwi_tree_links(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args,
                                uint64_t index, uint32_t rank)
{
    const uint32_t v = iwi_virtual_of_rank(args->ranks, args->root, rank);
    struct iwi_links links = {0};

    shape->links(args, segments_of(args), index, v, &links);
    links.parent = iwi_rank_of_virtual(args->ranks, args->root, links.parent);
    links.child = iwi_rank_of_virtual(args->ranks, args->root, links.child);
    return links;
}

void iwi_tree_down_round(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                         struct iwi_round *round)
{
    struct iwi_range range;

    iwi_round_clear(round);
    shape->active(args, segments_of(args), index, &range);
    iwi_round_add(round, iwi_rank_of_virtual(args->ranks, args->root, range.first), range.count,
                  range.stride);
}

void iwi_tree_down_part(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                        uint32_t rank, struct iwi_part *part)
{
    const struct iwi_links links = iwi_tree_links(shape, args, index, rank);

    iwi_part_clear(part);
    if (links.has_parent) {
        iwi_part_recv(part, links.parent, 0, edge_bytes(shape, args, rank, links.parent_segment));
    }
    if (links.has_child) {
        iwi_part_send(part, links.child, edge_bytes(shape, args, links.child, links.child_segment));
    }
}

void iwi_tree_up_round(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                       struct iwi_round *round)
{
    iwi_tree_down_round(shape, args, iwi_tree_rounds(shape, args) - 1 - index, round);
}

void iwi_tree_up_part(const struct iwi_tree_shape *shape, const struct iwi_tree_args *args, uint64_t index,
                      uint32_t rank, struct iwi_part *part)
{
    const uint64_t mirrored = iwi_tree_rounds(shape, args) - 1 - index;
    const struct iwi_links links = iwi_tree_links(shape, args, mirrored, rank);
    const uint64_t last = segments_of(args) - 1;

    iwi_part_clear(part);
    if (links.has_child) {
        const uint64_t bytes = edge_bytes(shape, args, links.child, last - links.child_segment);

        iwi_part_recv(part, links.child, 0, bytes);
        part->reduce_bytes = args->is_reducing ? bytes : 0;
    }
    if (links.has_parent) {
        iwi_part_send(part, links.parent, edge_bytes(shape, args, rank, last - links.parent_segment));
    }
}
