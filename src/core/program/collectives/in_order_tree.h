/* The pair of binary trees over which NCCL reduces: each member works inside one and is a leaf of the other.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tree 0 is the in-order binary tree: the height of place v is the number of its trailing zero bits, place 0
 * sits on top at height H = ceil(log2 members). Tree 1 is its mirror image (even numbers) or moved by one
 * (odd), so that a member that works inside one tree is a leaf of the other (odd numbers: all but member 0).
 */
#ifndef IWI_IN_ORDER_TREE_H
#define IWI_IN_ORDER_TREE_H

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

#endif
