/* Which data each message of a collective that uses nodes carries, written independently of the library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NODE_MODELS_H
#define IWT_NODE_MODELS_H

#include "unit/program/dataflow_models.h"

/* Where ranks are: by going through all of them. */
uint32_t iwt_node_count(const struct iwi_operation *op);
uint32_t iwt_node_of(const struct iwi_operation *op, uint32_t rank);
uint32_t iwt_seat_of(const struct iwi_operation *op, uint32_t rank);
uint32_t iwt_node_size(const struct iwi_operation *op, uint32_t node);

/* Of operations that cut long data among the leaders; ends with a NULL name. */
extern const struct iwt_model iwt_long_models[];

#endif
