/* Exchange with the neighbours in a grid; the last dimension is numbered fastest. The kind of op->algorithm
 * says how many dimensions there are: halo2d, halo3d.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HALO_H
#define IWI_HALO_H

#include "core/program/collectives/rounds.h"

/* Sends go out in the order: dimension, towards higher before towards lower coordinates. */
uint64_t iwi_halo_rounds(const struct iwi_operation *op);
uint64_t iwi_halo_messages(const struct iwi_operation *op);
void iwi_halo_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
void iwi_halo_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);
void iwi_halo_direction(const struct iwi_operation *op, uint64_t index, uint32_t k,
                        struct iwi_direction *direction_p);

#endif
