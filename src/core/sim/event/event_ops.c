/* The event engine's operations: what each costs, by the rules of docs/explanation/semantics.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "core/sim/event/event_state.h"

/* The node starts on its CPU now: its path so far, kept as that of its start and, to be continued, of its
 * end. NULL unless explaining. */
static iw_split *begin_path(struct event_run *run, uint64_t node, size_t cpu)
{
    struct event_paths *paths = run->paths;

    if (paths == NULL) {
        return NULL;
    }
    paths->start[node] =
        path_of_later(run->nodes[node].ready, &paths->ready[node], run->cpus[cpu].free, &paths->cpu[cpu]);
    paths->end[node] = paths->start[node];
    return &paths->end[node];
}

/* Work that is no compute phase: part of the step that the rank is in. `touch` as in struct iwi_cost.
 */
static iw_time work(struct event_run *run, size_t cpu, uint32_t rank, iw_time t, iw_time d, iw_time touch,
                    iw_split *path)
{
    if (run->watch.open != NULL) {
        iwi_step_busy(&run->watch, rank, d);
    }
    return iwi_event_finish(run, cpu, rank, t, d + touch, path) - touch;
}

/* A compute phase on several cores that starts now; returns its end. */
static iw_time phase_on_cores(struct event_run *run, uint64_t node, size_t cpu, iw_time delay, iw_split *path)
{
    const uint32_t rank = run->rank_of[node];
    const iw_time amount = iwi_event_work(run, node);
    const struct iwi_cores cores = iwi_event_cores(run, rank, cpu);
    const iw_time end = iwi_cores_phase(&cores, run->nodes[node].phase, run->now, amount, delay,
                                        path == NULL ? NULL : &(struct iwi_lost)IWI_LOST_OF(path));

    run->is_too_late |= end >= IWI_LATEST;
    if (path != NULL) {
        path->part_ps[IW_PART_DELAY] += delay;
        path->part_ps[IW_PART_COMPUTE] += amount;
    }
    if (run->watch.open != NULL) {
        iwi_step_phase(&run->watch, rank, run->now, delay, amount, end - run->now - amount - delay);
    }
    return end;
}

/* A compute phase that starts now, with its delay and noise. Returns when the CPU has done all of it but, if
 * it moves bytes, the work that overlaps with moving them. */
static iw_time begin_phase(struct event_run *run, uint64_t node, size_t cpu, iw_split *path)
{
    const struct iwi_job *job = run->job;
    const uint32_t rank = run->rank_of[node];
    const uint64_t phase = run->nodes[node].phase;
    const struct iwi_stream_id id = {job->seed, job->first_trial, rank};
    const iw_time delay = job->has_delays ? iwi_program_delay(job->program, rank, phase + 1) : 0;
    const iw_time amount = iwi_event_work(run, node);
    iw_time extra = 0;

    if (run->cores > 1) {
        return phase_on_cores(run, node, cpu, delay, path);
    }
    if (job->noise != NULL) {
        extra = iwi_noise_phase(job->noise, id, run->noise_words + cpu * run->words,
                                &run->cpus[cpu].next_detour, phase, run->now, iwi_max(amount, job->memory_ps),
                                path == NULL ? NULL : &(struct iwi_lost)IWI_LOST_OF(path));
    }
    if (path != NULL) {
        path->part_ps[IW_PART_DELAY] += delay;
        path->part_ps[IW_PART_COMPUTE] += run->memory == NULL ? amount : 0;
    }
    if (run->watch.open != NULL) {
        iwi_step_phase(&run->watch, rank, run->now, delay, amount, extra);
    }
    return iwi_event_finish(run, cpu, rank, run->now, delay + extra + (run->memory == NULL ? amount : 0),
                            path);
}

/* A calculation that is no phase. */
static iw_time calculate(struct event_run *run, uint64_t node, size_t cpu, iw_split *path)
{
    const iw_time amount = (iw_time)run->schedule->nodes[node].amount;

    if (path != NULL) {
        path->part_ps[IW_PART_COMPUTE] += amount;
    }
    return work(run, cpu, run->rank_of[node], run->now, amount, 0, path);
}

iw_status iwi_event_calc(struct event_run *run, uint64_t node, size_t cpu)
{
    const struct iwi_node *calc = &run->schedule->nodes[node];
    iw_split *path = begin_path(run, node, cpu);
    const bool is_phase = (calc->flags & IWI_NODE_PHASE) != 0;
    const iw_time end = is_phase ? begin_phase(run, node, cpu, path) : calculate(run, node, cpu, path);

    if (is_phase && run->job->noise != NULL && iwi_noise_restarts(run->job->noise)) {
        iwi_event_restart_posting(run, cpu);
    }
    IW_TRY(iwi_event_started(run, node, run->now));
    if (is_phase && run->memory != NULL) {
        return iwi_event_memory_phase(run, node, cpu, end);
    }
    iwi_event_free_cpu(run, cpu, end, path);
    return iwi_event_ended(run, node, end);
}

iw_status iwi_event_send(struct event_run *run, uint64_t node, size_t cpu)
{
    const struct iwi_node *send = &run->schedule->nodes[node];
    const struct iwi_cost cost = iwi_event_cost(run, node);
    const uint32_t rank = run->rank_of[node];
    const size_t nic = (size_t)rank * run->schedule->nic_count + send->nic;
    const iw_time start = iwi_max(run->now, run->send_gap[nic]);
    struct event_node *state = &run->nodes[node];
    iw_split *path = begin_path(run, node, cpu);

    if (path != NULL) {
        *path = path_of_later(run->now, path, run->send_gap[nic], &run->paths->send_gap[nic]);
        run->paths->start[node] = *path;
        run->paths->send_gap[nic] = path_after_gap(path, &cost);
        iwi_path_add(path, &cost, IW_PART_OVERHEAD, cost.send_cpu);
    }
    run->send_gap[nic] = start + cost.gap;
    state->sent = work(run, cpu, rank, start, cost.send_cpu, cost.send_touch, path);
    iwi_event_free_cpu(run, cpu, state->sent, path);
    if (path != NULL) {
        run->paths->sent[node] = *path;
    }
    IW_TRY(iwi_event_started(run, node, start));
    if (iwi_event_is_nonblocking(run, node)) {
        IW_TRY(iwi_event_release_next(run, node, state->sent));
    }
    if (!cost.is_rendezvous) {
        state->known = state->sent;
        IW_TRY(iwi_event_at(run, state->sent, IWI_EVENT_ARRIVED, rank, node));
    }
    return iwi_event_message(run, node);
}

/* The CPU part of a receive whose message is there, on a CPU free at t; `path` leads to t, and then to the
 * end. */
static iw_time serve(struct event_run *run, uint64_t node, size_t cpu, iw_time t, iw_split *path)
{
    const struct iwi_cost cost = iwi_cost_at(run->job->net, run->nodes[node].level, run->nodes[node].bytes);
    const uint32_t rank = run->rank_of[node];
    const size_t nic = (size_t)rank * run->schedule->nic_count + run->schedule->nodes[node].nic;
    const iw_time seen = iwi_max(t, run->nodes[node].known);
    const iw_time start = iwi_max(seen, run->recv_gap[nic]);

    if (path != NULL) {
        *path = path_of_later(t, path, run->nodes[node].known, &run->paths->known[node]);
        *path = path_of_later(seen, path, run->recv_gap[nic], &run->paths->recv_gap[nic]);
        run->paths->recv_gap[nic] = path_after_gap(path, &cost);
        iwi_path_add(path, &cost, IW_PART_OVERHEAD, cost.recv_cpu);
    }
    run->recv_gap[nic] = start + cost.gap;
    return work(run, cpu, rank, start, cost.recv_cpu, cost.recv_touch, path);
}

iw_status iwi_event_receive(struct event_run *run, uint64_t node, size_t cpu)
{
    iw_split *path = begin_path(run, node, cpu);
    const iw_time end = serve(run, node, cpu, run->now, path);

    iwi_event_free_cpu(run, cpu, end, path);
    return iwi_event_ended(run, node, end);
}

/* The sender learns when a rendezvous transfer started: the gap counts from there (rule 5). */
static void shift_send_gap(struct event_run *run, uint64_t node)
{
    const struct iwi_node *send = &run->schedule->nodes[node];
    const struct iwi_cost cost = iwi_event_cost(run, node);
    const size_t nic = (size_t)run->rank_of[node] * run->schedule->nic_count + send->nic;
    const iw_time free = run->nodes[node].known + cost.gap;

    if (cost.is_rendezvous && free > run->send_gap[nic]) {
        run->send_gap[nic] = free;
        if (run->paths != NULL) {
            run->paths->send_gap[nic] = path_after_gap(&run->paths->known[node], &cost);
        }
    }
}

iw_status iwi_event_send_done(struct event_run *run, uint64_t node)
{
    shift_send_gap(run, node);
    if (run->paths != NULL && run->nodes[node].known > run->nodes[node].sent) {
        run->paths->end[node] = run->paths->known[node];
    }
    return iwi_event_ended(run, node, run->now);
}

/* ---- waiting ---- */

/* The receives of a wait, in the order in which it serves them, in run->arrivals. */
static iw_status sort_arrivals(struct event_run *run, uint64_t wait, size_t *count_p)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t base = schedule->first_node[run->rank_of[wait]];
    void *arrivals = run->arrivals;

    *count_p = 0;
    IW_TRY(iwi_grow(run->log, &arrivals, &run->arrival_capacity,
                    (size_t)(schedule->first_dep[wait + 1] - schedule->first_dep[wait]),
                    sizeof *run->arrivals));
    run->arrivals = arrivals;
    for (uint64_t i = schedule->first_dep[wait]; i < schedule->first_dep[wait + 1]; i++) {
        const uint32_t node = schedule->deps[i].node;

        if (schedule->nodes[base + node].kind == IWI_RECV) {
            run->arrivals[(*count_p)++] = (struct iwi_arrival){run->nodes[base + node].known, node};
        }
    }
    iwi_sort_arrivals(run->arrivals, *count_p);
    return IW_OK;
}

/* All requests are known: the CPU has been waiting since `t`. */
static iw_status finish_wait(struct event_run *run, uint64_t wait, size_t cpu)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t base = schedule->first_node[run->rank_of[wait]];
    iw_split *path = run->paths == NULL ? NULL : &run->paths->end[wait];
    iw_time t = run->cpus[cpu].waiting_since;
    size_t count;

    IW_TRY(sort_arrivals(run, wait, &count));
    for (size_t k = 0; k < count; k++) {
        const uint64_t recv = base + run->arrivals[k].index;

        t = serve(run, recv, cpu, t, path);
        run->nodes[recv].is_done = true;
        run->done++;
    }
    for (uint64_t i = schedule->first_dep[wait]; i < schedule->first_dep[wait + 1]; i++) {
        const uint64_t node = base + schedule->deps[i].node;

        if (schedule->nodes[node].kind == IWI_SEND) {
            shift_send_gap(run, node);
            if (path != NULL && run->nodes[node].known > t) {
                *path = run->paths->known[node];
            }
            t = iwi_max(t, run->nodes[node].known);
            run->nodes[node].is_done = true;
            run->done++;
        }
    }
    run->cpus[cpu].waiting = IWI_NO_NODE;
    iwi_event_free_cpu(run, cpu, t, path);
    return iwi_event_ended(run, wait, t);
}

iw_status iwi_event_wait(struct event_run *run, uint64_t node, size_t cpu)
{
    (void)begin_path(run, node, cpu);
    run->cpus[cpu].waiting = node;
    run->cpus[cpu].waiting_since = run->now;
    return run->nodes[node].open == 0 ? finish_wait(run, node, cpu) : IW_OK;
}

iw_status iwi_event_request_known(struct event_run *run, uint64_t node)
{
    const uint64_t wait = run->nodes[node].waiter;
    const size_t cpu = iwi_event_cpu(run, wait);

    run->nodes[wait].open--;
    return run->cpus[cpu].waiting == wait && run->nodes[wait].open == 0 ? finish_wait(run, wait, cpu) : IW_OK;
}
