/* The flow engine on stored schedules in order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_SCHEDULE_H
#define IWI_FLOW_SCHEDULE_H

#include "core/sim/flow/flow_state.h"

/* NULL if the flow engine can run this schedule, which is in order; else why not. */
const char *iwi_flow_refusal(const struct iwi_schedule *schedule);

/* Runs flow->job->schedule from the state that iwi_flow_restart() left. */
IW_NODISCARD iw_status iwi_flow_schedule(struct iwi_flow *flow);

#endif
