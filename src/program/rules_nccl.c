/* The rules of NCCL's rings: everything goes around a ring, cut into chunks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Barrier, gather, scatter, scan are not in NCCL; they take what MPICH does with them.
 */
#include "program/collectives/list.h"
#include "program/rules.h"

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
