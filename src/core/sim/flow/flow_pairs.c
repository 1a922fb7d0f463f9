/* The flow engine's rounds of pairs, as trees have them: some ranks send, each to one that only receives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_step.h"

/* All lanes of one pair of ranks. `lanes` is a constant in every caller. */
IWI_STEP void pass_pair(struct iwi_flow *flow, const struct iwi_cost *cost, iw_time reduce, uint32_t sender,
                        uint32_t receiver, const uint32_t lanes)
{
    const size_t from = (size_t)sender * lanes, to = (size_t)receiver * lanes;

    for (uint32_t lane = 0; lane < lanes; lane++) {
        iw_time sent;

        step_send(flow, sender, receiver, from + lane, cost, &sent, NULL, false);
        step_receive(flow, receiver, to + lane, cost, sent + cost->wire, NULL, false);
        step_local_work(flow, receiver, to + lane, reduce, false);
    }
}

IWI_STEP void pass_pairs(struct iwi_flow *flow, const struct iwi_round *round, const uint32_t lanes)
{
    const iw_time reduce = iwi_bytes_cost(flow->job->program->reduce, round->reduce_bytes);
    const int64_t ranks = flow->ranks;
    const int64_t stride = round->senders.stride % ranks;
    int64_t sender = round->senders.first;

    for (uint32_t n = 0; n < round->senders.count; n++) {
        const int64_t receiver = sender + round->shift - (sender + round->shift >= ranks ? ranks : 0);

        pass_pair(flow, flow_cost(flow, (uint32_t)sender, (uint32_t)receiver, round->bytes), reduce,
                  (uint32_t)sender, (uint32_t)receiver, lanes);
        sender += stride - (sender + stride >= ranks ? ranks : 0);
    }
}

iw_status iwi_flow_pairs(struct iwi_flow *flow, const struct iwi_round *round)
{
    if (flow->partition != NULL) {
        return iwi_exchange_pairs(flow, round);
    }
    switch (flow->lanes) {
    case 8: pass_pairs(flow, round, 8); break;
    case 1: pass_pairs(flow, round, 1); break;
    default: pass_pairs(flow, round, flow->lanes);
    }
    return IW_OK;
}
