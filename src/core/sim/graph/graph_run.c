/* Runs a graph by windows of time (graph.h).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU of a rank serves by (ready time, program order), so a rank may take the first of its queue as soon
 * as everything that becomes ready before is in the queue too: what it does itself is put in when it is done,
 * and messages that arrive before the end of the window have all been sent before the window.
 */
#include "core/sim/graph/graph_fetch.h"

#define STEP static inline __attribute__((always_inline))

/* ---- queues ---- */

STEP iw_status push(struct graph_run *run, struct graph_rank *rank, iw_time time, uint64_t what)
{
    if (iwi_graph_queue_is_full(&rank->queue)) {
        IW_TRY(iwi_graph_queue_grow(run->log, &rank->queue));
    }
    iwi_graph_queue_put(&rank->queue, (struct iwi_graph_event){time, what});
    return IW_OK;
}

/* The rank has its turn when its CPU is free and something is ready: it sends nothing before. */
STEP iw_status schedule_turn(struct graph_run *run, uint32_t number)
{
    struct graph_rank *rank = &run->ranks[number];
    const iw_time turn = iwi_max(rank->cpu.free, iwi_graph_events(&rank->queue)->time);

    if (turn >= rank->turn) {
        return IW_OK;
    }
    rank->turn = turn;
    return iwi_wheel_put(run->log, &run->blocks[number >> run->block_shift].wheel, number, turn);
}

/* ---- messages ---- */

static void append(struct graph_run *run, struct graph_channel *channel, uint32_t node, bool is_send)
{
    run->nodes[node].also = IWI_GRAPH_NONE;
    if (channel->first == IWI_GRAPH_NONE) {
        channel->first = node;
        channel->are_sends = is_send;
    } else {
        run->nodes[channel->last].also = node;
    }
    channel->last = node;
}

/* A send or receive comes to its channel: the first receive or send that waits there, or IWI_GRAPH_NONE; then
 * it waits itself. */
static uint32_t meet_in_channel(struct graph_run *run, uint32_t node, bool is_send)
{
    struct graph_channel *channel = &run->channels[run->windows->ops[node].link.other];
    const uint32_t other = channel->first;

    if (other == IWI_GRAPH_NONE || channel->are_sends == is_send) {
        append(run, channel, node, is_send);
        return IWI_GRAPH_NONE;
    }
    channel->first = run->nodes[other].also;
    run->nodes[is_send ? other : node].also = is_send ? node : other;
    return other;
}

/* Receive and message have met: the CPU may take the receive when both are there. */
STEP iw_status meet(struct graph_run *run, struct graph_rank *rank, uint32_t recv, iw_time arrival)
{
    return push(run, rank, iwi_max(run->nodes[recv].time, arrival), iwi_graph_ready(recv - rank->first));
}

/* A receive is posted at nodes[recv].time. */
STEP iw_status post(struct graph_run *run, struct graph_rank *rank, uint32_t recv)
{
    const struct iwi_graph_link link = run->windows->ops[recv].link;
    uint32_t send = IWI_GRAPH_NONE;

    if (link.how == IWI_MEETS_CHANNEL) {
        send = meet_in_channel(run, recv, false);
    } else if (run->nodes[recv].open == IWI_GRAPH_ARRIVED) {
        run->nodes[recv].open = 0;
        send = link.other;
    }
    return send == IWI_GRAPH_NONE ? IW_OK : meet(run, rank, recv, run->nodes[send].time);
}

/* The message of a send is on its way. */
STEP iw_status dispatch(struct graph_run *run, uint32_t send, iw_time arrival)
{
    const struct iwi_graph_op *op = &run->windows->ops[send];
    struct graph_block *block = &run->blocks[op->peer >> run->block_shift];
    struct iwi_graph_link link = op->link;

    run->nodes[send].time = arrival;
    if (link.how == IWI_MEETS_NOBODY) {
        return IW_OK;
    }
    if (link.how == IWI_MEETS_CHANNEL) {
        link.other = send & ((1U << 30) - 1);
    }
    if (block->mail_count == block->mail_capacity) {
        IW_TRY(iwi_grow(run->log, (void **)&block->mail, &block->mail_capacity, block->mail_count + 1,
                        sizeof *block->mail));
    }
    block->mail[block->mail_count++] = (struct graph_mail){arrival, op->peer, link};
    block->mail_first = iwi_min(block->mail_first, arrival);
    return IW_OK;
}

STEP iw_status deliver(struct graph_run *run, const struct graph_mail *mail)
{
    struct graph_rank *rank = &run->ranks[mail->rank];
    uint32_t recv = mail->link.other;

    if (mail->link.how == IWI_MEETS_CHANNEL) {
        recv = meet_in_channel(run, recv, true);
        if (recv == IWI_GRAPH_NONE) {
            return IW_OK;
        }
    } else if (run->nodes[recv].open > 0) {
        run->nodes[recv].open |= IWI_GRAPH_ARRIVED;
        return IW_OK;
    }
    IW_TRY(meet(run, rank, recv, mail->arrival));
    return schedule_turn(run, mail->rank);
}

/* Messages come to their ranks when the block runs that these are in. */
static iw_status deliver_all(struct graph_run *run, struct graph_block *block)
{
    for (size_t i = 0; i < block->mail_count; i++) {
        if (i + IWI_GRAPH_AHEAD < block->mail_count) {
            const struct graph_mail *later = &block->mail[i + IWI_GRAPH_AHEAD];

            __builtin_prefetch(&run->nodes[later->link.other], 1);
            __builtin_prefetch(&run->ranks[later->rank], 1);
            __builtin_prefetch(run->ranks[later->rank].queue.room, 1);
        }
        IW_TRY(deliver(run, &block->mail[i]));
    }
    block->mail_count = 0;
    block->mail_first = INT64_MAX;
    return IW_OK;
}

/* ---- dependences ---- */

/* What a node requires is there. Receives of a channel are posted in the order of time, others at once: they
 * have their partner. What irequires a receive is let go in the order of time, as it may be in a channel. */
STEP iw_status become_ready(struct graph_run *run, struct graph_rank *rank, uint32_t node)
{
    const struct iwi_graph_op *op = &run->windows->ops[node];
    const struct graph_node *state = &run->nodes[node];

    if (op->kind < IWI_GRAPH_RECV) {
        return push(run, rank, state->time, iwi_graph_ready(node - rank->first));
    }
    if (op->link.how != IWI_MEETS_CHANNEL) {
        IW_TRY(post(run, rank, node));
        if (op->kind == IWI_GRAPH_RECV) {
            return IW_OK;
        }
    }
    return push(run, rank, state->time, iwi_graph_post(state->also, node - rank->first));
}

/* A node has one dependence less; `cause` as in iwi_graph_post(). */
STEP iw_status satisfy(struct graph_run *run, struct graph_rank *rank, uint32_t node, iw_time time,
                       uint32_t cause)
{
    struct graph_node *state = &run->nodes[node];

    if (time > state->time || (time == state->time && cause > state->also)) {
        state->time = time;
        state->also = cause;
    }
    return (--state->open & ~IWI_GRAPH_ARRIVED) == 0 ? become_ready(run, rank, node) : IW_OK;
}

/* The start, or the end, of a node lets others go. */
STEP iw_status let_go(struct graph_run *run, struct graph_rank *rank, uint32_t node, bool is_start,
                      iw_time time, uint32_t cause)
{
    const struct iwi_windows *graph = run->windows;
    const uint32_t end = graph->ops[node + 1].first_successor;

    for (uint32_t i = graph->ops[node].first_successor; i < end; i++) {
        if ((graph->successors[i] & 1) == is_start) {
            IW_TRY(satisfy(run, rank, rank->first + graph->successors[i] / 2, time, cause));
        }
    }
    return IW_OK;
}

/* ---- operations ---- */

/* Its start and its end let others go. */
STEP iw_status calculate(struct graph_run *run, struct graph_rank *rank, uint32_t node, iw_time t)
{
    const struct iwi_graph_op *op = &run->windows->ops[node];
    const uint32_t number = (uint32_t)(rank - run->ranks);
    const iw_time amount = (iw_time)run->schedule->nodes[node].amount;

    rank->cpu.free = op->kind == IWI_GRAPH_PHASE
                         ? iwi_graph_phase(&run->cpus, number, &rank->cpu, op->peer, t, amount)
                         : graph_finish(&run->cpus, number, &rank->cpu, t, amount);
    IW_TRY(let_go(run, rank, node, true, t, rank->cause));
    return let_go(run, rank, node, false, rank->cpu.free, rank->cause);
}

STEP iw_status send(struct graph_run *run, struct graph_rank *rank, uint32_t node, iw_time t)
{
    const struct iwi_graph_op *op = &run->windows->ops[node];
    const struct iwi_cost *cost = &run->windows->costs[op->cost];
    const uint32_t number = (uint32_t)(rank - run->ranks);
    iw_time *gap = graph_gap(&run->cpus, number, &rank->cpu, op->nic, false);
    const iw_time start = iwi_max(t, *gap);

    *gap = start + cost->gap;
    rank->cpu.free = graph_finish(&run->cpus, number, &rank->cpu, start, cost->send_cpu);
    IW_TRY(dispatch(run, node, rank->cpu.free + cost->wire));
    IW_TRY(let_go(run, rank, node, true, start, rank->cause));
    return let_go(run, rank, node, false, rank->cpu.free, rank->cause + 1);
}

STEP iw_status receive(struct graph_run *run, struct graph_rank *rank, uint32_t node, iw_time t)
{
    const struct iwi_graph_op *ops = run->windows->ops;
    const uint32_t met = ops[node].link.how == IWI_MEETS_NODE ? node : run->nodes[node].also;
    const struct iwi_cost *cost = &run->windows->costs[ops[met].cost];
    const uint32_t number = (uint32_t)(rank - run->ranks);
    iw_time *gap = graph_gap(&run->cpus, number, &rank->cpu, ops[node].nic, true);
    const iw_time start = iwi_max(t, *gap);

    *gap = start + cost->gap;
    rank->cpu.free = graph_finish(&run->cpus, number, &rank->cpu, start, cost->recv_cpu);
    return ops[node].kind == IWI_GRAPH_RECV && ops[node].peer != UINT32_MAX
               ? satisfy(run, rank, rank->first + ops[node].peer, rank->cpu.free, rank->cause)
               : let_go(run, rank, node, false, rank->cpu.free, rank->cause);
}

/* The CPU takes the operation, which has been ready since `ready`. */
STEP iw_status serve(struct graph_run *run, struct graph_rank *rank, uint32_t node, iw_time ready)
{
    const iw_time t = iwi_max(rank->cpu.free, ready);

    rank->cause += 2;
    run->nodes[node].open = IWI_GRAPH_DONE;
    run->done++;
    switch ((enum iwi_graph_kind)run->windows->ops[node].kind) {
    case IWI_GRAPH_CALC:
    case IWI_GRAPH_PHASE: return calculate(run, rank, node, t);
    case IWI_GRAPH_SEND: return send(run, rank, node, t);
    default: return receive(run, rank, node, t);
    }
}

/* ---- the run ---- */

/* One rank, as far as everything is known. */
static iw_status advance(struct graph_run *run, uint32_t number)
{
    struct graph_rank *rank = &run->ranks[number];

    rank->turn = INT64_MAX;
    while (rank->queue.count > 0 && iwi_graph_events(&rank->queue)->time < run->window_end) {
        const struct iwi_graph_event event = iwi_graph_queue_take(&rank->queue);
        const uint32_t node = rank->first + (uint32_t)event.what;

        if (iwi_graph_is_ready(&event)) {
            IW_TRY(serve(run, rank, node, event.time));
            continue;
        }
        if (run->windows->ops[node].link.how == IWI_MEETS_CHANNEL) {
            IW_TRY(post(run, rank, node));
        }
        IW_TRY(let_go(run, rank, node, true, event.time, iwi_graph_cause(&event)));
    }
    return rank->queue.count == 0 ? IW_OK : schedule_turn(run, number);
}

/* What requires nothing is ready at time 0. */
static iw_status start_all(struct graph_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint32_t number = 0; number < schedule->ranks; number++) {
        struct graph_rank *rank = &run->ranks[number];

        for (uint32_t node = rank->first; node < schedule->first_node[number + 1]; node++) {
            if (run->nodes[node].open == 0) {
                IW_TRY(become_ready(run, rank, node));
            }
        }
        if (rank->queue.count > 0) {
            IW_TRY(schedule_turn(run, number));
        }
    }
    return IW_OK;
}

/* What a block does in a window. */
static iw_status run_block(struct graph_run *run, struct graph_block *block, int64_t window)
{
    const struct iwi_wheel_turns turns = {(const char *)&run->ranks->turn, sizeof *run->ranks};
    struct iwi_wheel_slot *slot;

    if (block->mail_first < run->window_end) {
        IW_TRY(deliver_all(run, block));
    }
    if (iwi_wheel_peek(&block->wheel) > window) {
        return IW_OK;
    }
    IW_TRY(iwi_wheel_turn(run->log, &block->wheel, window, turns, &slot));
    for (size_t i = 0; i < slot->count; i++) {
        iwi_graph_fetch(run, slot->ranks + i, slot->count - i);
        if (run->ranks[slot->ranks[i]].turn >> block->wheel.shift == window) {
            IW_TRY(advance(run, slot->ranks[i]));
        }
    }
    iwi_wheel_clear(&block->wheel);
    return IW_OK;
}

/* The first window in which a block has something to do; INT64_MAX: there is none. */
static int64_t next_window(const struct graph_run *run)
{
    int64_t first = INT64_MAX;

    for (uint32_t b = 0; b < run->block_count; b++) {
        const struct graph_block *block = &run->blocks[b];

        first = iwi_min(first, iwi_wheel_peek(&block->wheel));
        if (block->mail_first != INT64_MAX) {
            first = iwi_min(first, block->mail_first >> block->wheel.shift);
        }
    }
    return first;
}

static iw_status run_windows(struct graph_run *run)
{
    IW_TRY(start_all(run));
    for (uint64_t turn = 0; !run->cpus.is_too_late; turn++) {
        const int64_t window = next_window(run);

        if (window == INT64_MAX) {
            break;
        }
        run->window_end = (window << run->blocks->wheel.shift) + run->lookahead;
        for (uint32_t b = 0; b < run->block_count; b++) {
            IW_TRY(run_block(run, &run->blocks[b], window));
        }
        IW_TRY(iwi_tick_rarely(run->job->ticker, turn));
    }
    return iwi_graph_check_end(run);
}

iw_status iwi_windows_run(const iw_log *log, const struct iwi_job *job, const struct iwi_windows *windows)
{
    struct graph_run run = {.log = log, .job = job, .windows = windows, .schedule = windows->schedule};
    iw_status status = iwi_graph_setup(&run);

    if (status == IW_OK) {
        status = run_windows(&run);
    }
    for (uint32_t rank = 0; status == IW_OK && rank < job->schedule->ranks; rank++) {
        job->end_ps[rank] = run.ranks[rank].cpu.free;
    }
    iwi_graph_release(&run);
    return status;
}
