/* Collectives of two levels by segments, as Open MPI's han has them: while one segment is passed inside the
 * nodes, the one before it goes over the leaders.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A segment takes stages: up inside the nodes, up over the leaders, down over the leaders, down inside. In
 * step t segment t - k is in its k-th stage. A step has as many rounds as the longest stage; round i of a
 * step is round i of all stages at once. The kind of op->algorithm says which stages there are.
 */
#ifndef IWI_HAN_H
#define IWI_HAN_H

#include "core/program/collectives/rounds.h"

uint64_t iwi_han_rounds(const struct iwi_operation *op);
uint64_t iwi_han_messages(const struct iwi_operation *op);
void iwi_han_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
void iwi_han_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);

#endif
