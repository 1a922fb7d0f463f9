/* Gather up a binomial tree: a message carries the blocks of a whole subtree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_gather_binomial = {
    .kind = IWI_GATHER,
    .name = "binomial",
    .summary = "binomial tree",
    .round_count = iwi_binomial_rounds,
    .message_count = iwi_binomial_messages,
    .round = iwi_binomial_round,
    .role = iwi_binomial_role,
};
