/* Reduction up a binomial tree, the nearest child first (MPICH and Open MPI for short messages).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_reduce_binomial = {
    .kind = IWI_REDUCE,
    .name = "binomial",
    .summary = "binomial tree",
    .round_count = iwi_binomial_rounds,
    .message_count = iwi_binomial_messages,
    .round = iwi_binomial_round,
    .role = iwi_binomial_role,
};
