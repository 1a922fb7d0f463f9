/* Allreduce with a switch that reduces inside nodes (as NCCL's NVLS trees): every rank gets the sum of one
 * part of its node's data, exchanges it with the ranks of that seat on other nodes, and the switch brings it
 * to all.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The switch is no rank: a rank sends each part to the rank that gets it, in one round, and what arrives
 * costs no reduction. There are as many parts as the smallest node has ranks. Over the nodes each runs on two
 * trees.
 */
#include "core/program/collectives/nodes.h"

struct switched {
    struct iwi_node_map map;
    uint32_t parts;
    bool has_inside; /* a round before and one after the trees */
    struct iwi_operation across;
    uint64_t across_rounds;
};

static uint64_t part_bytes(const struct iwi_operation *op, const struct switched *s, uint32_t part)
{
    return iwi_block_bytes(op->bytes, s->parts, part);
}

static void set_up(const struct iwi_operation *op, struct switched *s)
{
    s->map = iwi_node_map_of(op);
    s->parts = iwi_smallest_node(&s->map);
    s->has_inside = iwi_largest_node(&s->map) > 1;
    s->across = (struct iwi_operation){.algorithm = &iwi_allreduce_double_tree,
                                       .ranks = s->map.count,
                                       .bytes = part_bytes(op, s, 0),
                                       .segment_bytes = op->segment_bytes};
    s->across_rounds = s->across.algorithm->round_count(&s->across); /* part 0 is the largest */
}

static uint64_t round_count(const struct iwi_operation *op)
{
    struct switched s;

    set_up(op, &s);
    return s.across_rounds + (s.has_inside ? 2 : 0);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    struct switched s;
    uint64_t larger, of_larger;

    set_up(op, &s);
    larger = op->bytes % s.parts; /* parts of a byte more */
    of_larger = s.across.algorithm->message_count(&s.across);
    s.across.bytes = op->bytes / s.parts;
    return UINT64_C(2) * s.parts * (s.map.ranks - s.map.count) + larger * of_larger +
           (s.parts - larger) * s.across.algorithm->message_count(&s.across);
}

/* A seat below `parts` gets its part from all others of the node, or gives it to all. */
static void inside_role(const struct iwi_operation *op, const struct switched *s, bool is_first,
                        uint32_t rank, struct iwi_role *role)
{
    const uint32_t node = iwi_node_of(&s->map, rank), own = iwi_seat_of(&s->map, rank);
    const uint32_t size = iwi_node_size(&s->map, node);

    for (uint32_t seat = 0; seat < size; seat++) {
        const uint32_t peer = iwi_rank_at(&s->map, node, seat);
        const bool gives = is_first ? seat < s->parts : own < s->parts;
        const bool takes = is_first ? own < s->parts : seat < s->parts;

        if (seat != own && gives) {
            iwi_role_send(role, peer, part_bytes(op, s, is_first ? seat : own));
        }
        if (seat != own && takes) { /* the peer skips itself in the order of seats */
            iwi_role_recv(role, peer, own - (seat < own), part_bytes(op, s, is_first ? own : seat));
        }
    }
}

static void across_role(const struct iwi_operation *op, const struct switched *s, uint64_t index,
                        uint32_t rank, struct iwi_role *role)
{
    const uint32_t seat = iwi_seat_of(&s->map, rank);
    struct iwi_operation across = s->across;

    if (seat >= s->parts) {
        return;
    }
    across.bytes = part_bytes(op, s, seat);
    across.algorithm->role(&across, index, iwi_node_of(&s->map, rank), role);
    for (uint32_t i = 0; i < role->send_count; i++) {
        role->sends[i].peer = iwi_rank_at(&s->map, role->sends[i].peer, seat);
    }
    for (uint32_t i = 0; i < role->recv_count; i++) {
        role->recvs[i].peer = iwi_rank_at(&s->map, role->recvs[i].peer, seat);
    }
}

static bool is_inside(const struct switched *s, uint64_t index)
{
    return s->has_inside && (index == 0 || index > s->across_rounds);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct switched s;

    set_up(op, &s);
    iwi_round_all(round, op->ranks);
    round->fan = is_inside(&s, index) ? iwi_largest_node(&s.map) - 1 : 4;
    if (!is_inside(&s, index) && s.map.table == NULL &&
        (s.map.is_dealt || s.parts == 1)) { /* who has a part is easily said */
        round->range_count = 0;
        iwi_round_add(round, 0, s.map.count * s.parts, s.map.is_dealt ? 1 : s.map.seats);
    }
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    struct switched s;

    set_up(op, &s);
    iwi_role_clear(role);
    if (is_inside(&s, index)) {
        inside_role(op, &s, index == 0, rank, role);
    } else {
        across_role(op, &s, index - s.has_inside, rank, role);
    }
}

const struct iwi_algorithm iwi_allreduce_nvls = {
    .kind = IWI_ALLREDUCE,
    .name = "nvls",
    .summary = "a switch reduces inside nodes; trees over nodes for each part",
    .uses_nodes = true,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
