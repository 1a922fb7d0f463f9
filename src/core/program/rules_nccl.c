/* The rules of NCCL: everything goes around a ring, cut into chunks; or, where nodes are known, what its
 * model of time takes for an allreduce.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Barrier, gather, scatter, scan are not in NCCL; they take what MPICH does with them.
 */
#include "core/program/collectives/nodes.h"
#include "core/program/rules.h"

#define CHUNK_BYTES (UINT64_C(512) << 10) /* of the protocol for long messages */

static const struct iwi_rule rules[] = {
    {.algorithm = &iwi_barrier_dissemination},
    {.algorithm = &iwi_bcast_chain, .segment_bytes = CHUNK_BYTES},
    {.algorithm = &iwi_reduce_chain, .segment_bytes = CHUNK_BYTES},
    {.algorithm = &iwi_allreduce_ring},
    {.algorithm = &iwi_gather_linear},
    {.algorithm = &iwi_scatter_linear},
    {.algorithm = &iwi_allgather_ring},
    {.algorithm = &iwi_alltoall_linear},
    {.algorithm = &iwi_reduce_scatter_ring},
    {.algorithm = &iwi_scan_recursive_doubling},
    {.algorithm = &iwi_exscan_recursive_doubling},
};

const struct iwi_rule_set iwi_rules_nccl_ring = {
    .name = "nccl-ring",
    .summary = "rings at every size, as NCCL where it does not take trees",
    .rules = rules,
    .count = sizeof rules / sizeof rules[0],
};

/* ---- the model (src/graph/tuning.cc of NCCL 2.2x, without its corrections of medium sizes) ---- */

/* For Hopper with one NIC of 400 Gbit/s for each accelerator: times in microseconds, bandwidths in GB/s. */
struct way {
    struct iwi_rule rule;
    double base_us, inside_us, between_us; /* to start; of a step inside a node, and between nodes */
    double per_rank, most;                 /* bandwidth: of each accelerator of a node, and of a node */
};

enum { WAYS = 7 };

/* Protocols for short, middle and long messages, where there are several. */
static const struct way ways[WAYS] = {
    {{.algorithm = &iwi_allreduce_node_rings}, 6.6, 1.0, 2.7, 25.0, 20.4},
    {{.algorithm = &iwi_allreduce_node_rings}, 14.0, 1.9, 4.0, 36.7, 1e9},
    {{.algorithm = &iwi_allreduce_node_rings}, 8.4, 3.4, 14.0, 50.0, 1e9},
    {{.algorithm = &iwi_allreduce_node_double_tree, .segment_bytes = CHUNK_BYTES}, 6.8, 0.6, 5.0, 9.5, 20.4},
    {{.algorithm = &iwi_allreduce_node_double_tree, .segment_bytes = CHUNK_BYTES}, 14.0, 1.25, 8.5, 29, 1e9},
    {{.algorithm = &iwi_allreduce_node_double_tree, .segment_bytes = CHUNK_BYTES}, 8.4, 4.0, 14.0, 36, 1e9},
    {{.algorithm = &iwi_allreduce_nvls, .segment_bytes = CHUNK_BYTES}, 0.0, 25.0, 20.9, 45.5, 1e9},
};

static double latency_us(const struct way *way, const struct iwi_node_map *map)
{
    const double ranks = map->ranks, nodes = map->count, seats = iwi_largest_node(map);
    uint32_t depth = 0;

    while (map->count >> (depth + 1) > 0) {
        depth++;
    }
    if (way->rule.algorithm == &iwi_allreduce_node_rings) {
        return way->base_us + 2 * (ranks - nodes) * way->inside_us + 2 * (nodes - 1) * way->between_us;
    }
    if (way->rule.algorithm == &iwi_allreduce_node_double_tree) {
        return way->base_us + 2 * ((seats - 1) * way->inside_us + depth * way->between_us);
    }
    return way->base_us + way->inside_us + 2 * depth * way->between_us;
}

/* Trees send everything up and down; the others leave out what a rank has itself. */
static double time_us(const struct way *way, const struct iwi_node_map *map, uint64_t bytes)
{
    const double all = way->per_rank * iwi_largest_node(map), bandwidth = all < way->most ? all : way->most;
    const bool is_tree = way->rule.algorithm == &iwi_allreduce_node_double_tree;
    const double share = is_tree ? 2.0 : 2.0 * (map->ranks - 1) / map->ranks;

    return latency_us(way, map) + share * (double)bytes / (1000 * bandwidth);
}

static const struct iwi_rule *quickest(enum iwi_op_kind kind, const struct iwi_operation *op)
{
    const struct iwi_node_map map = iwi_node_map_of(op);
    const struct way *best = &ways[0];

    for (size_t i = 1; i < WAYS; i++) {
        best = time_us(&ways[i], &map, op->bytes) < time_us(best, &map, op->bytes) ? &ways[i] : best;
    }
    return kind == IWI_ALLREDUCE ? &best->rule : NULL;
}

const struct iwi_rule_set iwi_rules_nccl = {
    .name = "nccl",
    .summary = "rings, trees or NVLS, as NCCL's model of time says where nodes are known; else rings",
    .rules = rules,
    .count = sizeof rules / sizeof rules[0],
    .choose_on_nodes = quickest,
};
