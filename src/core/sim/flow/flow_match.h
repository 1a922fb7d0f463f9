/* Which send meets which receive, found before anything runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_MATCH_H
#define IWI_FLOW_MATCH_H

#include "core/program/program.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/unreceived.h"

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

#endif
