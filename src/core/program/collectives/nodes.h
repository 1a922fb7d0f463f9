/* Which ranks share a node, by number: what algorithms that use nodes ask for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes are numbered from 0, and so are the seats of each node, which its ranks have. Block: ranks 0, 1, 2,
 * ... fill one node after the other; only the last may have free seats. Round robin: rank r is on node r mod
 * N; the nodes differ by at most a rank (docs/explanation/semantics.md, rule 11). List: nodes may have any
 * number of ranks, and these any numbers; a table says which.
 */
#ifndef IWI_NODES_H
#define IWI_NODES_H

#include "core/program/collectives/rounds.h"
#include "core/program/node_table.h"

struct iwi_node_map {
    uint32_t ranks, seats, count;       /* of all nodes, of a full node, nodes */
    bool is_dealt;                      /* round robin */
    const struct iwi_node_table *table; /* list; else NULL */
};

static inline struct iwi_node_map iwi_node_map_make(const struct iwi_operation *op, uint32_t ranks)
{
    const uint32_t seats = op->nodes.ranks < ranks ? op->nodes.ranks : ranks;

    return (struct iwi_node_map){ranks, seats, op->table != NULL ? op->table->count : (ranks - 1) / seats + 1,
                                 op->nodes.placement == IW_PLACEMENT_ROUND_ROBIN, op->table};
}

/* op->nodes is known. */
static inline struct iwi_node_map iwi_node_map_of(const struct iwi_operation *op)
{
    return iwi_node_map_make(op, op->ranks);
}

/* The same for an operation over the leaders. */
static inline struct iwi_node_map iwi_placed_map(const struct iwi_operation *op)
{
    return iwi_node_map_make(op, op->placed_ranks);
}

static inline uint32_t iwi_node_of(const struct iwi_node_map *map, uint32_t rank)
{
    if (map->table != NULL) {
        return map->table->node_of[rank];
    }
    return map->is_dealt ? rank % map->count : rank / map->seats;
}

static inline uint32_t iwi_seat_of(const struct iwi_node_map *map, uint32_t rank)
{
    if (map->table != NULL) {
        return map->table->seat_of[rank];
    }
    return map->is_dealt ? rank / map->count : rank % map->seats;
}

static inline uint32_t iwi_rank_at(const struct iwi_node_map *map, uint32_t node, uint32_t seat)
{
    if (map->table != NULL) {
        return map->table->members[map->table->before[node] + seat];
    }
    return map->is_dealt ? seat * map->count + node : node * map->seats + seat;
}

/* Ranks of the nodes before that one; `node` may be their number. */
static inline uint32_t iwi_ranks_before(const struct iwi_node_map *map, uint32_t node)
{
    const uint32_t larger = map->ranks % map->count;

    if (map->table != NULL) {
        return map->table->before[node];
    }
    if (map->is_dealt) {
        return map->ranks / map->count * node + (node < larger ? node : larger);
    }
    return node < map->count ? node * map->seats : map->ranks;
}

/* No node is empty; that static analysis cannot see it is what the maximum is for. */
static inline uint32_t iwi_node_size(const struct iwi_node_map *map, uint32_t node)
{
    const uint32_t size = iwi_ranks_before(map, node + 1) - iwi_ranks_before(map, node);

    return size > 1 ? size : 1;
}

/* Of the largest: with round robin no node needs to be full. */
static inline uint32_t iwi_largest_node(const struct iwi_node_map *map)
{
    return map->table != NULL ? map->table->largest : iwi_node_size(map, 0);
}

static inline uint32_t iwi_smallest_node(const struct iwi_node_map *map)
{
    return map->table != NULL ? map->table->smallest : iwi_node_size(map, map->count - 1);
}

#endif
