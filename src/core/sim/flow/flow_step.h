/* One rank's steps in the flow engine: the rules of docs/explanation/semantics.md as max-plus expressions.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * `is_explaining` is a constant in every caller: one source, two compiled versions. When explaining, each
 * time carries the split of the path that won every maximum on its way; ties go to what the rank did itself.
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
        flow->cost_bytes[level] = bytes;
        flow->costs[level] = iwi_cost_at(flow->job->net, level, bytes);
    }
    return &flow->costs[level];
}

/* d of undisturbed CPU from t on; noise is added to `split` when explaining. */
IWI_STEP iw_time step_finish(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                             iw_split *split, const bool is_explaining)
{
    if (t + d <= flow->next_detour[i]) {
        return t + d;
    }
    if (!is_explaining) {
        return iwi_flow_work_hit(flow, rank, i, t, d, NULL);
    }
    return iwi_flow_work_hit(flow, rank, i, t, d, &(struct iwi_lost)IWI_LOST_OF(split));
}

/* The same for what is no compute phase: part of the step that the rank is in. */
IWI_STEP iw_time step_work(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                           iw_split *split, const bool is_explaining)
{
    if (flow->watch.open != NULL) {
        iwi_step_busy(&flow->watch, rank, d);
    }
    return step_finish(flow, rank, i, t, d, split, is_explaining);
}

/* The CPU part of a message: `touch` as in struct iwi_cost. */
IWI_STEP iw_time step_message(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                              iw_time touch, iw_split *split, const bool is_explaining)
{
    if (flow->watch.open != NULL) {
        iwi_step_busy(&flow->watch, rank, d);
    }
    return step_finish(flow, rank, i, t, d + touch, split, is_explaining) - touch;
}

/* Rule 4: when receives are posted that the rank reaches now. Not part of any step: it holds no CPU. */
IWI_STEP iw_time step_post(struct iwi_flow *flow, uint32_t rank, size_t i, iw_split *split,
                           const bool is_explaining)
{
    const iw_time t = flow->cpu[i], touch = flow->post_touch;

    if (t + touch <= flow->next_detour[i]) {
        return t;
    }
    return iwi_flow_work_slow(flow, rank, i, &flow->next_detour[i], t, touch,
                              is_explaining ? &(struct iwi_lost)IWI_LOST_OF(split) : NULL) -
           touch;
}

IWI_STEP void step_copy(const struct iwi_flow *flow, iw_split *to, const iw_split *from)
{
    iwi_path_copy(to, from, flow->job->levels.count);
}

/* Rule 2: a send starts at max(CPU free, send gap free). The delay of rule 16 is part of *sent: nothing but
 * the arrival of the message follows from that. */
IWI_STEP void step_send(struct iwi_flow *flow, uint32_t rank, uint32_t peer, size_t i,
                        const struct iwi_cost *cost, iw_time *sent, iw_split *sent_split,
                        const bool is_explaining)
{
    iw_time start = flow->cpu[i];
    iw_split *path = is_explaining ? &flow->cpu_split[i] : NULL;

    if (flow->send_gap[i] > start) {
        start = flow->send_gap[i];
        if (is_explaining) {
            step_copy(flow, path, &flow->send_gap_split[i]);
        }
    }
    flow->send_gap[i] = start + cost->gap;
    if (is_explaining) {
        step_copy(flow, &flow->send_gap_split[i], path);
        iwi_path_add_gap(&flow->send_gap_split[i], cost);
    }
    flow->cpu[i] = step_message(flow, rank, i, start, cost->send_cpu, cost->send_touch, path, is_explaining);
    *sent = flow->cpu[i];
    if (is_explaining) {
        iwi_path_add(path, cost, IW_PART_OVERHEAD, cost->send_cpu);
        step_copy(flow, sent_split, path);
    }
    if (flow->sends_before != NULL) {
        const iw_time delay = iwi_flow_delay(flow, rank, peer, i, cost);

        *sent += delay;
        if (is_explaining) {
            sent_split->part_ps[IW_PART_NETWORK] += delay;
        }
    }
}

/* Rule 5: when the transfer starts, and by which path. */
IWI_STEP iw_time step_transfer_start(const struct iwi_flow *flow, const struct iwi_cost *cost, iw_time sent,
                                     const iw_split *sent_split, iw_time posted, const iw_split *posted_split,
                                     iw_split *split, const bool is_explaining)
{
    const iw_time notice = iwi_cost_notice(cost->costs, flow->job->rendezvous);
    const iw_time handshake = iwi_cost_handshake(cost->costs, flow->job->rendezvous);

    if (is_explaining) {
        step_copy(flow, split, posted > sent + notice ? posted_split : sent_split);
        iwi_path_add(split, cost, IW_PART_RENDEZVOUS, handshake + (posted > sent + notice ? 0 : notice));
    }
    return (posted > sent + notice ? posted : sent + notice) + handshake;
}

/* Rule 3: a receive is served at max(CPU free, arrival, receive gap free). `arrival_split` is set if
 * explaining. */
IWI_STEP void step_receive(struct iwi_flow *flow, uint32_t rank, size_t i, const struct iwi_cost *cost,
                           iw_time arrival, const iw_split *arrival_split, const bool is_explaining)
{
    iw_time start = flow->cpu[i];
    iw_split *path = is_explaining ? &flow->cpu_split[i] : NULL;

    if (arrival > start) {
        start = arrival;
        if (is_explaining) {
            step_copy(flow, path, arrival_split);
        }
    }
    if (flow->recv_gap[i] > start) {
        start = flow->recv_gap[i];
        if (is_explaining) {
            step_copy(flow, path, &flow->recv_gap_split[i]);
        }
    }
    flow->recv_gap[i] = start + cost->gap;
    if (is_explaining) {
        step_copy(flow, &flow->recv_gap_split[i], path);
        iwi_path_add_gap(&flow->recv_gap_split[i], cost);
    }
    flow->cpu[i] = step_message(flow, rank, i, start, cost->recv_cpu, cost->recv_touch, path, is_explaining);
    if (is_explaining) {
        iwi_path_add(path, cost, IW_PART_OVERHEAD, cost->recv_cpu);
    }
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
                             const iw_split *transfer_split, const bool is_explaining)
{
    if (transfer + cost->gap > flow->send_gap[i]) {
        flow->send_gap[i] = transfer + cost->gap;
        if (is_explaining) {
            step_copy(flow, &flow->send_gap_split[i], transfer_split);
            iwi_path_add_gap(&flow->send_gap_split[i], cost);
        }
    }
    if (transfer > flow->cpu[i]) {
        flow->cpu[i] = transfer;
        if (is_explaining) {
            step_copy(flow, &flow->cpu_split[i], transfer_split);
        }
    }
}

/* CPU work that is no compute phase: reductions, and the work of a round. */
IWI_STEP void step_local_work(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time d,
                              const bool is_explaining)
{
    iw_split *path = is_explaining ? &flow->cpu_split[i] : NULL;

    flow->cpu[i] = step_work(flow, rank, i, flow->cpu[i], d, path, is_explaining);
    if (is_explaining) {
        path->part_ps[IW_PART_COMPUTE] += d;
    }
}

#endif
