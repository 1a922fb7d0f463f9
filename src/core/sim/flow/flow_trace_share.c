/* The parts of replicas that a member has: made once, used in every run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_trace_share.h"

#include <stdlib.h>

#include "core/base/base.h"

static iw_status add_part(const struct iwi_flow *flow, const struct iwi_trace_code *code,
                          struct iwi_replica_shares *parts, uint32_t replica)
{
    struct iwi_replica_share *part = &parts->part[parts->count++];
    const bool is_explaining = flow->job->split != NULL;
    size_t slots;

    part->replica = replica;
    IW_TRY(iwi_trace_cut(flow, code, &parts->values, part));
    slots = part->code.local_slots;
    part->slots.times = iwi_new_array(flow->log, slots << flow->lane_shift, sizeof(iw_time));
    part->slots.splits = is_explaining ? iwi_new_array(flow->log, slots, sizeof(iw_split)) : NULL;
    return part->slots.times == NULL || (is_explaining && part->slots.splits == NULL) ? IW_ERR_NOMEM : IW_OK;
}

static iw_status add_parts(const struct iwi_flow *flow, const struct iwi_trace_code *code,
                           struct iwi_replica_shares *parts)
{
    const uint32_t base = code->program->base, end = flow->first_rank + flow->ranks;

    if (flow->first_rank % base != 0 && flow->ranks > 0) {
        IW_TRY(add_part(flow, code, parts, flow->first_rank / base));
    }
    if (end % base != 0 && flow->ranks > 0 && (parts->count == 0 || parts->part[0].replica != end / base)) {
        IW_TRY(add_part(flow, code, parts, end / base));
    }
    return iwi_values_start(&parts->values);
}

iw_status iwi_replica_shares_new(const struct iwi_flow *flow, const struct iwi_trace_code *code,
                                 struct iwi_replica_shares **parts_p)
{
    struct iwi_replica_shares *parts = iwi_new_array(flow->log, 1, sizeof *parts);
    iw_status status;

    if (parts == NULL) {
        return IW_ERR_NOMEM;
    }
    parts->values = (struct iwi_values){.log = flow->log,
                                        .member = flow->member,
                                        .lanes = flow->lanes,
                                        .is_explaining = flow->job->split != NULL};
    status = add_parts(flow, code, parts);
    if (status != IW_OK) {
        iwi_replica_shares_free(parts);
        return status;
    }
    *parts_p = parts;
    return IW_OK;
}

void iwi_replica_shares_free(struct iwi_replica_shares *parts)
{
    if (parts == NULL) {
        return;
    }
    iwi_values_release(&parts->values);
    for (size_t k = 0; k < parts->count; k++) {
        free(parts->part[k].code.steps);
        free(parts->part[k].code.segments);
        free(parts->part[k].slots.times);
        free(parts->part[k].slots.splits);
    }
    free(parts);
}
