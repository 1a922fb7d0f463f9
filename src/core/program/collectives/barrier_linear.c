/* Barrier by rank 0, which hears from and then releases one rank after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_barrier_linear = {
    .kind = IWI_BARRIER,
    .name = "linear",
    .summary = "rank 0 hears from each rank, then releases each",
    .round_count = iwi_star_rounds,
    .message_count = iwi_star_messages,
    .round = iwi_star_round,
    .role = iwi_star_role,
};
