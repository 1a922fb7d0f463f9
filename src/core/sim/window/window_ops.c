/* The window engine's operations, and the order in which a rank does them (docs/explanation/semantics.md).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The event engine has an event for every dependence that is satisfied, for every operation that becomes
 * ready and for every CPU that may be free. Here dependences are counted at once, with the time at which they
 * will be satisfied, so that an operation is one event, at the time at which it is ready for its CPU; and a
 * receive one more, when it is posted. What the event engine orders by (time, kind, node) at one instant has
 * the same order here; where that makes no difference, there is no event.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/sim/window/window_state.h"

#define STEP static inline __attribute__((always_inline))

/* ---- dependences ---- */

void iwi_window_restart_posting(struct window_run *run, size_t cpu, iw_time t)
{
    if (run->postings != NULL) {
        run->postings[cpu] = (struct iwi_posting){run->next_detour[cpu], t};
        memcpy(run->post_words + cpu * run->words, run->noise_words + cpu * run->words,
               run->words * sizeof *run->post_words);
    }
}

STEP size_t cpu_of(const struct window_run *run, const struct window_place *place,
                   const struct window_node *op)
{
    return (size_t)place->local * run->schedule->cpu_count + op->cpu;
}

/* A receive that is reached at `value`, now or later, is posted then. False: to be asked when it is reached.
 */
STEP bool posts_at_once(struct window_run *run, const struct window_place *place, uint32_t recv)
{
    const struct window_node *op = &place->nodes[recv];

    if (run->posted == NULL) {
        return true;
    }
    run->posted[iwi_window_index(run, place, recv)] = op->value;
    return !run->posts_by_phases && iwi_posts_at_once(&run->postings[cpu_of(run, place, op)], op->value);
}

iw_status iwi_window_become_ready(struct window_run *run, const struct window_place *place, uint32_t node)
{
    struct window_node *op = &place->nodes[node];

    if (op->kind == IWI_WINDOW_RECV && !posts_at_once(run, place, node)) {
        op->flags |= WINDOW_HELD;
        op->open = 1; /* until it is posted */
        return iwi_window_push(run, place->state, op->value, iwi_window_what(IWI_WINDOW_POST, node));
    }
    if (op->kind == IWI_WINDOW_RECV && (op->flags & WINDOW_FIXED) != 0) {
        return iwi_window_ready_fixed(run, place, node);
    }
    return iwi_window_push(run, place->state, op->value,
                           op->kind == IWI_WINDOW_RECV ? iwi_window_what(IWI_WINDOW_POST, node)
                                                       : iwi_window_serve(op->cpu, true, node));
}

enum { STARTS = 1, ENDS = 2 };

/* The node's start (GOAL's irequires), its end, or both let others go. */
STEP iw_status let_go(struct window_run *run, const struct window_place *place, uint32_t node, int which,
                      iw_time start, iw_time end)
{
    const uint32_t first = place->nodes[node].first_successor;
    const uint32_t *successor = place->state->successors + (first - place->state->first_successor);
    const uint32_t count = place->nodes[node + 1].first_successor - first;

    for (uint32_t i = 0; i < count; i++) {
        const bool is_start = (successor[i] & 1) != 0;
        struct window_node *other = &place->nodes[successor[i] / 2];

        if ((which & (is_start ? STARTS : ENDS)) == 0) {
            continue;
        }
        other->value = iwi_max(other->value, is_start ? start : end);
        if (--other->open == 0) {
            IW_TRY(iwi_window_become_ready(run, place, successor[i] / 2));
        }
    }
    return IW_OK;
}

STEP void set_done(struct window_run *run, const struct window_place *place, uint32_t node, iw_time end)
{
    place->nodes[node].open = IWI_WINDOW_DONE;
    place->state->end = iwi_max(place->state->end, end);
    run->done++;
}

/* ---- CPU time ---- */

STEP iw_time finish(struct window_run *run, const struct window_place *place, size_t cpu, iw_time t,
                    iw_time d)
{
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, place->rank * run->cores};
    iw_time end = IWI_LATEST;

    if (t + d <= IWI_LATEST) {
        end = iwi_finish(run->job->noise, id, run->noise_words + cpu * run->words, &run->next_detour[cpu], t,
                         d, NULL);
    }
    run->is_too_late |= end >= IWI_LATEST;
    return end;
}

struct iwi_cores iwi_window_cores(const struct window_run *run, uint32_t local, size_t cpu)
{
    const size_t others = cpu * (run->cores - 1);

    return (struct iwi_cores){
        .noise = run->job->noise,
        .id = {run->job->seed, run->job->first_trial, (run->first_rank + local) * run->cores},
        .words = run->noise_words + cpu * run->words,
        .next = &run->next_detour[cpu],
        .other_words = run->other_words + others * run->words,
        .other_next = run->other_next + others};
}

/* When a compute phase that starts at t ends, with its delay and noise. */
static iw_time finish_phase(struct window_run *run, const struct window_place *place, uint32_t node,
                            size_t cpu, iw_time t)
{
    const struct iwi_job *job = run->job;
    const uint32_t phase = place->nodes[node].tag;
    const iw_time delay =
        job->has_delays ? iwi_program_delay(job->program, place->rank, phase + UINT64_C(1)) : 0;
    const iw_time amount = iwi_job_work(job, place->rank, (iw_time)place->nodes[node].amount);
    const struct iwi_cores cores = iwi_window_cores(run, place->local, cpu);
    iw_time extra = 0;

    if (run->cores > 1) {
        const iw_time end = iwi_cores_phase(&cores, phase, t, amount, delay, NULL);

        run->is_too_late |= end >= IWI_LATEST;
        if (run->posts_by_phases) {
            iwi_window_restart_posting(run, cpu, t);
        }
        return end;
    }
    if (job->noise != NULL) {
        extra = iwi_noise_phase(job->noise, cores.id, cores.words, cores.next, phase, t, amount, NULL);
    }
    if (run->posts_by_phases) {
        iwi_window_restart_posting(run, cpu, t);
    }
    return finish(run, place, cpu, t, delay + extra + amount);
}

/* ---- operations, on their CPU at run->now ---- */

STEP iw_status calculate(struct window_run *run, const struct window_place *place, uint32_t node, size_t cpu)
{
    const iw_time t = run->now;
    const iw_time end = place->nodes[node].kind == IWI_WINDOW_PHASE
                            ? finish_phase(run, place, node, cpu, t)
                            : finish(run, place, cpu, t, (iw_time)place->nodes[node].amount);

    run->cpus[cpu].free = end;
    set_done(run, place, node, end);
    return let_go(run, place, node, STARTS | ENDS, t, end);
}

/* Of the message that a send carries. */
STEP struct iwi_cost cost_of(const struct window_run *run, uint32_t rank, const struct window_node *send)
{
    const uint32_t level = iwi_level_between(&run->job->levels, rank, send->peer);
    struct iwi_cost cost = iwi_cost_at(run->job->net, level, send->amount);

    cost.is_rendezvous |= (send->flags & WINDOW_SYNCHRONOUS) != 0;
    return cost;
}

/* Of an eager message: with others, and noise of the network, this engine does not run. */
STEP iw_time delay_of(const struct window_run *run, uint32_t rank, uint32_t node, const struct iwi_cost *cost,
                      iw_time sent)
{
    const struct iwi_job *job = run->job;
    const uint64_t send = run->schedule->first_node[rank] + node;
    struct iwi_leaving leaving;

    if (job->net_noise == NULL) {
        return 0;
    }
    leaving = (struct iwi_leaving){sent, job->send_numbers[send], rank, run->schedule->nodes[send].peer,
                                   IWI_CARRIED_DATA};
    return iwi_job_delay(job, job->first_trial, cost->inner, &leaving);
}

/* A message to a rank with wildcards is not noticed before an earlier one of the same pair. */
static iw_status keep_pair_order(struct window_run *run, struct window_rank *rank,
                                 struct iwi_window_message *message)
{
    const bool may_overtake = message->notice < rank->latest_notice;
    const bool is_full = rank->flight_count == rank->flight_capacity;
    uint32_t kept = 0;

    for (uint32_t i = 0; (may_overtake || is_full) && i < rank->flight_count; i++) {
        const struct window_flight flight = rank->flights[i];

        if (flight.to == message->to) {
            message->notice = iwi_max(message->notice, flight.notice);
        }
        if (flight.notice > run->now) { /* those seen by now cannot be overtaken any more */
            rank->flights[kept++] = flight;
        }
    }
    rank->flight_count = may_overtake || is_full ? kept : rank->flight_count;
    if (rank->flight_count == rank->flight_capacity) {
        void *flights = rank->flights;
        size_t capacity = rank->flight_capacity;

        IW_TRY(
            iwi_grow(run->log, &flights, &capacity, (size_t)rank->flight_count + 1, sizeof *rank->flights));
        rank->flights = flights;
        rank->flight_capacity = (uint32_t)capacity;
    }
    rank->flights[rank->flight_count++] = (struct window_flight){message->notice, message->to};
    rank->latest_notice = iwi_max(rank->latest_notice, message->notice);
    return IW_OK;
}

STEP iw_status send(struct window_run *run, const struct window_place *place, uint32_t node, size_t cpu)
{
    const struct window_node *op = &place->nodes[node];
    const struct iwi_cost cost = cost_of(run, place->rank, op);
    struct window_gap *gap = &run->gaps[(size_t)place->local * run->schedule->nic_count + op->nic];
    const iw_time start = iwi_max(run->now, gap->send);
    const iw_time sent = finish(run, place, cpu, start, cost.send_cpu + cost.send_touch) - cost.send_touch;
    struct iwi_window_message message = {.notice =
                                             sent + cost.wire + delay_of(run, place->rank, node, &cost, sent),
                                         .bytes = op->amount,
                                         .from = place->rank,
                                         .to = op->peer,
                                         .tag = op->tag,
                                         .number = place->state->send_count++,
                                         .send = node,
                                         .is_rendezvous = cost.is_rendezvous,
                                         .is_fixed = (op->flags & WINDOW_FIXED) != 0};

    gap->send = start + cost.gap;
    run->cpus[cpu].free = sent;
    if (cost.is_rendezvous) {
        message.notice = sent + iwi_cost_notice(cost.costs, run->job->rendezvous);
        IW_TRY(let_go(run, place, node, STARTS, start, 0));
    } else if (place->nodes[node].kind == IWI_WINDOW_SEND_TELLS) {
        IW_TRY(let_go(run, place, node, STARTS, start, 0));
        IW_TRY(iwi_window_push(run, place->state, sent, iwi_window_what(IWI_WINDOW_TOLD, node)));
    } else {
        set_done(run, place, node, sent);
        IW_TRY(let_go(run, place, node, STARTS | ENDS, start, sent));
    }
    if (iwi_window_is_wild(run->plan->looks[op->peer].all)) {
        IW_TRY(keep_pair_order(run, place->state, &message));
    }
    return iwi_window_send(run, message);
}

/* The transfer of a send has started at run->now: the gap counts from there (rule 5). */
STEP iw_status end_send(struct window_run *run, const struct window_place *place, uint32_t node)
{
    const struct window_node *op = &place->nodes[node];
    const struct iwi_cost cost = cost_of(run, place->rank, op);
    struct window_gap *gap = &run->gaps[(size_t)place->local * run->schedule->nic_count + op->nic];

    if (cost.is_rendezvous) {
        gap->send = iwi_max(gap->send, run->now + cost.gap);
    }
    set_done(run, place, node, run->now);
    return let_go(run, place, node, ENDS, 0, run->now);
}

STEP iw_status receive(struct window_run *run, const struct window_place *place, uint32_t node, size_t cpu)
{
    const uint32_t level = iwi_level_between(&run->job->levels, place->nodes[node].open, place->rank);
    const struct iwi_cost cost = iwi_cost_at(run->job->net, level, (uint64_t)place->nodes[node].value);
    struct window_gap *gap =
        &run->gaps[(size_t)place->local * run->schedule->nic_count + place->nodes[node].nic];
    const iw_time start = iwi_max(run->now, gap->recv);
    const iw_time end = finish(run, place, cpu, start, cost.recv_cpu + cost.recv_touch) - cost.recv_touch;

    gap->recv = start + cost.gap;
    run->cpus[cpu].free = end;
    set_done(run, place, node, end);
    return let_go(run, place, node, ENDS, 0, end);
}

STEP iw_status serve(struct window_run *run, const struct window_place *place, uint32_t node, size_t cpu)
{
    switch (place->nodes[node].kind) {
    case IWI_WINDOW_CALC:
    case IWI_WINDOW_PHASE: return calculate(run, place, node, cpu);
    case IWI_WINDOW_SEND:
    case IWI_WINDOW_SEND_TELLS: return send(run, place, node, cpu);
    default: return receive(run, place, node, cpu);
    }
}

/* ---- CPUs ---- */

/* Behind all that were ready before, and those of the same instant with a lower number. */
static void queue_for_cpu(struct window_cpu *cpu, struct window_node *nodes, uint32_t node, iw_time ready)
{
    uint32_t previous, next;

    if (cpu->first == IWI_WINDOW_NONE) {
        cpu->before_last = IWI_WINDOW_NONE;
        cpu->last_ready = ready;
    } else if (cpu->last_ready != ready) {
        cpu->before_last = cpu->last;
        cpu->last_ready = ready;
    }
    previous = cpu->before_last;
    next = previous == IWI_WINDOW_NONE ? cpu->first : nodes[previous].link;
    if (cpu->first != IWI_WINDOW_NONE && cpu->last < node) {
        previous = cpu->last;
        next = IWI_WINDOW_NONE;
    }
    while (next != IWI_WINDOW_NONE && next < node) {
        previous = next;
        next = nodes[next].link;
    }
    nodes[node].link = next;
    *(previous == IWI_WINDOW_NONE ? &cpu->first : &nodes[previous].link) = node;
    cpu->last = next == IWI_WINDOW_NONE ? node : cpu->last;
}

/* A CPU is free, or an operation ready for it: does what is next, now or later. */
STEP iw_status on_serve(struct window_run *run, const struct window_place *place, uint64_t what)
{
    const uint32_t number = iwi_window_cpu_of(what);
    const size_t index = (size_t)place->local * run->schedule->cpu_count + number;
    struct window_cpu *cpu = &run->cpus[index];
    uint32_t node = (uint32_t)what;

    if (iwi_window_is_ready(what)) {
        const bool is_idle = cpu->first == IWI_WINDOW_NONE;

        if (is_idle && cpu->free <= run->now) {
            return serve(run, place, node, index);
        }
        queue_for_cpu(cpu, place->nodes, node, run->now);
        return is_idle ? iwi_window_push(run, place->state, cpu->free, iwi_window_serve(number, false, 0))
                       : IW_OK;
    }
    node = cpu->first;
    cpu->first = place->nodes[node].link;
    if (cpu->before_last == node) {
        cpu->before_last = IWI_WINDOW_NONE;
    }
    IW_TRY(serve(run, place, node, index));
    return cpu->first == IWI_WINDOW_NONE
               ? IW_OK
               : iwi_window_push(run, place->state, cpu->free, iwi_window_serve(number, false, 0));
}

/* ---- the rank ---- */

/* A receive is reached where a detour may hold the CPU: only now is it known when it is posted. */
static void post_behind(struct window_run *run, const struct window_place *place, uint32_t recv)
{
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, place->rank * run->cores};
    struct window_node *op = &place->nodes[recv];
    const size_t cpu = cpu_of(run, place, op);

    run->posted[iwi_window_index(run, place, recv)] = iwi_posting_time(
        run->job->noise, id, run->post_words + cpu * run->words, &run->postings[cpu], run->now);
    op->flags &= (uint8_t)~WINDOW_HELD;
    op->open = 0;
}

static iw_status reach(struct window_run *run, const struct window_place *place, uint32_t recv)
{
    const uint8_t flags = place->nodes[recv].flags;

    if ((flags & WINDOW_HELD) != 0) {
        post_behind(run, place, recv);
    }
    if ((flags & (WINDOW_HELD | WINDOW_FIXED)) == (WINDOW_HELD | WINDOW_FIXED)) {
        return iwi_window_ready_fixed(run, place, recv);
    }
    if ((flags & WINDOW_FIXED) == 0) {
        IW_TRY(iwi_window_post(run, place, recv));
    }
    return let_go(run, place, recv, STARTS, run->now, 0);
}

STEP iw_status on_event(struct window_run *run, const struct window_place *place, uint64_t what)
{
    switch (iwi_window_kind_of(what)) {
    case IWI_WINDOW_POST: return reach(run, place, (uint32_t)what);
    case IWI_WINDOW_TOLD: return end_send(run, place, (uint32_t)what);
    default: return on_serve(run, place, what);
    }
}

static iw_status see_message(struct window_run *run, const struct window_place *place)
{
    const struct iwi_window_message message = iwi_window_inbox_take(&place->state->inbox);

    run->now = message.notice;
    return iwi_window_notice(run, place, &message);
}

iw_status iwi_window_advance(struct window_run *run, const struct window_place *place, iw_time end,
                             iw_time *next_p)
{
    struct window_rank *rank = place->state;
    iw_time next;

    do {
        const iw_time event_time = iwi_window_first(rank);

        if (rank->inbox.count > 0 && rank->inbox.messages[0].notice <= event_time) {
            IW_TRY(see_message(run, place));
        } else {
            run->now = event_time;
            IW_TRY(on_event(run, place, iwi_window_queue_take(&rank->queue).what));
        }
        next = iwi_window_next(rank);
    } while (next < end);
    *next_p = next;
    return IW_OK;
}
