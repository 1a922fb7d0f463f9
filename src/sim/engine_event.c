/* The reference engine: everything happens in the order of time (docs/semantics.md). Clear before fast.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes become ready when their dependences are satisfied. Receives are then posted; all others, and receives
 * whose message has arrived, queue for their CPU, which serves them by (ready time, program order).
 * In an in-order schedule each node depends on the one before it, and a wait serves the receives it
 * completes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "sim/event_state.h"

static iw_status push(struct event_run *run, iw_time time, enum iwi_event_kind kind, uint32_t rank,
                      uint64_t object)
{
    return iwi_event_push(run->log, &run->queue,
                          (struct iwi_event){.time = iwi_max(run->now, time),
                                             .kind = (uint32_t)kind,
                                             .rank = rank,
                                             .sequence = object,
                                             .object = object});
}

static struct event_cpu *cpu_of(struct event_run *run, uint64_t node, size_t *index_p)
{
    *index_p = (size_t)run->rank_of[node] * run->schedule->cpu_count + run->schedule->nodes[node].cpu;
    return &run->cpus[*index_p];
}

/* ---- dependences ---- */

static iw_status release_next_in_order(struct event_run *run, uint64_t node, iw_time time)
{
    const uint32_t rank = run->rank_of[node];

    if (node + 1 == run->schedule->first_node[rank + 1]) {
        return IW_OK;
    }
    return push(run, time, IWI_EVENT_RELEASE, rank, node + 1);
}

static iw_status release_successors(struct event_run *run, uint64_t node, bool is_start, iw_time time)
{
    for (uint64_t i = run->first_successor[node]; i < run->first_successor[node + 1]; i++) {
        if (run->successors[i].is_start == is_start) {
            IW_TRY(push(run, time, IWI_EVENT_RELEASE, run->rank_of[node],
                        run->schedule->first_node[run->rank_of[node]] + run->successors[i].node));
        }
    }
    return IW_OK;
}

/* The node's start lets others go: GOAL's irequires. */
static iw_status started(struct event_run *run, uint64_t node, iw_time time)
{
    return run->schedule->is_in_order ? IW_OK : release_successors(run, node, true, time);
}

static iw_status ended(struct event_run *run, uint64_t node, iw_time time)
{
    struct event_rank *rank = &run->ranks[run->rank_of[node]];

    run->nodes[node].is_done = true;
    rank->end = iwi_max(rank->end, time);
    return run->schedule->is_in_order ? release_next_in_order(run, node, time)
                                      : release_successors(run, node, false, time);
}

static bool is_nonblocking(const struct event_run *run, uint64_t node)
{
    return run->schedule->is_in_order && (run->schedule->nodes[node].flags & IWI_NODE_NONBLOCKING) != 0;
}

/* ---- the CPU ---- */

/* Inserts by (ready, program order); nearly always at the tail. */
static void enqueue(struct event_run *run, struct event_cpu *cpu, uint64_t node)
{
    struct event_node *nodes = run->nodes;
    uint64_t previous = IWI_NO_NODE;
    uint64_t next = cpu->queue_head;

    if (cpu->queue_head != IWI_NO_NODE &&
        (nodes[cpu->queue_tail].ready < nodes[node].ready ||
         (nodes[cpu->queue_tail].ready == nodes[node].ready && cpu->queue_tail < node))) {
        previous = cpu->queue_tail;
        next = IWI_NO_NODE;
    }
    while (next != IWI_NO_NODE && (nodes[next].ready < nodes[node].ready ||
                                   (nodes[next].ready == nodes[node].ready && next < node))) {
        previous = next;
        next = nodes[next].link;
    }
    nodes[node].link = next;
    if (previous == IWI_NO_NODE) {
        cpu->queue_head = node;
    } else {
        nodes[previous].link = node;
    }
    if (next == IWI_NO_NODE) {
        cpu->queue_tail = node;
    }
}

static iw_status wants_cpu(struct event_run *run, uint64_t node)
{
    size_t index;
    struct event_cpu *cpu = cpu_of(run, node, &index);

    run->nodes[node].ready = run->now;
    enqueue(run, cpu, node);
    return push(run, cpu->free, IWI_EVENT_DISPATCH, run->rank_of[node], index);
}

static iw_time cpu_finish(struct event_run *run, size_t cpu, uint32_t rank, iw_time t, iw_time d)
{
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, rank};

    return iwi_finish(run->job->noise, id, run->noise_words + cpu * run->words, &run->cpus[cpu].next_detour,
                      t, d, NULL);
}

static iw_status run_calc(struct event_run *run, uint64_t node, size_t cpu)
{
    const struct iwi_node *calc = &run->schedule->nodes[node];
    const uint32_t rank = run->rank_of[node];
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, rank};
    iw_time work = (iw_time)calc->amount;

    if (calc->flags & IWI_NODE_PHASE) {
        const uint64_t phase = run->ranks[rank].phases++;

        if (run->job->noise != NULL) {
            work += iwi_noise_phase(run->job->noise, id, run->noise_words + cpu * run->words,
                                    &run->cpus[cpu].next_detour, phase, run->now, work, NULL);
        }
        if (run->job->has_delays) {
            work += iwi_program_delay(run->job->program, rank, phase + 1);
        }
    }
    run->cpus[cpu].free = cpu_finish(run, cpu, rank, run->now, work);
    IW_TRY(started(run, node, run->now));
    return ended(run, node, run->cpus[cpu].free);
}

static iw_status run_send(struct event_run *run, uint64_t node, size_t cpu)
{
    const struct iwi_node *send = &run->schedule->nodes[node];
    const struct iwi_cost cost = iwi_cost_of(run->job->net, send->amount);
    const uint32_t rank = run->rank_of[node];
    iw_time *gap = &run->send_gap[(size_t)rank * run->schedule->nic_count + send->nic];
    struct event_node *state = &run->nodes[node];
    const iw_time start = iwi_max(run->now, *gap);

    state->sent = cpu_finish(run, cpu, rank, start, cost.send_cpu);
    run->cpus[cpu].free = state->sent;
    *gap = start + cost.gap;
    IW_TRY(started(run, node, start));
    if (is_nonblocking(run, node)) {
        IW_TRY(release_next_in_order(run, node, state->sent));
    }
    if (!cost.is_rendezvous) {
        state->known = state->sent;
        IW_TRY(push(run, state->sent, IWI_EVENT_ARRIVED, rank, node));
    }
    return iwi_event_message(run, node);
}

/* The CPU part of a receive whose message is there. */
static iw_time serve_receive(struct event_run *run, uint64_t node, size_t cpu, iw_time t)
{
    const struct iwi_cost cost = iwi_cost_of(run->job->net, run->nodes[node].bytes);
    const uint32_t rank = run->rank_of[node];
    iw_time *gap = &run->recv_gap[(size_t)rank * run->schedule->nic_count + run->schedule->nodes[node].nic];
    const iw_time start = iwi_max(iwi_max(t, run->nodes[node].known), *gap);

    *gap = start + cost.gap;
    return cpu_finish(run, cpu, rank, start, cost.recv_cpu);
}

/* The sender learns when a rendezvous transfer started: the gap counts from there (rule 5). */
static void shift_send_gap(struct event_run *run, uint64_t node)
{
    const struct iwi_node *send = &run->schedule->nodes[node];
    const struct event_node *state = &run->nodes[node];
    const struct iwi_cost cost = iwi_cost_of(run->job->net, send->amount);
    iw_time *gap = &run->send_gap[(size_t)run->rank_of[node] * run->schedule->nic_count + send->nic];

    if (cost.is_rendezvous) {
        *gap = iwi_max(*gap, state->known + cost.gap);
    }
}

/* ---- waiting ---- */

/* The request that a wait serves next: a receive, earliest arrival first, ties in the order of posting. */
static uint64_t next_arrival(const struct event_run *run, uint64_t wait)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t base = schedule->first_node[run->rank_of[wait]];
    uint64_t best = IWI_NO_NODE;

    for (uint64_t i = schedule->first_dep[wait]; i < schedule->first_dep[wait + 1]; i++) {
        const uint64_t node = base + schedule->deps[i].node;

        if (schedule->nodes[node].kind == IWI_RECV && !run->nodes[node].is_done &&
            (best == IWI_NO_NODE || run->nodes[node].known < run->nodes[best].known ||
             (run->nodes[node].known == run->nodes[best].known && node < best))) {
            best = node;
        }
    }
    return best;
}

static iw_status finish_wait(struct event_run *run, uint64_t wait, size_t cpu)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t base = schedule->first_node[run->rank_of[wait]];
    iw_time t = run->cpus[cpu].waiting_since;

    for (uint64_t recv = next_arrival(run, wait); recv != IWI_NO_NODE; recv = next_arrival(run, wait)) {
        t = serve_receive(run, recv, cpu, t);
        run->nodes[recv].is_done = true;
    }
    for (uint64_t i = schedule->first_dep[wait]; i < schedule->first_dep[wait + 1]; i++) {
        const uint64_t node = base + schedule->deps[i].node;

        if (schedule->nodes[node].kind == IWI_SEND) {
            shift_send_gap(run, node);
            t = iwi_max(t, run->nodes[node].known);
            run->nodes[node].is_done = true;
        }
    }
    run->cpus[cpu].waiting = IWI_NO_NODE;
    run->cpus[cpu].free = t;
    return ended(run, wait, t);
}

static iw_status request_known(struct event_run *run, uint64_t node)
{
    const uint64_t wait = run->nodes[node].waiter;
    size_t index;
    struct event_cpu *cpu = cpu_of(run, wait, &index);

    run->nodes[wait].open--;
    return cpu->waiting == wait && run->nodes[wait].open == 0 ? finish_wait(run, wait, index) : IW_OK;
}

static iw_status run_wait(struct event_run *run, uint64_t node, size_t cpu)
{
    run->cpus[cpu].waiting = node;
    run->cpus[cpu].waiting_since = run->now;
    return run->nodes[node].open == 0 ? finish_wait(run, node, cpu) : IW_OK;
}

/* ---- events ---- */

static iw_status on_release(struct event_run *run, uint64_t node)
{
    const struct iwi_node *op = &run->schedule->nodes[node];

    if (!run->schedule->is_in_order && --run->nodes[node].open > 0) {
        return IW_OK;
    }
    if (op->kind != IWI_RECV) {
        return wants_cpu(run, node);
    }
    IW_TRY(iwi_event_post(run, node));
    IW_TRY(started(run, node, run->now));
    return is_nonblocking(run, node) ? release_next_in_order(run, node, run->now) : IW_OK;
}

static iw_status on_arrived(struct event_run *run, uint64_t node)
{
    run->nodes[node].is_known = true;
    if (is_nonblocking(run, node)) {
        return request_known(run, node);
    }
    if (run->schedule->nodes[node].kind == IWI_RECV) {
        return wants_cpu(run, node);
    }
    shift_send_gap(run, node);
    return ended(run, node, run->now);
}

static iw_status on_dispatch(struct event_run *run, size_t index)
{
    struct event_cpu *cpu = &run->cpus[index];
    const uint64_t node = cpu->queue_head;

    if (node == IWI_NO_NODE || cpu->free > run->now || cpu->waiting != IWI_NO_NODE) {
        return IW_OK; /* nothing to do, or another dispatch will come */
    }
    cpu->queue_head = run->nodes[node].link;
    switch (run->schedule->nodes[node].kind) {
    case IWI_CALC: IW_TRY(run_calc(run, node, index)); break;
    case IWI_SEND: IW_TRY(run_send(run, node, index)); break;
    case IWI_WAIT: return run_wait(run, node, index);
    default:
        cpu->free = serve_receive(run, node, index, run->now);
        IW_TRY(ended(run, node, cpu->free));
        break;
    }
    return cpu->queue_head == IWI_NO_NODE
               ? IW_OK
               : push(run, cpu->free, IWI_EVENT_DISPATCH, run->rank_of[node], index);
}

static iw_status handle(struct event_run *run, const struct iwi_event *event)
{
    run->now = event->time;
    switch ((enum iwi_event_kind)event->kind) {
    case IWI_EVENT_NOTICE: return iwi_event_notice(run, (size_t)event->object);
    case IWI_EVENT_RELEASE: return on_release(run, event->object);
    case IWI_EVENT_ARRIVED: return on_arrived(run, event->object);
    case IWI_EVENT_DISPATCH: return on_dispatch(run, (size_t)event->object);
    }
    return IW_OK;
}

/* ---- the run ---- */

/* Everything ready at time 0: in-order schedules start with the first node, DAGs with those without
 * dependences. */
static iw_status start_all(struct event_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            const bool is_first = node == schedule->first_node[rank];

            if (schedule->is_in_order ? is_first : run->nodes[node].open == 0) {
                run->nodes[node].open += schedule->is_in_order ? 0 : 1;
                IW_TRY(push(run, 0, IWI_EVENT_RELEASE, rank, node));
            }
        }
    }
    return IW_OK;
}

/* Where a rank is stuck: its first operation that nothing in its own rank holds back; if there is none, its
 * operations wait for each other in a circle, and the first of all stands for them. */
static uint64_t stuck_node(const struct event_run *run, uint32_t rank)
{
    const struct iwi_schedule *schedule = run->schedule;
    uint64_t first = IWI_NO_NODE;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        if (run->nodes[node].is_done || is_nonblocking(run, node)) {
            continue;
        }
        if (schedule->is_in_order || run->nodes[node].open == 0) {
            return node;
        }
        first = first == IWI_NO_NODE ? node : first;
    }
    return first;
}

static iw_status report_stuck(struct event_run *run)
{
    uint64_t *stuck = iwi_new_array(run->log, run->schedule->ranks, sizeof *stuck);
    size_t count = 0;
    iw_status status;

    if (stuck == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        stuck[count] = stuck_node(run, rank);
        count += stuck[count] != IWI_NO_NODE;
    }
    status = count == 0 ? IW_OK : iwi_report_stuck(run->log, run->schedule, stuck, count);
    free(stuck);
    return status;
}

static void warn_unreceived(const struct event_run *run)
{
    uint64_t count = 0;

    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        for (size_t m = run->ranks[rank].unexpected_head; m != IWI_NO_MESSAGE; m = run->messages[m].link) {
            count++;
        }
    }
    if (count > 0 && run->job->want_warnings) {
        iwi_warn(run->log, "%" PRIu64 " messages are sent but never received", count);
    }
}

iw_status iwi_event_loop(struct event_run *run)
{
    struct iwi_event event;

    IW_TRY(start_all(run));
    while (iwi_event_pop(&run->queue, &event)) {
        IW_TRY(handle(run, &event));
    }
    IW_TRY(report_stuck(run));
    warn_unreceived(run);
    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        run->job->end_ps[rank] = run->ranks[rank].end;
    }
    return IW_OK;
}
