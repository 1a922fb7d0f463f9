/* Which algorithm a library takes: rules of the papers, MPICH, NCCL and Open MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/program.h>

#include "core/base/base.h"
#include "core/program/collectives/list.h"
#include "core/program/collectives/nodes.h"
#include "core/program/rules.h"

/* The rules of the noise papers: dissemination where all wait for all, binomial trees elsewhere.
 *
 * Hoefler, Schneider, Lumsdaine (SC'10, section IV-B). What the paper does not name takes what its tool chain
 * would: messages of all ranks at once, or the logarithmic algorithm.
 */

static const struct iwi_rule rules_paper_rules[] = {
    {.algorithm = &iwi_barrier_dissemination},
    {.algorithm = &iwi_bcast_binomial},
    {.algorithm = &iwi_reduce_binomial},
    {.algorithm = &iwi_allreduce_dissemination},
    {.algorithm = &iwi_gather_binomial},
    {.algorithm = &iwi_scatter_binomial},
    {.algorithm = &iwi_allgather_bruck},
    {.algorithm = &iwi_alltoall_bruck},
    {.algorithm = &iwi_reduce_scatter_recursive_halving},
    {.algorithm = &iwi_scan_recursive_doubling},
    {.algorithm = &iwi_exscan_recursive_doubling},
};

const struct iwi_rule_set iwi_rules_paper = {
    .name = "paper",
    .summary = "dissemination and binomial trees at every size, as in the noise papers",
    .rules = rules_paper_rules,
    .count = sizeof rules_paper_rules / sizeof rules_paper_rules[0],
};

/* The rules of MPICH 4: by size, and by whether the number of ranks is a power of two.
 *
 * MPICH compares the number of elements with the number of ranks before it takes Rabenseifner's algorithm;
 * here elements are bytes.
 */

#define KIB UINT64_C(1024)

static const struct iwi_rule rules_mpich_rules[] = {
    {.algorithm = &iwi_barrier_dissemination},
    {.algorithm = &iwi_bcast_binomial},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 8},
    {.algorithm = &iwi_bcast_scatter_allgather, .from_ranks = 8, .from_bytes = 12 * KIB + 1},
    {.algorithm = &iwi_reduce_binomial},
    {.algorithm = &iwi_reduce_rabenseifner, .from_bytes = 2 * KIB + 1},
    {.algorithm = &iwi_allreduce_recursive_doubling},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_bytes = 2 * KIB + 1},
    {.algorithm = &iwi_gather_binomial},
    {.algorithm = &iwi_scatter_binomial},
    {.algorithm = &iwi_allgather_recursive_doubling, .ranks_are = IWI_RANKS_POWER_OF_TWO},
    {.algorithm = &iwi_allgather_ring, .from_bytes = 512 * KIB, .ranks_are = IWI_RANKS_POWER_OF_TWO},
    {.algorithm = &iwi_allgather_bruck, .ranks_are = IWI_RANKS_NO_POWER_OF_TWO},
    {.algorithm = &iwi_allgather_ring, .from_bytes = 80 * KIB, .ranks_are = IWI_RANKS_NO_POWER_OF_TWO},
    {.algorithm = &iwi_alltoall_linear},
    {.algorithm = &iwi_alltoall_pairwise, .from_bytes = 32 * KIB + 1},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 8},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 8, .from_bytes = 257},
    {.algorithm = &iwi_alltoall_pairwise, .from_ranks = 8, .from_bytes = 32 * KIB + 1},
    {.algorithm = &iwi_reduce_scatter_recursive_halving},
    {.algorithm = &iwi_reduce_scatter_pairwise, .from_bytes = 512 * KIB},
    {.algorithm = &iwi_scan_recursive_doubling},
    {.algorithm = &iwi_exscan_recursive_doubling},
};

/* Long broadcasts are not node-aware, and middle ones only for powers of two. */
static const struct iwi_rule node_rules[] = {
    {.algorithm = &iwi_barrier_two_level},
    {.algorithm = &iwi_bcast_two_level},
    {.algorithm = &iwi_bcast_two_level, .from_ranks = 8, .ranks_are = IWI_RANKS_POWER_OF_TWO},
    {.algorithm = &iwi_bcast_two_level, .from_ranks = 8, .ranks_are = IWI_RANKS_NO_POWER_OF_TWO},
    {.algorithm = &iwi_bcast_two_level,
     .from_ranks = 8,
     .from_bytes = 512 * KIB,
     .ranks_are = IWI_RANKS_POWER_OF_TWO,
     .is_open = true},
    {.algorithm = &iwi_bcast_two_level,
     .from_ranks = 8,
     .from_bytes = 12 * KIB,
     .ranks_are = IWI_RANKS_NO_POWER_OF_TWO,
     .is_open = true},
    {.algorithm = &iwi_reduce_two_level},
    {.algorithm = &iwi_allreduce_two_level},
};

const struct iwi_rule_set iwi_rules_mpich = {
    .name = "mpich",
    .summary = "MPICH 4; two levels where nodes are known",
    .rules = rules_mpich_rules,
    .count = sizeof rules_mpich_rules / sizeof rules_mpich_rules[0],
    .node_rules = node_rules,
    .node_count = sizeof node_rules / sizeof node_rules[0],
    .total_kinds = 1U << IWI_ALLGATHER | 1U << IWI_REDUCE_SCATTER,
};

/* The rules of NCCL: everything goes around a ring, cut into chunks; or, where nodes are known, what its
 * model of time takes for an allreduce.
 *
 * Barrier, gather, scatter, scan are not in NCCL; they take what MPICH does with them.
 */

#define CHUNK_BYTES (UINT64_C(512) << 10) /* of the protocol for long messages */

static const struct iwi_rule rules_nccl_rules[] = {
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
    .summary = "rings at every size, as NCCL where it does not use trees",
    .rules = rules_nccl_rules,
    .count = sizeof rules_nccl_rules / sizeof rules_nccl_rules[0],
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
    .summary = "rings, trees or NVLS by NCCL's time model where nodes are known; otherwise rings",
    .rules = rules_nccl_rules,
    .count = sizeof rules_nccl_rules / sizeof rules_nccl_rules[0],
    .choose_on_nodes = quickest,
};

/* The rules of Open MPI 4.1 (its "tuned" component) and 5 (also "han"), and its numbers of collectives and
 * algorithms.
 *
 * The fixed decisions of 4.1.4 for operations that commute. Where idlewave lacks an algorithm the nearest
 * stands for it (docs/reference/collectives.md lists which), so neighbouring bands that differ in nothing
 * else are one here. Its ring of an allreduce is recursive doubling where there are fewer elements than
 * ranks: of elements of 4 bytes and more that is so in all bands of short messages in which it asks for a
 * ring, so these bands are recursive doubling here.
 */

#define KIB UINT64_C(1024)

static const struct iwi_rule rules_ompi_rules[] = {
    {.algorithm = &iwi_barrier_recursive_doubling},
    {.algorithm = &iwi_barrier_linear, .from_ranks = 4},
    {.algorithm = &iwi_barrier_recursive_doubling, .from_ranks = 8},
    {.algorithm = &iwi_barrier_dissemination, .from_ranks = 64},
    {.algorithm = &iwi_barrier_tree, .from_ranks = 256},
    {.algorithm = &iwi_barrier_dissemination, .from_ranks = 512},
    {.algorithm = &iwi_barrier_tree, .from_ranks = 1024},
    {.algorithm = &iwi_barrier_dissemination, .from_ranks = 4096},
    {.algorithm = &iwi_bcast_chain},
    {.algorithm = &iwi_bcast_binary, .from_bytes = 32},
    {.algorithm = &iwi_bcast_chain, .from_bytes = 256},
    {.algorithm = &iwi_bcast_binomial, .from_bytes = 512},
    {.algorithm = &iwi_bcast_linear, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_bcast_binary, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_bcast_chain, .from_bytes = 128 * KIB},
    {.algorithm = &iwi_bcast_linear, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_bytes = 512 * KIB},
    {.algorithm = &iwi_bcast_binary, .from_bytes = 1024 * KIB},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 4},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 4, .from_bytes = 64},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 4, .from_bytes = 128},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 4, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_bcast_linear, .from_ranks = 4, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_bcast_chain, .from_ranks = 4, .from_bytes = 1024 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 8},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 8, .from_bytes = 8},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 8, .from_bytes = 64},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 8, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 8, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_bcast_linear, .from_ranks = 8, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 16},
    {.algorithm = &iwi_bcast_scatter_allgather, .from_ranks = 16, .from_bytes = 1024 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 32},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 128},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 128, .from_bytes = 2},
    {.algorithm = &iwi_bcast_linear, .from_ranks = 128, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 128, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 128, .from_bytes = 64 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 256},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 256, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 256, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 1024},
    {.algorithm = &iwi_bcast_scatter_allgather, .from_ranks = 1024, .from_bytes = 512 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 2048},
    {.algorithm = &iwi_bcast_scatter_allgather, .from_ranks = 2048, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 4096},
    {.algorithm = &iwi_bcast_binary, .from_ranks = 4096, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_bcast_binomial, .from_ranks = 4096, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_bcast_scatter_allgather, .from_ranks = 4096, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_reduce_rabenseifner},
    {.algorithm = &iwi_reduce_binary, .from_bytes = 8},
    {.algorithm = &iwi_reduce_chain, .from_bytes = 16},
    {.algorithm = &iwi_reduce_linear, .from_bytes = 32},
    {.algorithm = &iwi_reduce_chain, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 4},
    {.algorithm = &iwi_reduce_chain, .from_ranks = 4, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 4, .from_bytes = 64 * KIB},
    {.algorithm = &iwi_reduce_linear, .from_ranks = 4, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 4, .from_bytes = 512 * KIB},
    {.algorithm = &iwi_reduce_linear, .from_ranks = 4, .from_bytes = 1024 * KIB},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 8},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 8, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 16},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 16, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 32},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 256},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 256, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 256, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 512},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 2048},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 2048, .from_bytes = 512},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 2048, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 2048, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 2048, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 4096},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 4096, .from_bytes = 16},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 4096, .from_bytes = 32},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 4096, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 4096, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_reduce_binary, .from_ranks = 4096, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_reduce_binomial, .from_ranks = 4096, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_allreduce_recursive_doubling},
    {.algorithm = &iwi_allreduce_ring, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_allreduce_ring, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 4},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 4, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 8},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 8, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 16},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 16, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 32},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 32, .from_bytes = 128},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 64},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 64, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_allreduce_reduce_bcast, .from_ranks = 128},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 128, .from_bytes = 128 * KIB},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 128, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_allreduce_reduce_bcast, .from_ranks = 256},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 256, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_allreduce_reduce_bcast, .from_ranks = 512},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 512, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 512, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_allreduce_reduce_bcast, .from_ranks = 2048},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 2048, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 2048, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_allreduce_reduce_bcast, .from_ranks = 4096},
    {.algorithm = &iwi_allreduce_recursive_doubling, .from_ranks = 4096, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_allreduce_rabenseifner, .from_ranks = 4096, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_gather_linear},
    {.algorithm = &iwi_gather_binomial, .from_bytes = 4},
    {.algorithm = &iwi_gather_linear, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_gather_binomial, .from_bytes = 64 * KIB},
    {.algorithm = &iwi_gather_linear, .from_bytes = 128 * KIB},
    {.algorithm = &iwi_gather_binomial, .from_ranks = 4},
    {.algorithm = &iwi_gather_linear, .from_ranks = 4, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_gather_binomial, .from_ranks = 4, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_gather_linear, .from_ranks = 4, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_gather_binomial, .from_ranks = 8},
    {.algorithm = &iwi_gather_binomial, .from_ranks = 256},
    {.algorithm = &iwi_gather_linear, .from_ranks = 256, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_gather_binomial, .from_ranks = 256, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_gather_binomial, .from_ranks = 512},
    {.algorithm = &iwi_scatter_linear},
    {.algorithm = &iwi_scatter_binomial, .from_ranks = 4},
    {.algorithm = &iwi_scatter_linear, .from_ranks = 4, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_scatter_binomial, .from_ranks = 4, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_scatter_linear, .from_ranks = 4, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_scatter_binomial, .from_ranks = 8},
    {.algorithm = &iwi_scatter_linear, .from_ranks = 8, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_scatter_binomial, .from_ranks = 32},
    {.algorithm = &iwi_scatter_linear, .from_ranks = 32, .from_bytes = 512},
    {.algorithm = &iwi_scatter_binomial, .from_ranks = 32, .from_bytes = 8 * KIB},
    {.algorithm = &iwi_scatter_linear, .from_ranks = 32, .from_bytes = 16 * KIB},
    {.algorithm = &iwi_scatter_binomial, .from_ranks = 64},
    {.algorithm = &iwi_scatter_linear, .from_ranks = 64, .from_bytes = 512},
    {.algorithm = &iwi_allgather_recursive_doubling},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 32},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 32, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 64},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 64, .from_bytes = 512},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 256},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 256, .from_bytes = 32},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 256, .from_bytes = 128},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 256, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 512},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 512, .from_bytes = 64},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 512, .from_bytes = 256},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 512, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 1024},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 1024, .from_bytes = 4},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 1024, .from_bytes = 8},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 1024, .from_bytes = 16},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 1024, .from_bytes = 32},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 1024, .from_bytes = 256},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 1024, .from_bytes = 512},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 1024, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 2048},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 2048, .from_bytes = 32},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 2048, .from_bytes = 128},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 2048, .from_bytes = 512},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 2048, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 4096},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 4096, .from_bytes = 2},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 4096, .from_bytes = 8},
    {.algorithm = &iwi_allgather_bruck, .from_ranks = 4096, .from_bytes = 16},
    {.algorithm = &iwi_allgather_recursive_doubling, .from_ranks = 4096, .from_bytes = 512},
    {.algorithm = &iwi_allgather_ring, .from_ranks = 4096, .from_bytes = 4 * KIB},
    {.algorithm = &iwi_alltoall_pairwise},
    {.algorithm = &iwi_alltoall_linear, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_alltoall_pairwise, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 3},
    {.algorithm = &iwi_alltoall_pairwise, .from_ranks = 3, .from_bytes = 512 * KIB},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 3, .from_bytes = 1024 * KIB},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 8},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 16},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 16, .from_bytes = 4},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 16, .from_bytes = 512},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 32},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 32, .from_bytes = 512},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 64},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 64, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_alltoall_pairwise, .from_ranks = 64, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 256},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 256, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_alltoall_pairwise, .from_ranks = 256, .from_bytes = 32 * KIB},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 512},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 512, .from_bytes = 512},
    {.algorithm = &iwi_alltoall_pairwise, .from_ranks = 512, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 1024},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 1024, .from_bytes = 512},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 2048},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 2048, .from_bytes = 1 * KIB},
    {.algorithm = &iwi_alltoall_bruck, .from_ranks = 4096},
    {.algorithm = &iwi_alltoall_linear, .from_ranks = 4096, .from_bytes = 2 * KIB},
    {.algorithm = &iwi_reduce_scatter_ring},
    {.algorithm = &iwi_reduce_scatter_recursive_halving, .from_bytes = 64 * KIB},
    {.algorithm = &iwi_reduce_scatter_ring, .from_bytes = 128 * KIB},
    {.algorithm = &iwi_reduce_scatter_recursive_halving, .from_ranks = 4},
    {.algorithm = &iwi_reduce_scatter_ring, .from_ranks = 4, .from_bytes = 256 * KIB},
    {.algorithm = &iwi_reduce_scatter_recursive_halving, .from_ranks = 32},
    {.algorithm = &iwi_reduce_scatter_ring, .from_ranks = 32, .from_bytes = 512 * KIB},
    {.algorithm = &iwi_reduce_scatter_recursive_halving, .from_ranks = 64},
    {.algorithm = &iwi_scan_linear},
    {.algorithm = &iwi_exscan_linear},
};

const struct iwi_rule_set iwi_rules_ompi_4_1 = {
    .name = "ompi-4.1",
    .summary = "Open MPI 4.1's fixed decisions",
    .rules = rules_ompi_rules,
    .count = sizeof rules_ompi_rules / sizeof rules_ompi_rules[0],
    .total_kinds = 1U << IWI_REDUCE_SCATTER,
};

#define HAN_SEGMENT (64 * KIB) /* coll_han_bcast_segsize and its like */

/* Open MPI 5 prefers han (priority 35) to tuned (30). Its gather and scatter of two levels are not here. */
static const struct iwi_rule han_rules[] = {
    {.algorithm = &iwi_barrier_two_level},
    {.algorithm = &iwi_bcast_han, .segment_bytes = HAN_SEGMENT},
    {.algorithm = &iwi_reduce_han, .segment_bytes = HAN_SEGMENT},
    {.algorithm = &iwi_allreduce_han, .segment_bytes = HAN_SEGMENT},
    {.algorithm = &iwi_allgather_two_level},
};

const struct iwi_rule_set iwi_rules_ompi_5 = {
    .name = "ompi-5",
    .summary = "Open MPI 5: han where nodes are known, otherwise as 4.1",
    .rules = rules_ompi_rules,
    .count = sizeof rules_ompi_rules / sizeof rules_ompi_rules[0],
    .node_rules = han_rules,
    .node_count = sizeof han_rules / sizeof han_rules[0],
    .total_kinds = 1U << IWI_REDUCE_SCATTER,
};

enum iwi_op_kind iwi_ompi_kind(uint32_t number)
{
    static const enum iwi_op_kind kinds[IWI_OMPI_COLLECTIVES] = {
        [0] = IWI_ALLGATHER,       [1] = IWI_OP_KINDS,  [2] = IWI_ALLREDUCE, [3] = IWI_ALLTOALL,
        [4] = IWI_OP_KINDS,        [5] = IWI_OP_KINDS,  [6] = IWI_BARRIER,   [7] = IWI_BCAST,
        [8] = IWI_EXSCAN,          [9] = IWI_GATHER,    [10] = IWI_OP_KINDS, [11] = IWI_REDUCE,
        [12] = IWI_REDUCE_SCATTER, [13] = IWI_OP_KINDS, [14] = IWI_SCAN,     [15] = IWI_SCATTER,
        [16] = IWI_OP_KINDS,       [17] = IWI_OP_KINDS, [18] = IWI_OP_KINDS, [19] = IWI_OP_KINDS,
        [20] = IWI_OP_KINDS,       [21] = IWI_OP_KINDS,
    };

    return number < IWI_OMPI_COLLECTIVES ? kinds[number] : IWI_OP_KINDS;
}

enum { MOST_IDS = 9 };

/* By id - 1. */
static const struct iwi_algorithm *const by_id[IWI_OP_KINDS][MOST_IDS] = {
    [IWI_BARRIER] = {&iwi_barrier_linear, &iwi_barrier_linear, &iwi_barrier_recursive_doubling,
                     &iwi_barrier_dissemination, &iwi_barrier_dissemination, &iwi_barrier_tree},
    [IWI_BCAST] = {&iwi_bcast_linear, &iwi_bcast_chain, &iwi_bcast_chain, &iwi_bcast_binary,
                   &iwi_bcast_binary, &iwi_bcast_binomial, &iwi_bcast_binomial, &iwi_bcast_scatter_allgather,
                   &iwi_bcast_scatter_allgather},
    [IWI_REDUCE] = {&iwi_reduce_linear, &iwi_reduce_chain, &iwi_reduce_chain, &iwi_reduce_binary,
                    &iwi_reduce_binomial, &iwi_reduce_binary, &iwi_reduce_rabenseifner},
    [IWI_ALLREDUCE] = {&iwi_allreduce_reduce_bcast, &iwi_allreduce_reduce_bcast,
                       &iwi_allreduce_recursive_doubling, &iwi_allreduce_ring, &iwi_allreduce_ring,
                       &iwi_allreduce_rabenseifner},
    [IWI_GATHER] = {&iwi_gather_linear, &iwi_gather_binomial, &iwi_gather_linear},
    [IWI_SCATTER] = {&iwi_scatter_linear, &iwi_scatter_binomial, &iwi_scatter_linear},
    [IWI_ALLGATHER] = {&iwi_allgather_bruck, &iwi_allgather_bruck, &iwi_allgather_recursive_doubling,
                       &iwi_allgather_ring, &iwi_allgather_ring, &iwi_allgather_recursive_doubling},
    [IWI_ALLTOALL] = {&iwi_alltoall_linear, &iwi_alltoall_pairwise, &iwi_alltoall_bruck, &iwi_alltoall_linear,
                      &iwi_alltoall_pairwise},
    [IWI_REDUCE_SCATTER] = {&iwi_reduce_scatter_recursive_halving, &iwi_reduce_scatter_recursive_halving,
                            &iwi_reduce_scatter_ring, &iwi_reduce_scatter_recursive_halving},
    [IWI_SCAN] = {&iwi_scan_linear, &iwi_scan_recursive_doubling},
    [IWI_EXSCAN] = {&iwi_exscan_linear, &iwi_exscan_recursive_doubling},
};

const struct iwi_algorithm *iwi_ompi_algorithm(enum iwi_op_kind kind, uint32_t id)
{
    return kind < IWI_OP_KINDS && id >= 1 && id <= MOST_IDS ? by_id[kind][id - 1] : NULL;
}

/* The table of rule sets, and how a rule is chosen. */

static const struct iwi_rule_set *const sets[] = {
    &iwi_rules_paper, &iwi_rules_ompi_4_1,  &iwi_rules_ompi_5,
    &iwi_rules_mpich, &iwi_rules_nccl_ring, &iwi_rules_nccl,
};

enum { SET_COUNT = sizeof sets / sizeof sets[0] };

const char *iw_rules_name(size_t index)
{
    return index < SET_COUNT ? sets[index]->name : NULL;
}

const struct iwi_rule_set *iwi_rules_find(const char *name)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        if (strcmp(sets[i]->name, name) == 0) {
            return sets[i];
        }
    }
    return NULL;
}

void iwi_rules_list(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < SET_COUNT && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", sets[i]->name);
    }
}

static bool is_for(const struct iwi_rule *rule, enum iwi_op_kind kind, const struct iwi_operation *op)
{
    const uint32_t ranks = op->ranks;
    const bool is_power_of_two = (ranks & (ranks - 1)) == 0;

    return rule->algorithm->kind == kind && rule->from_ranks <= ranks &&
           (!rule->algorithm->uses_nodes || op->nodes.ranks > 0) &&
           (rule->ranks_are == IWI_RANKS_ANY ||
            (rule->ranks_are == IWI_RANKS_POWER_OF_TWO) == is_power_of_two);
}

/* The best of `rules`, or NULL. Of equal ones the last counts: a later wish replaces an earlier one. */
static const struct iwi_rule *best(const struct iwi_rule *rules, size_t count, enum iwi_op_kind kind,
                                   const struct iwi_operation *op, uint64_t bytes)
{
    const struct iwi_rule *found = NULL;
    uint32_t band = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_for(&rules[i], kind, op) && rules[i].from_ranks > band) {
            band = rules[i].from_ranks;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (is_for(&rules[i], kind, op) && rules[i].from_ranks == band && rules[i].from_bytes <= bytes &&
            (found == NULL || rules[i].from_bytes >= found->from_bytes)) {
            found = &rules[i];
        }
    }
    return found;
}

/* The product, or as much as fits. */
static uint64_t total_of(uint64_t bytes, uint32_t ranks)
{
    uint64_t total;

    return __builtin_mul_overflow(bytes, ranks, &total) ? UINT64_MAX : total;
}

static const struct iwi_rule *best_of_set(const struct iwi_rule_set *set, enum iwi_op_kind kind,
                                          const struct iwi_operation *op)
{
    const bool is_total = (set->total_kinds >> kind & 1U) != 0;
    const uint64_t bytes = is_total ? total_of(op->bytes, op->ranks) : op->bytes;
    const bool has_nodes = op->nodes.ranks > 1 && op->nodes.ranks < op->ranks;
    const struct iwi_rule *rule = has_nodes ? best(set->node_rules, set->node_count, kind, op, bytes) : NULL;

    if (has_nodes && set->choose_on_nodes != NULL) {
        rule = set->choose_on_nodes(kind, op);
    }
    if (rule == NULL || rule->is_open) {
        rule = best(set->rules, set->count, kind, op, bytes);
    }
    return rule != NULL && rule->is_open ? NULL : rule;
}

void iwi_rules_choose(const struct iwi_rule_set *set, const struct iwi_algorithm_overrides *overrides,
                      enum iwi_op_kind kind, struct iwi_operation *op)
{
    const struct iwi_rule *rule = best(overrides->rules, overrides->count, kind, op, op->bytes);

    for (; rule == NULL && set != NULL; set = set->otherwise) {
        rule = best_of_set(set, kind, op);
    }
    op->algorithm = rule != NULL ? rule->algorithm : iwi_algorithm_default(kind);
    op->segment_bytes = rule != NULL ? rule->segment_bytes : 0;
}
