/* One rank serves many messages of one size, in the order of their arrival.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_DRAIN_H
#define IWI_FLOW_DRAIN_H

#include "core/net/cost.h"
#include "core/sim/flow/flow_state.h"

/* Element `at`, of `rank`, serves messages that all cost the same, given in any order. Changes `arrivals`;
 * `scratch` as for iwi_sort_by_lines(). */
void iwi_flow_drain(struct iwi_flow *flow, uint32_t rank, size_t at, const struct iwi_cost *cost,
                    struct iwi_arrival *arrivals, size_t count, struct iwi_arrival *scratch);

#endif
