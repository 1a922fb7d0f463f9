/* Sweeps through a grid, as a whole.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_SWEEP_H
#define IWI_FLOW_SWEEP_H

#include "core/sim/flow/flow_state.h"

/* All rounds of this operation can be evaluated at once: all ranks are here, and no path is explained. */
bool iwi_flow_is_sweep(const struct iwi_flow *flow, const struct iwi_operation *op,
                       const struct iwi_flow_group *group);

/* `phase` is the number of its compute phase. */
IW_NODISCARD iw_status iwi_flow_sweep(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t phase);

#endif
