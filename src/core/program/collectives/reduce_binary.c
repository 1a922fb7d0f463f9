/* Reduction up a complete binary tree, pipelined by segments.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_reduce_binary = {
    .kind = IWI_REDUCE,
    .name = "binary",
    .summary = "binary tree, pipelined by segments",
    .round_count = iwi_binary_rounds,
    .message_count = iwi_binary_messages,
    .round = iwi_binary_round,
    .role = iwi_binary_role,
};
