/* One rank's steps in the flow engine: the rules of docs/explanation/semantics.md as max-plus expressions.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * `is_explaining` is a constant in every caller: one source, two compiled versions. When explaining, each
 * time has the number of the path that won every maximum on its way; ties go to what the rank did itself.
 */
#ifndef IWI_FLOW_STEP_H
#define IWI_FLOW_STEP_H

#include "core/sim/flow/flow_state.h"

#define IWI_STEP static inline __attribute__((always_inline))

/* Of a message between two ranks of the program. */
IWI_STEP const struct iwi_cost *flow_cost(struct iwi_flow *flow, uint32_t rank, uint32_t peer, uint64_t bytes)
{
    const uint32_t level = iwi_level_between(&flow->job->levels, rank, peer);

    if (flow->cost_bytes[level] != bytes) {
        if (flow->paths != NULL) {
            iwi_paths_forget_cost(flow->paths, &flow->costs[level]);
        }
        flow->cost_bytes[level] = bytes;
        flow->costs[level] = iwi_cost_at(flow->job->net, level, bytes);
    }
    return &flow->costs[level];
}

/* d of undisturbed CPU from t on; noise is added to `path` when explaining. */
IWI_STEP iw_time step_finish(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                             uint32_t *path, const bool is_explaining)
{
    if (t + d <= flow->next_detour[i]) {
        return t + d;
    }
    return iwi_flow_work_hit(flow, rank, i, t, d, is_explaining ? path : NULL);
}

/* The same for what is no compute phase: part of the step that the rank is in. */
IWI_STEP iw_time step_work(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                           uint32_t *path, const bool is_explaining)
{
    if (flow->watch.open != NULL) {
        iwi_step_busy(&flow->watch, rank, d);
    }
    return step_finish(flow, rank, i, t, d, path, is_explaining);
}

/* The CPU part of a message: `touch` as in struct iwi_cost. */
IWI_STEP iw_time step_message(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                              iw_time touch, uint32_t *path, const bool is_explaining)
{
    if (flow->watch.open != NULL) {
        iwi_step_busy(&flow->watch, rank, d);
    }
    return step_finish(flow, rank, i, t, d + touch, path, is_explaining) - touch;
}

/* Rule 4: when receives are posted that the rank reaches now. Not part of any step: it holds no CPU. */
IWI_STEP iw_time step_post(struct iwi_flow *flow, uint32_t rank, size_t i, uint32_t *path,
                           const bool is_explaining)
{
    const iw_time t = flow->cpu[i], touch = flow->post_touch;

    if (t + touch <= flow->next_detour[i]) {
        return t;
    }
    return iwi_flow_work_slow(flow, rank, i, &flow->next_detour[i], t, touch, is_explaining ? path : NULL) -
           touch;
}

/* A gap that a rank waited for: the path behind it. */
IWI_STEP uint32_t step_behind_gap(struct iwi_flow *flow, const struct iwi_path_step *gap)
{
    return iwi_path_then(flow->paths, gap->before, gap->what);
}

/* The gap of a message that starts at the end of `path`. */
IWI_STEP struct iwi_path_step step_gap(struct iwi_flow *flow, const struct iwi_cost *cost, uint32_t path,
                                       enum iwi_message_part part)
{
    return (struct iwi_path_step){path, iwi_path_message(flow->paths, cost, part, 0)};
}

/* The path that goes on with a part of a message. */
IWI_STEP uint32_t step_part(struct iwi_flow *flow, const struct iwi_cost *cost, uint32_t path,
                            enum iwi_message_part part)
{
    return iwi_path_then(flow->paths, path, iwi_path_message(flow->paths, cost, part, 0));
}

/* Rule 2: a send starts at max(CPU free, send gap free). The delay of rule 16 is part of *sent: nothing but
 * the arrival of the message follows from that. */
IWI_STEP void step_send(struct iwi_flow *flow, uint32_t rank, uint32_t peer, size_t i,
                        const struct iwi_cost *cost, iw_time *sent, uint32_t *sent_path,
                        const bool is_explaining)
{
    iw_time start = flow->cpu[i];
    uint32_t *path = is_explaining ? &flow->cpu_path[i] : NULL;

    if (flow->send_gap[i] > start) {
        start = flow->send_gap[i];
        if (is_explaining) {
            *path = step_behind_gap(flow, &flow->send_gap_path[i]);
        }
    }
    flow->send_gap[i] = start + cost->gap;
    if (is_explaining) {
        flow->send_gap_path[i] = step_gap(flow, cost, *path, IWI_MESSAGE_GAP);
    }
    flow->cpu[i] = step_message(flow, rank, i, start, cost->send_cpu, cost->send_touch, path, is_explaining);
    *sent = flow->cpu[i];
    if (is_explaining) {
        *sent_path = *path = step_part(flow, cost, *path, IWI_MESSAGE_SENT);
    }
    if (flow->sends_before != NULL) {
        const iw_time delay = iwi_flow_delay(flow, rank, peer, i, cost);

        *sent += delay;
        if (is_explaining) {
            *sent_path = iwi_path_then_amount(flow->paths, *sent_path, IW_PART_NETWORK, delay);
        }
    }
}

/* Rule 5: when the transfer starts, and by which path. */
IWI_STEP iw_time step_transfer_start(const struct iwi_flow *flow, const struct iwi_cost *cost, iw_time sent,
                                     uint32_t sent_path, iw_time posted, uint32_t posted_path, uint32_t *path,
                                     const bool is_explaining)
{
    const iw_time notice = iwi_cost_notice(cost->costs, flow->job->rendezvous);
    const iw_time handshake = iwi_cost_handshake(cost->costs, flow->job->rendezvous);
    const bool is_late = posted > sent + notice;

    if (is_explaining && handshake + (is_late ? 0 : notice) == 0) {
        *path = is_late ? posted_path : sent_path;
    } else if (is_explaining) {
        *path = iwi_path_then(flow->paths, is_late ? posted_path : sent_path,
                              iwi_path_message(flow->paths, cost,
                                               is_late ? IWI_MESSAGE_HANDSHAKE : IWI_MESSAGE_NOTICED,
                                               handshake + (is_late ? 0 : notice)));
    }
    return (is_late ? posted : sent + notice) + handshake;
}

/* Rule 3: a receive is served at max(CPU free, arrival, receive gap free). `left_path` is that of the message
 * before the wire, if explaining. */
IWI_STEP void step_receive(struct iwi_flow *flow, uint32_t rank, size_t i, const struct iwi_cost *cost,
                           iw_time arrival, uint32_t left_path, const bool is_explaining)
{
    iw_time start = flow->cpu[i];
    uint32_t *path = is_explaining ? &flow->cpu_path[i] : NULL;
    bool is_arrival = false;

    if (arrival > start) {
        start = arrival;
        if (is_explaining) {
            *path = left_path;
            is_arrival = true;
        }
    }
    if (flow->recv_gap[i] > start) {
        start = flow->recv_gap[i];
        if (is_explaining) {
            *path = step_behind_gap(flow, &flow->recv_gap_path[i]);
            is_arrival = false;
        }
    }
    flow->recv_gap[i] = start + cost->gap;
    if (is_explaining) {
        flow->recv_gap_path[i] =
            step_gap(flow, cost, *path, is_arrival ? IWI_MESSAGE_ARRIVED_GAP : IWI_MESSAGE_GAP);
        *path = step_part(flow, cost, *path, is_arrival ? IWI_MESSAGE_ARRIVED : IWI_MESSAGE_RECEIVED);
    }
    flow->cpu[i] = step_message(flow, rank, i, start, cost->recv_cpu, cost->recv_touch, path, is_explaining);
}

/* The receiver's readiness came across, when it was what the transfer waited for: a hop on the sender's path.
 */
IWI_STEP bool step_is_late_receive(const struct iwi_flow *flow, const struct iwi_cost *cost, iw_time sent,
                                   iw_time posted)
{
    return posted > sent + iwi_cost_notice(cost->costs, flow->job->rendezvous);
}

/* Rule 5, the sender's side: its wait ends at the start of the transfer, from which the gap counts. */
IWI_STEP void step_send_done(struct iwi_flow *flow, size_t i, const struct iwi_cost *cost, iw_time transfer,
                             uint32_t transfer_path, const bool is_explaining)
{
    if (transfer + cost->gap > flow->send_gap[i]) {
        flow->send_gap[i] = transfer + cost->gap;
        if (is_explaining) {
            flow->send_gap_path[i] = step_gap(flow, cost, transfer_path, IWI_MESSAGE_GAP);
        }
    }
    if (transfer > flow->cpu[i]) {
        flow->cpu[i] = transfer;
        if (is_explaining) {
            flow->cpu_path[i] = transfer_path;
        }
    }
}

/* CPU work that is no compute phase: reductions, and the work of a round. */
IWI_STEP void step_local_work(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time d,
                              const bool is_explaining)
{
    uint32_t *path = is_explaining ? &flow->cpu_path[i] : NULL;

    flow->cpu[i] = step_work(flow, rank, i, flow->cpu[i], d, path, is_explaining);
    if (is_explaining) {
        *path = iwi_path_then_amount(flow->paths, *path, IW_PART_COMPUTE, d);
    }
}

#endif
