/* Inclusive scan by recursive doubling (MPICH).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/scan.h"

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const bool is_upper = (rank >> index & 1) != 0;

    if (iwi_scan_doubling_role(op, index, rank, role)) {
        /* the upper one of a pair combines into its partial result and into its prefix */
        role->reduce_bytes = is_upper ? 2 * op->bytes : op->bytes;
    }
}

const struct iwi_algorithm iwi_scan_recursive_doubling = {
    .kind = IWI_SCAN,
    .name = "recursive-doubling",
    .summary = "partial results with the rank 2^k away in round k",
    .round_count = iwi_log2_ranks,
    .message_count = iwi_scan_doubling_messages,
    .round = iwi_scan_doubling_round,
    .role = fill_role,
};
