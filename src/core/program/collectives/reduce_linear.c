/* Reduction by the root, which takes from one rank after the other, the highest first (as Open MPI).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_reduce_linear = {
    .kind = IWI_REDUCE,
    .name = "linear",
    .summary = "the root receives from each rank",
    .round_count = iwi_star_rounds,
    .message_count = iwi_star_messages,
    .round = iwi_star_round,
    .role = iwi_star_role,
};
