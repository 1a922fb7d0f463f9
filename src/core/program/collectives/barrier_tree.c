/* Barrier up and down a binomial tree of rank 0.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_barrier_tree = {
    .kind = IWI_BARRIER,
    .name = "tree",
    .summary = "binomial tree: all report, then are released",
    .round_count = iwi_binomial_rounds,
    .message_count = iwi_binomial_messages,
    .round = iwi_binomial_round,
    .role = iwi_binomial_role,
};
