/* Rounds and roles of collectives of two levels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/two_level.h"

#include "core/program/collectives/tree.h"

void iwi_two_level_init(struct iwi_two_level *two, const struct iwi_operation *op, bool is_rooted)
{
    two->map = iwi_node_map_of(op);
    two->root_node = is_rooted ? iwi_node_of(&two->map, op->root) : 0;
    two->root_seat = is_rooted ? iwi_seat_of(&two->map, op->root) : 0;
    two->inside_rounds = iwi_ceil_log2(iwi_largest_node(&two->map));
    two->up = two->down = (struct iwi_inside){.exists = false};
    two->across = (struct iwi_operation){.ranks = two->map.count,
                                         .root = two->root_node,
                                         .bytes = op->bytes,
                                         .nodes = op->nodes,
                                         .table = op->table,
                                         .placed_ranks = op->ranks};
}

void iwi_two_level_ready(struct iwi_two_level *two)
{
    two->across_rounds = two->across.algorithm->round_count(&two->across);
}

static uint64_t up_rounds(const struct iwi_two_level *two)
{
    return two->up.exists ? two->inside_rounds : 0;
}

uint64_t iwi_two_level_rounds(const struct iwi_two_level *two)
{
    return up_rounds(two) + two->across_rounds + (two->down.exists ? two->inside_rounds : 0);
}

uint64_t iwi_two_level_messages(const struct iwi_two_level *two)
{
    const uint64_t followers = two->map.ranks - two->map.count;

    return followers * ((uint64_t)two->up.exists + two->down.exists) +
           two->across.algorithm->message_count(&two->across);
}

static uint32_t leader_seat(const struct iwi_two_level *two, uint32_t node)
{
    return node == two->root_node ? two->root_seat : 0;
}

static uint32_t leader_of(const struct iwi_two_level *two, uint32_t node)
{
    return iwi_rank_at(&two->map, node, leader_seat(two, node));
}

/* ---- rounds ---- */

/* In a round inside at distance `mask`, numbers from the leader on, children are mask, 3 mask, 5 mask, ...
 * and their parents `mask` before them. True: the children of all nodes are every stride-th rank. */
static bool find_children(const struct iwi_two_level *two, uint32_t mask, struct iwi_range *children)
{
    const struct iwi_node_map *map = &two->map;
    const uint32_t size = iwi_largest_node(map);
    const bool is_single = 3 * (uint64_t)mask >= size;
    uint32_t stride;

    if (two->root_seat != 0 || map->table != NULL || (map->is_dealt && !is_single)) {
        return false;
    }
    if (map->is_dealt) {
        const uint32_t first = mask * map->count; /* ranks of a seat are side by side; the last may be few */

        *children =
            (struct iwi_range){first, map->ranks - first < map->count ? map->ranks - first : map->count, 1};
        return true;
    }
    if (size % (2 * mask) != 0 && !is_single) {
        return false;
    }
    stride = is_single ? map->seats : 2 * mask;
    *children = (struct iwi_range){mask, (map->ranks - 1 - mask) / stride + 1, stride};
    return true;
}

static void inside_round(const struct iwi_two_level *two, const struct iwi_inside *inside, bool is_up,
                         uint32_t mask, struct iwi_round *round)
{
    const struct iwi_node_map *map = &two->map;
    const uint32_t distance = map->is_dealt ? mask * map->count : mask;
    /* parents and children are multiples of the distance, counted within their node */
    const uint32_t divisor = map->seats & (~map->seats + 1); /* largest power of two; all of these divide */
    const bool is_regular = !map->is_dealt && map->table == NULL && two->root_seat == 0;
    const uint32_t stride = !is_regular ? 1 : divisor < mask ? divisor : mask;

    iwi_round_clear(round);
    iwi_round_add(round, 0, (map->ranks - 1) / stride + 1, stride);
    if (!inside->is_personal && find_children(two, mask, &round->senders)) {
        round->is_pairs = true;
        round->senders.first -= is_up ? 0 : distance;
        round->shift = is_up ? map->ranks - distance : distance;
        round->bytes = inside->bytes;
        round->reduce_bytes = inside->is_reducing ? inside->bytes : 0;
    }
}

/* A round over node numbers, as one over ranks: exact where multiplying by the seats wraps around as node
 * numbers do, else all leaders are taken for active. */
static void across_round(const struct iwi_two_level *two, uint64_t index, struct iwi_round *round)
{
    const struct iwi_node_map *map = &two->map;
    const bool is_exact = two->root_seat == 0 && map->table == NULL && !map->is_dealt &&
                          map->ranks == (uint64_t)map->count * map->seats;
    struct iwi_round leaders;

    two->across.algorithm->round(&two->across, index, &leaders);
    iwi_round_clear(round);
    round->fan = leaders.fan;
    if (map->table != NULL) { /* leaders may be anywhere */
        iwi_round_add(round, 0, map->ranks, 1);
        return;
    }
    if (!is_exact) {
        iwi_round_add(round, 0, map->count, map->is_dealt ? 1 : map->seats);
        if (two->root_seat != 0) {
            iwi_round_add(round, leader_of(two, two->root_node), 1, 1);
        }
        return;
    }
    for (uint32_t i = 0; i < leaders.range_count; i++) {
        const struct iwi_range *range = &leaders.active[i];

        iwi_round_add(round, range->first * map->seats, range->count, range->stride * (int64_t)map->seats);
    }
    if (leaders.is_pairs) {
        round->is_pairs = true;
        round->senders = (struct iwi_range){leaders.senders.first * map->seats, leaders.senders.count,
                                            leaders.senders.stride * (int64_t)map->seats};
        round->shift = leaders.shift * map->seats;
        round->bytes = leaders.bytes;
        round->reduce_bytes = leaders.reduce_bytes;
    }
}

static uint32_t mask_of(const struct iwi_two_level *two, bool is_up, uint64_t step)
{
    return UINT32_C(1) << (is_up ? step : two->inside_rounds - 1 - step);
}

void iwi_two_level_round(const struct iwi_two_level *two, uint64_t index, struct iwi_round *round)
{
    const uint64_t up = up_rounds(two);

    if (index < up) {
        inside_round(two, &two->up, true, mask_of(two, true, index), round);
    } else if (index - up < two->across_rounds) {
        across_round(two, index - up, round);
    } else {
        inside_round(two, &two->down, false, mask_of(two, false, index - up - two->across_rounds), round);
    }
}

/* ---- roles ---- */

static void inside_role(const struct iwi_two_level *two, const struct iwi_inside *inside, bool is_up,
                        uint32_t mask, uint32_t rank, struct iwi_role *role)
{
    const uint32_t node = iwi_node_of(&two->map, rank), size = iwi_node_size(&two->map, node);
    const uint32_t leader = leader_seat(two, node);
    const uint32_t v = iwi_virtual_of_rank(size, leader, iwi_seat_of(&two->map, rank));
    const uint32_t low = v & (2 * mask - 1);
    const bool is_child = low == mask;
    const uint32_t child = is_child ? v : v + mask, other = is_child ? v - mask : v + mask;
    uint32_t peer;
    uint64_t bytes;

    if (!is_child && (low != 0 || child >= size)) {
        return;
    }
    peer = iwi_rank_at(&two->map, node, iwi_rank_of_virtual(size, leader, other));
    bytes = inside->bytes * (inside->is_personal ? iwi_binomial_subtree(size, child) : 1);
    if (is_child == is_up) {
        iwi_role_send(role, peer, bytes);
    } else {
        iwi_role_recv(role, peer, 0, bytes);
        role->reduce_bytes = inside->is_reducing ? bytes : 0;
    }
}

static void across_role(const struct iwi_two_level *two, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t node = iwi_node_of(&two->map, rank);

    if (iwi_seat_of(&two->map, rank) != leader_seat(two, node)) {
        return;
    }
    two->across.algorithm->role(&two->across, index, node, role);
    for (uint32_t i = 0; i < role->send_count; i++) {
        role->sends[i].peer = leader_of(two, role->sends[i].peer);
    }
    for (uint32_t i = 0; i < role->recv_count; i++) {
        role->recvs[i].peer = leader_of(two, role->recvs[i].peer);
    }
}

void iwi_two_level_role(const struct iwi_two_level *two, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint64_t up = up_rounds(two);

    iwi_role_clear(role);
    if (index < up) {
        inside_role(two, &two->up, true, mask_of(two, true, index), rank, role);
    } else if (index - up < two->across_rounds) {
        across_role(two, index - up, rank, role);
    } else {
        inside_role(two, &two->down, false, mask_of(two, false, index - up - two->across_rounds), rank, role);
    }
}
