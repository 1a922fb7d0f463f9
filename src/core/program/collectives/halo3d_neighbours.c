/* Exchange with the neighbours in a grid of 3 dimensions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/halo.h"

const struct iwi_algorithm iwi_halo3d_neighbours = {
    .kind = IWI_HALO3D,
    .name = "neighbours",
    .summary = "neighbours in a 3-dimensional grid",
    .round_count = iwi_halo_rounds,
    .message_count = iwi_halo_messages,
    .round = iwi_halo_round,
    .role = iwi_halo_role,
    .direction = iwi_halo_direction,
};
