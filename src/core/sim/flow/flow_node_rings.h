/* Rings over nodes: two messages a rank and round, in passes over vectors.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_NODE_RINGS_H
#define IWI_FLOW_NODE_RINGS_H

#include "core/sim/flow/flow_state.h"

/* allreduce:node-rings over all ranks, with eager messages on even nodes; nothing but end times is wanted. */
bool iwi_flow_is_node_rings(const struct iwi_flow *flow, const struct iwi_operation *op);

/* All its rounds. */
IW_NODISCARD iw_status iwi_flow_node_rings(struct iwi_flow *flow, const struct iwi_operation *op);

#endif
