/* Allreduce as a reduction to rank 0 and a broadcast from it, both on binomial trees (Open MPI's
 * nonoverlapping). SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_allreduce_reduce_bcast = {
    .kind = IWI_ALLREDUCE,
    .name = "reduce-bcast",
    .summary = "binomial reduce, then binomial broadcast",
    .round_count = iwi_binomial_rounds,
    .message_count = iwi_binomial_messages,
    .round = iwi_binomial_round,
    .role = iwi_binomial_role,
};
