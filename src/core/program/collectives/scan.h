/* What inclusive and exclusive scans share: all but what is combined.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SCAN_H
#define IWI_SCAN_H

#include "core/program/collectives/rounds.h"

/* Recursive doubling: partial results are exchanged with rank ^ 2^k in round k, where there is such a rank.
 * The part lacks reduce_bytes; false: this rank has no partner in this round. */
uint64_t iwi_scan_doubling_messages(const struct iwi_operation *op);
void iwi_scan_doubling_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
bool iwi_scan_doubling_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                            struct iwi_role *role);

/* Linear: in round i rank i passes its prefix on to rank i + 1. The part lacks reduce_bytes; true for the
 * receiver. */
void iwi_scan_linear_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
bool iwi_scan_linear_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,
                          struct iwi_role *role);

#endif
