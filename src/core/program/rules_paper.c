/* The rules of the noise papers: dissemination where all wait for all, binomial trees elsewhere.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Hoefler, Schneider, Lumsdaine (SC'10, section IV-B). What the paper does not name takes what its tool chain
 * would: messages of all ranks at once, or the logarithmic algorithm.
 */
#include "core/program/collectives/list.h"
#include "core/program/rules.h"

static const struct iwi_rule rules[] = {
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
    .rules = rules,
    .count = sizeof rules / sizeof rules[0],
};
