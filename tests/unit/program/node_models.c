/* Which items each message of a collective that uses nodes carries.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "unit/program/node_models.h"

uint32_t iwt_node_count(const struct iwi_operation *op)
{
    return (op->ranks + op->nodes.ranks - 1) / op->nodes.ranks;
}

uint32_t iwt_node_of(const struct iwi_operation *op, uint32_t rank)
{
    return op->nodes.placement == IW_PLACEMENT_BLOCK ? rank / op->nodes.ranks : rank % iwt_node_count(op);
}

uint32_t iwt_seat_of(const struct iwi_operation *op, uint32_t rank)
{
    uint32_t seat = 0;

    for (uint32_t r = 0; r < rank; r++) {
        seat += iwt_node_of(op, r) == iwt_node_of(op, rank);
    }
    return seat;
}

uint32_t iwt_node_size(const struct iwi_operation *op, uint32_t node)
{
    uint32_t size = 0;

    for (uint32_t r = 0; r < op->ranks; r++) {
        size += iwt_node_of(op, r) == node;
    }
    return size;
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
    const uint32_t size = iwt_node_size(op, 0);
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
