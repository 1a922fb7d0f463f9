/* Allreduce around one ring for each rank of a node, as NCCL has one for each network card: a ring goes
 * through all ranks of a node before it leaves for the next one, and ring c enters and leaves every node at
 * another rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Ring c, of as many as a full node has ranks, passes the seats c, c + 1, ... of a node (modulo its size). It
 * carries a part of the data as allreduce:ring does. What several rings bring from a rank to another
 * is one message.
 */
#include "core/program/collectives/node_rings.h"

#include "core/program/collectives/nodes.h"

struct rings {
    struct iwi_node_map map;
    uint32_t count;
    uint64_t bytes;
    bool is_first_half; /* reduce-scatter */
    uint32_t step;
};

static struct rings rings_at(const struct iwi_operation *op, uint64_t index)
{
    struct rings rings = {.map = iwi_node_map_of(op), .bytes = op->bytes};
    const uint32_t half = op->ranks - 1;

    rings.count = iwi_largest_node(&rings.map);
    rings.is_first_half = index < half;
    rings.step = (uint32_t)(rings.is_first_half ? index : index - half);
    return rings;
}

static uint64_t round_count(const struct iwi_operation *op)
{
    return UINT64_C(2) * (op->ranks - 1);
}

/* Rings that leave a node at the same rank and enter the next at the same rank are so far apart. */
static uint32_t rings_apart(uint32_t size, uint32_t next_size)
{
    uint32_t a = size, b = next_size;

    while (b != 0) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return size / a * next_size;
}

/* Messages that the ranks of a node send in one round: each one to the next rank inside, and what rings that
 * take the same way have for the next node. */
static uint64_t node_messages(const struct rings *rings, uint32_t node)
{
    const struct iwi_node_map *map = &rings->map;
    const uint32_t size = iwi_node_size(map, node);
    const uint32_t apart = rings_apart(size, iwi_node_size(map, iwi_rank_of_virtual(map->count, 1, node)));
    const uint32_t between = apart < rings->count ? apart : rings->count;

    return (size > 1 ? size : 0) + (map->count > 1 ? between : 0);
}

/* Full nodes, those with a rank less, and the last one, whose next is the first; or one by one. */
static uint64_t message_count(const struct iwi_operation *op)
{
    const struct rings rings = rings_at(op, 0);
    const uint32_t nodes = rings.map.count, full = rings.map.is_dealt ? op->ranks % nodes : nodes - 1;
    uint64_t messages = 0;

    for (uint32_t node = 0; rings.map.table != NULL && node < nodes; node++) {
        messages += node_messages(&rings, node);
    }
    if (rings.map.table != NULL) {
        return round_count(op) * messages;
    }
    return round_count(op) *
           (full * node_messages(&rings, 0) + (nodes - 1 - full) * node_messages(&rings, full) +
            node_messages(&rings, nodes - 1));
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct rings rings = rings_at(op, index);

    iwi_round_all(round, op->ranks);
    round->fan = rings.count + 1;
}

/* Where ring c has the rank of that seat, and which block it passes on in this round. */
static uint64_t sent_bytes(const struct rings *rings, uint32_t node, uint32_t seat, uint32_t ring)
{
    const uint32_t ranks = rings->map.ranks, size = iwi_node_size(&rings->map, node);
    const uint32_t at = iwi_ranks_before(&rings->map, node) + iwi_virtual_of_rank(size, ring % size, seat);
    const uint32_t newest = rings->is_first_half ? at : iwi_rank_of_virtual(ranks, 1, at);
    const uint64_t part = iwi_block_bytes(rings->bytes, rings->count, ring);

    return iwi_block_bytes(part, ranks, iwi_virtual_of_rank(ranks, rings->step, newest));
}

/* How many numbers of first, first + 1, ... first + count - 1, taken modulo `ranks`, are below `limit`. */
static uint64_t below(uint64_t first, uint64_t count, uint64_t ranks, uint64_t limit)
{
    const uint64_t whole = count / ranks * limit, begin = first % ranks, end = begin + count % ranks;
    const uint64_t wrapped = end > ranks ? end - ranks : 0, top = end < limit ? end : limit;

    return whole + (top > begin ? top - begin : 0) + (wrapped < limit ? wrapped : limit);
}

/* Bytes that rings first ... end - 1, all with parts of one size, bring on from that seat. Ring c has the
 * place (seat - c) modulo the size of the node there, so the blocks of rings that follow each other do, too:
 * downwards, and again from the last place of the node on behind the first. */
static uint64_t rings_bytes(const struct rings *rings, uint32_t node, uint32_t seat, uint32_t first,
                            uint32_t end)
{
    const uint32_t ranks = rings->map.ranks, size = iwi_node_size(&rings->map, node);
    const uint64_t part = iwi_block_bytes(rings->bytes, rings->count, first);
    const uint64_t before = (uint64_t)iwi_ranks_before(&rings->map, node) + (rings->is_first_half ? 0 : 1) +
                            (ranks - rings->step);
    uint64_t bytes = (end - first) * (part / ranks);

    for (uint32_t ring = first, count; ring < end; ring += count) {
        const uint32_t place = iwi_virtual_of_rank(size, ring % size, seat);

        count = place + 1 < end - ring ? place + 1 : end - ring;
        bytes += below(before + place + 1 - count, count, ranks, part % ranks);
    }
    return bytes;
}

/* Bytes of all rings that stay in the node, from that seat to the next. */
static uint64_t inside_bytes(const struct rings *rings, uint32_t node, uint32_t seat)
{
    const uint32_t size = iwi_node_size(&rings->map, node), larger = (uint32_t)(rings->bytes % rings->count);
    uint64_t bytes = larger > 0 ? rings_bytes(rings, node, seat, 0, larger) : 0;

    bytes += rings_bytes(rings, node, seat, larger, rings->count);
    for (uint32_t ring = (seat + 1) % size; rings->map.count > 1 && ring < rings->count; ring += size) {
        bytes -= sent_bytes(rings, node, seat, ring); /* it leaves the node here */
    }
    return bytes;
}

static void inside_role(const struct rings *rings, uint32_t node, uint32_t seat, struct iwi_role *role)
{
    const uint32_t size = iwi_node_size(&rings->map, node);

    if (size > 1) {
        const uint32_t after = iwi_rank_of_virtual(size, 1, seat),
                       before = iwi_virtual_of_rank(size, 1, seat);

        iwi_role_send(role, iwi_rank_at(&rings->map, node, after), inside_bytes(rings, node, seat));
        iwi_role_recv(role, iwi_rank_at(&rings->map, node, before), 0, inside_bytes(rings, node, before));
    }
}

/* Bytes that ring `first` and all that are a multiple of `apart` after it bring on from that seat. */
static uint64_t joined_bytes(const struct rings *rings, uint32_t node, uint32_t seat, uint32_t first,
                             uint32_t apart)
{
    uint64_t bytes = 0;

    for (uint32_t ring = first; ring < rings->count; ring += apart) {
        bytes += sent_bytes(rings, node, seat, ring);
    }
    return bytes;
}

/* Rings c = seat + 1, seat + 1 + size, ... leave here, to seat c of the next node; those with c = seat enter.
 */
static void between_role(const struct rings *rings, uint32_t node, uint32_t seat, struct iwi_role *role)
{
    const struct iwi_node_map *map = &rings->map;
    const uint32_t next = iwi_rank_of_virtual(map->count, 1, node);
    const uint32_t previous = iwi_virtual_of_rank(map->count, 1, node);
    const uint32_t size = iwi_node_size(map, node), next_size = iwi_node_size(map, next);
    const uint32_t previous_size = iwi_node_size(map, previous);
    const uint32_t out = rings_apart(size, next_size), in = rings_apart(previous_size, size);

    for (uint32_t ring = (seat + 1) % size; ring < rings->count && ring < out; ring += size) {
        iwi_role_send(role, iwi_rank_at(map, next, ring % next_size),
                      joined_bytes(rings, node, seat, ring, out));
    }
    for (uint32_t ring = seat; ring < rings->count && ring < in; ring += size) {
        const uint32_t last = iwi_virtual_of_rank(previous_size, 1, ring % previous_size);

        iwi_role_recv(role, iwi_rank_at(map, previous, last), ring / previous_size + (previous_size > 1),
                      joined_bytes(rings, previous, last, ring, in));
    }
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct rings rings = rings_at(op, index);
    const uint32_t node = iwi_node_of(&rings.map, rank), seat = iwi_seat_of(&rings.map, rank);

    iwi_role_clear(role);
    inside_role(&rings, node, seat, role);
    if (rings.map.count > 1) {
        between_role(&rings, node, seat, role);
    }
    for (uint32_t i = 0; i < role->recv_count && rings.is_first_half; i++) {
        role->reduce_bytes += role->recvs[i].bytes;
    }
}

bool iwi_node_rings_are_even(const struct iwi_operation *op)
{
    const struct iwi_node_map map = iwi_node_map_of(op);

    return map.count > 1 && iwi_smallest_node(&map) == iwi_largest_node(&map) && iwi_largest_node(&map) > 1;
}

/* The node that passes on the block before that one now. */
static uint32_t node_before_block(const struct rings *rings, uint64_t block)
{
    const uint64_t ranks = rings->map.ranks, behind = rings->is_first_half ? 0 : ranks - 1;

    assert(ranks > 0);
    return (uint32_t)((block % ranks + ranks - 1 + rings->step + behind) % ranks / rings->count);
}

/* The block that a place of a ring passes on is the one before that of the round before. Its size is another
 * one where it is the last of the larger blocks, or the last of all. Both a node and the next one see it. */
uint32_t iwi_node_rings_changed(const struct iwi_operation *op, uint64_t index,
                                uint32_t nodes[IWI_NODE_RINGS_CHANGED])
{
    const struct rings rings = rings_at(op, index);
    const uint64_t part = rings.bytes / rings.count; /* some are a byte larger */
    const uint64_t blocks[] = {0, part, part + 1}, pieces = (uint64_t)rings.count * op->ranks;
    uint32_t changed = 0;

    assert(pieces > 0);
    if (rings.step == 0) {
        return IWI_NODE_RINGS_CHANGED + 1;
    }
    for (size_t k = 0; k < 3 && rings.bytes % pieces != 0; k++) {
        const uint32_t node = node_before_block(&rings, blocks[k]);

        if (changed == 0 || nodes[changed - 2] != node) {
            nodes[changed++] = node;
            nodes[changed++] = node + 1 < rings.map.count ? node + 1 : 0;
        }
    }
    return changed;
}

const struct iwi_algorithm iwi_allreduce_node_rings = {
    .kind = IWI_ALLREDUCE,
    .name = "node-rings",
    .summary = "a ring per rank of a node, each crossing nodes at another rank",
    .uses_nodes = true,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
};
