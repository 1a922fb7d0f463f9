/* Inclusive scan from rank to rank (Open MPI).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/scan.h"

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    if (iwi_scan_linear_role(op, index, rank, role)) {
        role->reduce_bytes = op->bytes;
    }
}

const struct iwi_algorithm iwi_scan_linear = {
    .kind = IWI_SCAN,
    .name = "linear",
    .summary = "each rank passes its prefix to the next",
    .round_count = iwi_other_ranks,
    .message_count = iwi_other_ranks,
    .round = iwi_scan_linear_round,
    .role = fill_role,
};
