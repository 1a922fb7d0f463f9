/* Which data each message of a collective that uses nodes carries, written independently of the library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NODE_MODELS_H
#define IWT_NODE_MODELS_H

#include "dataflow_models.h"

/* Where ranks are. */
uint32_t iwt_node_count(const struct iwi_operation *op);
uint32_t iwt_node_of(const struct iwi_operation *op, uint32_t rank);
uint32_t iwt_seat_of(const struct iwi_operation *op, uint32_t rank);
uint32_t iwt_node_size(const struct iwi_operation *op, uint32_t node);
uint32_t iwt_smallest_node(const struct iwi_operation *op);

/* Parts of the models of all collectives (dataflow_models.c). */
iwt_carries iwt_two_level_allgather, iwt_two_level_alltoall, iwt_node_rings, iwt_nvls;
uint32_t iwt_item_per_ring_block(const struct iwi_operation *op);
uint64_t iwt_ring_block_bytes(const struct iwi_operation *op, uint32_t item);
uint32_t iwt_item_per_part_half(const struct iwi_operation *op);
uint64_t iwt_part_half_bytes(const struct iwi_operation *op, uint32_t item);
bool iwt_node_tree_is_up(const struct iwi_operation *op, uint64_t round);
bool iwt_nvls_is_up(const struct iwi_operation *op, uint64_t round);

/* Of operations that cut long data among the leaders; ends with a NULL name. */
extern const struct iwt_model iwt_long_models[];

#endif
