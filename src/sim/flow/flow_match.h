/* Which send meets which receive, found before anything runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_MATCH_H
#define IWI_FLOW_MATCH_H

#include "program/program.h"
#include "sim/flow/flow_state.h"
#include "sim/unreceived.h"

struct iwi_match {
    uint64_t *partner; /* of each global node; UINT64_MAX: none, or neither send nor receive */
    uint32_t *rank_of;
    struct iwi_unreceived unreceived;
};

/* Matches an in-order schedule without wildcards: k-th send with k-th receive on (source, destination, tag).
 */
IW_NODISCARD iw_status iwi_match_new(const iw_log *log, const struct iwi_schedule *schedule,
                                     struct iwi_match **match_p);
void iwi_match_free(struct iwi_match *match);

/* NULL if the flow engine can run this schedule, which is in order; else why not. */
const char *iwi_flow_refusal(const struct iwi_schedule *schedule);

/* Runs it from the state that iwi_flow_restart() left. */
IW_NODISCARD iw_status iwi_flow_schedule(struct iwi_flow *flow, const struct iwi_match *match);

#endif
