/* The flow engine on stored in-order schedules: each rank runs until it needs what another has not done yet.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without wildcards the k-th send meets the k-th receive on (source, destination, tag), so partners are known
 * before anything runs, and any order of evaluation that respects the dependences gives the same times.
 */
#include <stdlib.h>

#include "base/base.h"
#include "sim/flow/flow_match.h"
#include "sim/flow/flow_step.h"

#define NO_NODE UINT64_MAX

struct schedule_run {
    struct iwi_flow *flow;
    const struct iwi_schedule *schedule;
    const uint64_t *partner; /* of each send and receive; NO_NODE: none */
    const uint32_t *rank_of; /* of each node */
    iw_time *mark;           /* nodes x lanes: send: end of its CPU part; receive: posted */
    iw_split *mark_split;    /* explaining only */
    bool *is_marked;         /* nodes */
    uint64_t *cursor;        /* ranks: the operation to run next */
    uint64_t *phases;        /* ranks: compute phases begun */
    uint64_t *satisfied;     /* ranks: so many requests of its wait need nothing more */
    uint64_t *awaited;       /* ranks: the node of another rank that this one waits for, or NO_NODE */
    uint32_t *work;          /* ranks that can go on */
    size_t work_count;
};

/* The node is marked in all lanes: whoever waits for it can go on. */
static void set_mark(struct schedule_run *run, uint64_t node)
{
    const uint64_t partner = run->partner[node];

    run->is_marked[node] = true;
    if (partner != NO_NODE) {
        const uint32_t rank = run->rank_of[partner];

        if (run->awaited[rank] == node) {
            run->awaited[rank] = NO_NODE;
            run->work[run->work_count++] = rank;
        }
    }
}

IWI_STEP void post(struct schedule_run *run, uint32_t rank, uint64_t node, const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        run->mark[((size_t)node << flow->lane_shift) + lane] =
            flow->cpu[((size_t)rank << flow->lane_shift) + lane];
    }
    if (is_explaining) {
        step_copy(flow, &run->mark_split[node], &flow->cpu_split[rank]);
    }
    set_mark(run, node);
}

/* Of the message that a send carries. */
IWI_STEP const struct iwi_cost *cost_of(const struct schedule_run *run, uint64_t send)
{
    const struct iwi_node *node = &run->schedule->nodes[send];

    return flow_cost(run->flow, run->rank_of[send], node->peer, node->amount);
}

IWI_STEP void issue(struct schedule_run *run, uint32_t rank, uint64_t node, const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_cost *cost = cost_of(run, node);

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_send(flow, rank, ((size_t)rank << flow->lane_shift) + lane, cost,
                  &run->mark[((size_t)node << flow->lane_shift) + lane],
                  is_explaining ? &run->mark_split[node] : NULL, is_explaining);
    }
    set_mark(run, node);
}

static bool is_rendezvous(const struct schedule_run *run, uint64_t send)
{
    const struct iwi_node *op = &run->schedule->nodes[send];

    return op->amount > run->flow->job->net->S_bytes || (op->flags & IWI_NODE_SYNCHRONOUS) != 0;
}

/* What the completion of `node` still needs of its partner: NO_NODE if nothing. */
static uint64_t missing(const struct schedule_run *run, uint64_t node)
{
    const struct iwi_node *op = &run->schedule->nodes[node];
    const uint64_t partner = run->partner[node];

    if (op->kind == IWI_SEND && !is_rendezvous(run, node)) {
        return NO_NODE;
    }
    if (partner != NO_NODE && run->is_marked[partner]) {
        return NO_NODE;
    }
    return partner == NO_NODE ? node : partner; /* itself: nobody will ever mark it again */
}

/* Transfer start (rendezvous) or departure (eager) of the message that `send` carries to `recv`. */
IWI_STEP iw_time departure(const struct schedule_run *run, uint64_t send, uint64_t recv, uint32_t lane,
                           iw_split *split, const bool is_explaining)
{
    const struct iwi_flow *flow = run->flow;
    const iw_time sent = run->mark[((size_t)send << flow->lane_shift) + lane];

    if (!is_rendezvous(run, send)) {
        if (is_explaining) {
            step_copy(flow, split, &run->mark_split[send]);
        }
        return sent;
    }
    return step_transfer_start(flow, cost_of(run, send), sent, is_explaining ? &run->mark_split[send] : NULL,
                               run->mark[((size_t)recv << flow->lane_shift) + lane],
                               is_explaining ? &run->mark_split[recv] : NULL, split, is_explaining);
}

IWI_STEP void serve(struct schedule_run *run, uint32_t rank, uint64_t recv, uint32_t lane,
                    const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    const uint64_t send = run->partner[recv];
    const struct iwi_cost *cost = cost_of(run, send);
    iw_split split;
    const iw_time left = departure(run, send, recv, lane, &split, is_explaining);

    if (is_explaining) {
        iwi_path_add_wire(&split, cost);
    }
    step_receive(flow, rank, ((size_t)rank << flow->lane_shift) + lane, cost, left + cost->wire, &split,
                 is_explaining);
}

IWI_STEP void complete_send(struct schedule_run *run, uint32_t rank, uint64_t send, uint32_t lane,
                            const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_cost *cost = cost_of(run, send);
    iw_split split;

    if (is_rendezvous(run, send)) {
        const iw_time transfer = departure(run, send, run->partner[send], lane, &split, is_explaining);

        if (is_explaining) {
            split.hops += step_is_late_receive(flow, cost, run->mark[send], run->mark[run->partner[send]]);
        }
        step_send_done(flow, ((size_t)rank << flow->lane_shift) + lane, cost, transfer, &split,
                       is_explaining);
    }
}

/* All requests of a wait are known: receives in the order of arrival, then the sends. */
IWI_STEP void complete_wait(struct schedule_run *run, uint32_t rank, uint64_t wait, uint32_t lane,
                            const bool is_explaining)
{
    const struct iwi_schedule *schedule = run->schedule;
    struct iwi_flow *flow = run->flow;
    const uint64_t base = schedule->first_node[rank];
    uint32_t count = 0;

    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        const uint64_t node = base + schedule->deps[d].node;

        if (schedule->nodes[node].kind == IWI_RECV) {
            const uint64_t send = run->partner[node];
            const struct iwi_cost *cost = cost_of(run, send);

            flow->arrivals[count].time = departure(run, send, node, lane, NULL, false) + cost->wire;
            flow->arrivals[count++].index = schedule->deps[d].node;
        }
    }
    iwi_sort_arrivals(flow->arrivals, count);
    for (uint32_t k = 0; k < count; k++) {
        serve(run, rank, base + flow->arrivals[k].index, lane, is_explaining);
    }
    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        if (schedule->nodes[base + schedule->deps[d].node].kind == IWI_SEND) {
            complete_send(run, rank, base + schedule->deps[d].node, lane, is_explaining);
        }
    }
}

/* What a wait still needs. Requests that need nothing more are not looked at again when the rank comes back.
 */
static uint64_t missing_of_wait(struct schedule_run *run, uint32_t rank, uint64_t wait)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t count = schedule->first_dep[wait + 1] - schedule->first_dep[wait];

    for (; run->satisfied[rank] < count; run->satisfied[rank]++) {
        const struct iwi_dep *dep = &schedule->deps[schedule->first_dep[wait] + run->satisfied[rank]];
        const uint64_t node = missing(run, schedule->first_node[rank] + dep->node);

        if (node != NO_NODE) {
            return node;
        }
    }
    run->satisfied[rank] = 0;
    return NO_NODE;
}

static void calculate(struct schedule_run *run, uint32_t rank, const struct iwi_node *calc,
                      const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;

    if (calc->flags & IWI_NODE_PHASE) {
        iwi_flow_phase(flow, rank, run->phases[rank]++, (iw_time)calc->amount);
        return;
    }
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_local_work(flow, rank, ((size_t)rank << flow->lane_shift) + lane, (iw_time)calc->amount,
                        is_explaining);
    }
}

/* Runs one operation as far as it can go; returns the node it has to wait for, or NO_NODE when it is done. */
IWI_STEP uint64_t run_node(struct schedule_run *run, uint32_t rank, uint64_t node, const bool is_explaining)
{
    const struct iwi_node *op = &run->schedule->nodes[node];
    const uint32_t lanes = run->flow->lanes;
    uint64_t needed = NO_NODE;

    if (op->kind == IWI_CALC) {
        calculate(run, rank, op, is_explaining);
        return NO_NODE;
    }
    if (op->kind == IWI_WAIT) {
        needed = missing_of_wait(run, rank, node);
        for (uint32_t lane = 0; needed == NO_NODE && lane < lanes; lane++) {
            complete_wait(run, rank, node, lane, is_explaining);
        }
        return needed;
    }
    if (!run->is_marked[node]) {
        if (op->kind == IWI_SEND) {
            issue(run, rank, node, is_explaining);
        } else {
            post(run, rank, node, is_explaining);
        }
    }
    if (op->flags & IWI_NODE_NONBLOCKING) {
        return NO_NODE;
    }
    needed = missing(run, node);
    for (uint32_t lane = 0; needed == NO_NODE && lane < lanes; lane++) {
        if (op->kind == IWI_SEND) {
            complete_send(run, rank, node, lane, is_explaining);
        } else {
            serve(run, rank, node, lane, is_explaining);
        }
    }
    return needed;
}

static void run_rank(struct schedule_run *run, uint32_t rank)
{
    const bool is_explaining = run->flow->job->split != NULL;
    const uint64_t end = run->schedule->first_node[rank + 1];

    while (run->cursor[rank] < end) {
        const uint64_t needed = is_explaining ? run_node(run, rank, run->cursor[rank], true)
                                              : run_node(run, rank, run->cursor[rank], false);

        if (needed != NO_NODE) {
            run->awaited[rank] = needed;
            return;
        }
        run->cursor[rank]++;
    }
}

static iw_status report_stuck(const struct schedule_run *run)
{
    uint64_t *stuck = iwi_new_array(run->flow->log, run->flow->ranks, sizeof *stuck);
    size_t count = 0;
    iw_status status = IW_OK;

    if (stuck == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < run->flow->ranks; rank++) {
        if (run->cursor[rank] < run->schedule->first_node[rank + 1]) {
            stuck[count++] = run->cursor[rank];
        }
    }
    if (count > 0) {
        status = iwi_report_stuck(run->flow->log, run->schedule, stuck, count);
    }
    free(stuck);
    return status;
}

static uint32_t largest_wait(const struct iwi_schedule *schedule)
{
    const uint64_t node_count = schedule->first_node[schedule->ranks];
    uint64_t largest = 1;

    for (uint64_t node = 0; node < node_count; node++) {
        const uint64_t deps = schedule->first_dep[node + 1] - schedule->first_dep[node];

        largest = deps > largest ? deps : largest;
    }
    return (uint32_t)largest;
}

static iw_status allocate(struct schedule_run *run, size_t nodes)
{
    const struct iwi_flow *flow = run->flow;
    const iw_log *log = flow->log;

    run->mark = iwi_new_array(log, nodes << flow->lane_shift, sizeof *run->mark);
    run->is_marked = iwi_new_array(log, nodes, sizeof *run->is_marked);
    run->cursor = iwi_new_array(log, flow->ranks, sizeof *run->cursor);
    run->phases = iwi_new_array(log, flow->ranks, sizeof *run->phases);
    run->satisfied = iwi_new_array(log, flow->ranks, sizeof *run->satisfied);
    run->awaited = iwi_new_array(log, flow->ranks, sizeof *run->awaited);
    run->work = iwi_new_array(log, flow->ranks, sizeof *run->work);
    run->mark_split = flow->job->split == NULL ? NULL : iwi_new_array(log, nodes, sizeof *run->mark_split);
    return run->mark == NULL || run->is_marked == NULL || run->cursor == NULL || run->phases == NULL ||
                   run->awaited == NULL || run->satisfied == NULL || run->work == NULL ||
                   (flow->job->split != NULL && run->mark_split == NULL)
               ? IW_ERR_NOMEM
               : IW_OK;
}

static iw_status run_all(struct schedule_run *run)
{
    struct iwi_flow *flow = run->flow;

    IW_TRY(allocate(run, (size_t)run->schedule->first_node[run->schedule->ranks]));
    IW_TRY(iwi_flow_reserve_scratch(flow, largest_wait(run->schedule)));
    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        run->cursor[rank] = run->schedule->first_node[rank];
        run->awaited[rank] = NO_NODE;
        run->work[flow->ranks - 1 - rank] = rank; /* taken from the end: rank 0 first */
    }
    run->work_count = flow->ranks;
    for (uint64_t turn = 0; run->work_count > 0; turn++) {
        run_rank(run, run->work[--run->work_count]);
        IW_TRY(iwi_tick_rarely(flow->job->ticker, turn));
    }
    return report_stuck(run);
}

iw_status iwi_flow_schedule(struct iwi_flow *flow, const struct iwi_match *match)
{
    struct schedule_run run = {
        .flow = flow, .schedule = flow->job->schedule, .partner = match->partner, .rank_of = match->rank_of};
    const iw_status status = run_all(&run);

    free(run.mark);
    free(run.mark_split);
    free(run.is_marked);
    free(run.cursor);
    free(run.phases);
    free(run.awaited);
    free(run.satisfied);
    free(run.work);
    return status;
}
