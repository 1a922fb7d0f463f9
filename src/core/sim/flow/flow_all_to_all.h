/* Rounds in which every rank sends to all others at once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_ALL_TO_ALL_H
#define IWI_FLOW_ALL_TO_ALL_H

#include "core/sim/flow/flow_state.h"

/* Such a round, and nothing else is wanted of it; by rendezvous only on networks without levels. */
bool iwi_flow_is_all_to_all(const struct iwi_flow *flow, const struct iwi_round *round);

/* Over all ranks in their order. */
IW_NODISCARD iw_status iwi_flow_all_to_all(struct iwi_flow *flow, uint32_t ranks,
                                           const struct iwi_round *round);

#endif
