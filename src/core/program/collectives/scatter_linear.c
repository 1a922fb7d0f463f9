/* Scatter by the root to one rank after the other, in rank order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/tree.h"

const struct iwi_algorithm iwi_scatter_linear = {
    .kind = IWI_SCATTER,
    .name = "linear",
    .summary = "the root sends to each rank",
    .round_count = iwi_star_rounds,
    .message_count = iwi_star_messages,
    .round = iwi_star_round,
    .role = iwi_star_role,
};
