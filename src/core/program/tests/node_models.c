/* Which items each message of a collective that uses nodes carries.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "node_models.h"

#include "core/program/node_table.h"

uint32_t iwt_node_count(const struct iwi_operation *op)
{
    uint32_t count = 0;

    if (op->table == NULL) {
        return (op->ranks + op->nodes.ranks - 1) / op->nodes.ranks;
    }
    for (uint32_t rank = 0; rank < op->ranks; rank++) { /* numbered by their first ranks */
        count += op->table->node_of[rank] == count;
    }
    return count;
}

uint32_t iwt_node_of(const struct iwi_operation *op, uint32_t rank)
{
    if (op->table != NULL) {
        return op->table->node_of[rank];
    }
    return op->nodes.placement == IW_PLACEMENT_BLOCK ? rank / op->nodes.ranks : rank % iwt_node_count(op);
}

/* Ranks of a node among those before `end`. */
static uint32_t count_on_node(const struct iwi_operation *op, uint32_t node, uint32_t end)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < end; rank++) {
        count += op->table->node_of[rank] == node;
    }
    return count;
}

uint32_t iwt_seat_of(const struct iwi_operation *op, uint32_t rank)
{
    if (op->table != NULL) {
        return count_on_node(op, op->table->node_of[rank], rank);
    }
    return op->nodes.placement == IW_PLACEMENT_BLOCK ? rank % op->nodes.ranks : rank / iwt_node_count(op);
}

uint32_t iwt_node_size(const struct iwi_operation *op, uint32_t node)
{
    const uint32_t left = op->ranks - node * op->nodes.ranks;

    if (op->table != NULL) {
        return count_on_node(op, node, op->ranks);
    }
    if (op->nodes.placement == IW_PLACEMENT_ROUND_ROBIN) {
        return (op->ranks - node + iwt_node_count(op) - 1) / iwt_node_count(op);
    }
    return left < op->nodes.ranks ? left : op->nodes.ranks;
}

static uint32_t largest_node(const struct iwi_operation *op)
{
    uint32_t largest = 0;

    for (uint32_t node = 0; node < iwt_node_count(op); node++) {
        largest = iwt_node_size(op, node) > largest ? iwt_node_size(op, node) : largest;
    }
    return largest;
}

uint32_t iwt_smallest_node(const struct iwi_operation *op)
{
    uint32_t smallest = op->ranks;

    for (uint32_t node = 0; node < iwt_node_count(op); node++) {
        smallest = iwt_node_size(op, node) < smallest ? iwt_node_size(op, node) : smallest;
    }
    return smallest;
}

/* ---- long data: inside a node all of it, among the leaders as among so many ranks ---- */

static struct iwi_operation leaders_of(const struct iwi_operation *op)
{
    struct iwi_operation leaders = *op;

    leaders.ranks = iwt_node_count(op);
    leaders.root = iwt_node_of(op, op->root);
    return leaders;
}

static uint32_t inside_rounds(const struct iwi_operation *op)
{
    const uint32_t size = largest_node(op);
    uint32_t rounds = 0;

    while (UINT32_C(1) << rounds < size) {
        rounds++;
    }
    return rounds;
}

static bool carries_among(iwt_carries *among, uint32_t first_round, const struct iwi_operation *op,
                          uint64_t round, uint32_t from, uint32_t to, uint32_t item)
{
    const struct iwi_operation leaders = leaders_of(op);

    if (iwt_node_of(op, from) == iwt_node_of(op, to)) {
        return true;
    }
    return among(&leaders, round - first_round, iwt_node_of(op, from), iwt_node_of(op, to), item, 0);
}

static bool long_allreduce(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                           uint32_t item, uint64_t bytes)
{
    (void)bytes;
    return carries_among(iwt_rabenseifner_allreduce, inside_rounds(op), op, round, from, to, item);
}

static bool long_reduce(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                        uint32_t item, uint64_t bytes)
{
    (void)bytes;
    return carries_among(iwt_rabenseifner_reduce, inside_rounds(op), op, round, from, to, item);
}

static bool long_bcast(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                       uint32_t item, uint64_t bytes)
{
    (void)bytes;
    return carries_among(iwt_scatter_allgather, 0, op, round, from, to, item);
}

static uint32_t item_per_node(const struct iwi_operation *op)
{
    return iwt_node_count(op);
}

static uint32_t item_per_core_node(const struct iwi_operation *op)
{
    uint32_t items = 1;

    while (2 * items <= iwt_node_count(op)) {
        items *= 2;
    }
    return items;
}

static uint64_t share_of_core(const struct iwi_operation *op, uint32_t item)
{
    const uint32_t items = item_per_core_node(op);

    return op->bytes / items + (item < op->bytes % items);
}

static uint64_t ceiling_share(const struct iwi_operation *op, uint32_t item)
{
    const struct iwi_operation leaders = leaders_of(op);
    const uint64_t size = (op->bytes + leaders.ranks - 1) / leaders.ranks;
    const uint64_t start = size * ((item + leaders.ranks - leaders.root) % leaders.ranks);

    return start >= op->bytes ? 0 : (op->bytes - start < size ? op->bytes - start : size);
}

const struct iwt_model iwt_long_models[] = {
    {.name = "bcast:two-level", .items = item_per_node, .carries = long_bcast, .item_bytes = ceiling_share},
    {.name = "reduce:two-level",
     .items = item_per_core_node,
     .carries = long_reduce,
     .item_bytes = share_of_core},
    {.name = "allreduce:two-level",
     .items = item_per_core_node,
     .carries = long_allreduce,
     .item_bytes = share_of_core},
    {.name = NULL},
};

/* ---- allgather and alltoall of two levels ---- */

static uint32_t ceil_log2_of(uint32_t n)
{
    uint32_t rounds = 0;

    while (UINT32_C(1) << rounds < n) {
        rounds++;
    }
    return rounds;
}

/* The rank is in the tree below `top`, a child at distance `mask` from its parent. */
static bool is_below_seat(const struct iwi_operation *op, uint32_t top, uint32_t mask, uint32_t rank)
{
    const uint32_t first = iwt_seat_of(op, top), seat = iwt_seat_of(op, rank);

    return iwt_node_of(op, top) == iwt_node_of(op, rank) && seat >= first && seat < first + mask;
}

bool iwt_two_level_allgather(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                             uint32_t item, uint64_t bytes)
{
    const uint32_t nodes = iwt_node_count(op), inside = inside_rounds(op);
    const uint32_t ahead = (iwt_node_of(op, item) + nodes - iwt_node_of(op, from)) % nodes;
    const uint32_t step = (uint32_t)round - inside;

    (void)bytes;
    if (round < inside) {
        return is_below_seat(op, from, UINT32_C(1) << round, item);
    }
    if (iwt_node_of(op, from) == iwt_node_of(op, to)) {
        return true;
    }
    if (op->bytes * op->ranks >= 81920) {
        return ahead == (nodes - step % nodes) % nodes;
    }
    return ahead < UINT32_C(1) << step && ahead < nodes - (UINT32_C(1) << step);
}

bool iwt_two_level_alltoall(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                            uint32_t item, uint64_t bytes)
{
    const uint32_t source = item / op->ranks, target = item % op->ranks, inside = inside_rounds(op);
    const uint64_t down = inside + iwt_node_count(op) - 1;

    (void)bytes;
    if (round < inside) {
        return is_below_seat(op, from, UINT32_C(1) << round, source);
    }
    if (round < down) {
        return iwt_node_of(op, source) == iwt_node_of(op, from) &&
               iwt_node_of(op, target) == iwt_node_of(op, to);
    }
    return is_below_seat(op, to, UINT32_C(1) << (inside - 1 - (round - down)), target);
}

/* ---- rings, trees and switches ---- */

static uint32_t ring_count(const struct iwi_operation *op)
{
    return largest_node(op);
}

uint32_t iwt_item_per_ring_block(const struct iwi_operation *op)
{
    return ring_count(op) * op->ranks;
}

uint64_t iwt_ring_block_bytes(const struct iwi_operation *op, uint32_t item)
{
    const uint32_t rings = ring_count(op), ring = item / op->ranks, block = item % op->ranks;
    const uint64_t part = op->bytes / rings + (ring < op->bytes % rings);

    return part / op->ranks + (block < part % op->ranks);
}

/* The rank at that place of the ring, by walking along it. */
static uint32_t rank_on_ring(const struct iwi_operation *op, uint32_t ring, uint32_t place)
{
    uint32_t node = 0;

    while (place >= iwt_node_size(op, node)) {
        place -= iwt_node_size(op, node++);
    }
    place = (ring + place) % iwt_node_size(op, node);
    for (uint32_t rank = 0; op->table != NULL && rank < op->ranks; rank++) {
        if (iwt_node_of(op, rank) == node && iwt_seat_of(op, rank) == place) {
            return rank;
        }
    }
    return op->nodes.placement == IW_PLACEMENT_BLOCK ? node * op->nodes.ranks + place
                                                     : place * iwt_node_count(op) + node;
}

bool iwt_node_rings(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to, uint32_t item,
                    uint64_t bytes)
{
    const uint32_t ranks = op->ranks, ring = item / ranks, half = ranks - 1;
    const uint32_t step = (uint32_t)(round < half ? round : round - half);
    /* whose turn it is to pass the block on */
    const uint32_t place = (uint32_t)((item % ranks + step + (round < half ? 0 : ranks - 1)) % ranks);

    (void)bytes;
    return rank_on_ring(op, ring, place) == from && rank_on_ring(op, ring, (place + 1) % ranks) == to;
}

/* Without segments all goes up before anything comes down. */
bool iwt_node_tree_is_up(const struct iwi_operation *op, uint64_t round)
{
    return round < largest_node(op) - 1 + ceil_log2_of(iwt_node_count(op));
}

static uint32_t part_count(const struct iwi_operation *op)
{
    return iwt_smallest_node(op);
}

/* Both halves of every part. */
uint32_t iwt_item_per_part_half(const struct iwi_operation *op)
{
    return 2 * part_count(op);
}

uint64_t iwt_part_half_bytes(const struct iwi_operation *op, uint32_t item)
{
    const uint32_t parts = part_count(op), part = item / 2;
    const uint64_t bytes = op->bytes / parts + (part < op->bytes % parts);

    return item % 2 == 0 ? bytes - bytes / 2 : bytes / 2;
}

bool iwt_nvls(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to, uint32_t item,
              uint64_t bytes)
{
    if (iwt_node_of(op, from) != iwt_node_of(op, to)) {
        return item / 2 == iwt_seat_of(op, from) && bytes == iwt_part_half_bytes(op, item);
    }
    return item / 2 == iwt_seat_of(op, round == 0 ? to : from);
}

bool iwt_nvls_is_up(const struct iwi_operation *op, uint64_t round)
{
    const uint32_t inside = largest_node(op) > 1;

    return round < inside + 2 * (uint64_t)ceil_log2_of(iwt_node_count(op));
}
