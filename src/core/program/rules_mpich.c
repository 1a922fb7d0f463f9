/* The rules of MPICH 4: by size, and by whether the number of ranks is a power of two.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * MPICH compares the number of elements with the number of ranks before it takes Rabenseifner's algorithm;
 * here elements are bytes.
 */
#include "core/program/collectives/list.h"
#include "core/program/rules.h"

#define KIB UINT64_C(1024)

static const struct iwi_rule rules[] = {
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
    .rules = rules,
    .count = sizeof rules / sizeof rules[0],
    .node_rules = node_rules,
    .node_count = sizeof node_rules / sizeof node_rules[0],
    .total_kinds = 1U << IWI_ALLGATHER | 1U << IWI_REDUCE_SCATTER,
};
