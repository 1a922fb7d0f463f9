/* Rounds of pairs on a partition: pairs inside the block at once, the others by letters of times in the order
 * of the pairs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_range.h"

struct pairs {
    const struct iwi_round *round;
    iw_time reduce;
    uint32_t ranks;
};

IWI_STEP uint32_t moved(const struct pairs *pairs, uint32_t rank, uint32_t by)
{
    const uint64_t at = (uint64_t)rank + by;

    return (uint32_t)(at < pairs->ranks ? at : at - pairs->ranks);
}

/* `lanes` is a constant in every caller, here and below. */
IWI_STEP void receive(struct iwi_flow *flow, const struct pairs *pairs, uint32_t sender, uint32_t rank,
                      const iw_time *sent, const uint32_t lanes)
{
    const struct iwi_cost *cost = flow_cost(flow, sender, rank, pairs->round->bytes);
    const size_t base = iwi_flow_at(flow, rank);

    for (uint32_t lane = 0; lane < lanes; lane++) {
        step_receive(flow, rank, base + lane, cost, sent[lane] + cost->wire, NULL, false);
        step_local_work(flow, rank, base + lane, pairs->reduce, false);
    }
}

IWI_STEP iw_status send(struct iwi_flow *flow, const struct pairs *pairs, uint32_t rank, const uint32_t lanes)
{
    const uint32_t receiver = moved(pairs, rank, pairs->round->shift);
    const struct iwi_cost *cost = flow_cost(flow, rank, receiver, pairs->round->bytes);
    const size_t base = iwi_flow_at(flow, rank);
    iw_time sent[8] = {0};
    void *room;

    for (uint32_t lane = 0; lane < lanes; lane++) {
        step_send(flow, rank, receiver, base + lane, cost, &sent[lane], NULL, false);
    }
    if (iwi_is_here(flow, receiver)) {
        receive(flow, pairs, rank, receiver, sent, lanes);
        return IW_OK;
    }
    IW_TRY(
        iwi_letter_room(flow, iwi_partition_owner(flow->partition, receiver), lanes * sizeof *sent, &room));
    memcpy(room, sent, lanes * sizeof *sent);
    return IW_OK;
}

IWI_STEP iw_status receive_by_letter(struct iwi_flow *flow, const struct pairs *pairs, uint32_t rank,
                                     const uint32_t lanes)
{
    const uint32_t sender = moved(pairs, rank, pairs->ranks - pairs->round->shift);
    const size_t bytes = lanes * sizeof(iw_time);
    struct iwi_inbox *inbox;

    if (iwi_is_here(flow, sender)) {
        return IW_OK;
    }
    IW_TRY(iwi_letter_take(flow, iwi_partition_owner(flow->partition, sender), true, &inbox));
    if (inbox->bytes.count - inbox->at < bytes) {
        return iwi_fail(flow->log, IW_ERR_FORMAT,
                        "nothing of rank %" PRIu32 " has come: do all run the same program?", sender);
    }
    receive(flow, pairs, sender, rank, (const iw_time *)(const void *)(inbox->bytes.data + inbox->at), lanes);
    inbox->at += bytes;
    return IW_OK;
}

/* Over those of a range that are here, in the order of their numbers. */
IWI_STEP iw_status for_each_here(struct iwi_flow *flow, const struct pairs *pairs,
                                 const struct iwi_range *range, const bool is_sending, const uint32_t lanes)
{
    struct iwi_turns turns =
        iwi_turns_of(range, pairs->ranks, flow->first_rank, flow->first_rank + flow->ranks);
    struct iwi_turn turn;

    while (iwi_turns_next(&turns, &turn)) {
        for (; turn.begin < turn.end; turn.begin++, turn.rank += turns.stride) {
            IW_TRY(is_sending ? send(flow, pairs, (uint32_t)turn.rank, lanes)
                              : receive_by_letter(flow, pairs, (uint32_t)turn.rank, lanes));
        }
    }
    return IW_OK;
}

static iw_status pass_range(struct iwi_flow *flow, const struct pairs *pairs, const struct iwi_range *range,
                            bool is_sending)
{
    switch (flow->lanes) {
    case 8: return for_each_here(flow, pairs, range, is_sending, 8);
    case 1: return for_each_here(flow, pairs, range, is_sending, 1);
    default: return for_each_here(flow, pairs, range, is_sending, flow->lanes);
    }
}

iw_status iwi_exchange_pairs(struct iwi_flow *flow, const struct iwi_round *round)
{
    const struct pairs pairs = {
        .round = round,
        .reduce = iwi_bytes_cost(flow->job->program->reduce, round->reduce_bytes),
        .ranks = flow->partition->ranks,
    };
    struct iwi_range receivers = round->senders;

    receivers.first = moved(&pairs, receivers.first, round->shift);
    iwi_letters_begin(flow->exchange);
    IW_TRY(pass_range(flow, &pairs, &round->senders, true));
    IW_TRY(iwi_letters_send(flow));
    return pass_range(flow, &pairs, &receivers, false);
}
