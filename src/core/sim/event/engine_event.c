/* The reference engine: everything happens in the order of time (docs/explanation/semantics.md). Clear before
 * fast.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes become ready when their dependences are satisfied. Receives are then posted; all others, and receives
 * whose message has arrived, queue for their CPU, which serves them by (ready time, program order).
 * In an in-order schedule each node depends on the one before it, and a wait serves the receives it
 * completes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/event/event_state.h"
#include "core/sim/unreceived.h"

/* Sets a run of the event engine up and takes it down. */

static iw_status event_loop(struct event_run *run);

static void set_ranks_of_nodes(struct event_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        uint64_t phases = 0;

        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            const struct iwi_node *op = &schedule->nodes[node];

            run->rank_of[node] = rank;
            run->nodes[node].waiter = IWI_NO_NODE;
            run->nodes[node].phase = phases;
            phases += op->kind == IWI_CALC && (op->flags & IWI_NODE_PHASE) != 0;
            run->ranks[rank].has_wildcards |=
                op->kind == IWI_RECV && (op->peer == IWI_ANY || op->tag == IWI_ANY);
            if (op->kind == IWI_SEND && op->tag == IWI_ANY) {
                run->ranks[op->peer].has_wildcards = true; /* GOAL: such a send matches every receive */
            }
        }
    }
}

/* Open dependences of each node; in-order: which wait completes a request. */
static void count_dependences(struct event_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t node_count = schedule->first_node[schedule->ranks];

    for (uint64_t node = 0; node < node_count; node++) {
        const uint64_t base = schedule->first_node[run->rank_of[node]];

        run->nodes[node].open = (uint32_t)(schedule->first_dep[node + 1] - schedule->first_dep[node]);
        for (uint64_t i = schedule->first_dep[node]; i < schedule->first_dep[node + 1]; i++) {
            if (schedule->is_in_order) {
                run->nodes[base + schedule->deps[i].node].waiter = node;
            } else {
                run->first_successor[base + schedule->deps[i].node + 1]++;
            }
        }
    }
}

/* Turns the dependences of a DAG around. */
static iw_status list_successors(struct event_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t node_count = schedule->first_node[schedule->ranks];
    uint64_t *fill;

    for (uint64_t node = 0; node < node_count; node++) {
        run->first_successor[node + 1] += run->first_successor[node];
    }
    run->successors =
        iwi_new_array(run->log, (size_t)run->first_successor[node_count], sizeof *run->successors);
    fill = iwi_new_array(run->log, (size_t)node_count, sizeof *fill);
    if (run->successors == NULL || fill == NULL) {
        free(fill);
        return IW_ERR_NOMEM;
    }
    for (uint64_t node = 0; node < node_count; node++) {
        const uint64_t base = schedule->first_node[run->rank_of[node]];

        for (uint64_t i = schedule->first_dep[node]; i < schedule->first_dep[node + 1]; i++) {
            const uint64_t other = base + schedule->deps[i].node;

            run->successors[run->first_successor[other] + fill[other]++] =
                (struct iwi_dep){.node = (uint32_t)(node - base), .is_start = schedule->deps[i].is_start};
        }
    }
    free(fill);
    return IW_OK;
}

static void start_cpus(struct event_run *run)
{
    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        run->ranks[rank].posted_head = IWI_NO_NODE;
        run->ranks[rank].unexpected_head = IWI_NO_MESSAGE;
        run->ranks[rank].last = IWI_NO_NODE;
        for (size_t c = 0; c < run->schedule->cpu_count; c++) {
            const size_t cpu = (size_t)rank * run->schedule->cpu_count + c;

            run->cpus[cpu].queue_head = IWI_NO_NODE;
            run->cpus[cpu].waiting = IWI_NO_NODE;
            run->cpus[cpu].next_detour = IWI_NEVER;
            if (run->job->noise != NULL) {
                const struct iwi_cores cores = iwi_event_cores(run, rank, cpu);

                iwi_cores_begin(&cores);
            }
            iwi_event_restart_posting(run, cpu);
        }
    }
}

static iw_status allocate(struct event_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    const size_t node_count = (size_t)schedule->first_node[schedule->ranks];
    const size_t cpu_count = (size_t)schedule->ranks * schedule->cpu_count;
    const size_t nic_count = (size_t)schedule->ranks * schedule->nic_count;

    run->words = run->job->noise == NULL ? 0 : iwi_noise_words(run->job->noise);
    run->cores = run->job->noise == NULL ? 1 : iw_noise_cores_per_rank(run->job->noise);
    run->post_touch = iwi_post_touch(run->job->net);
    if (!schedule->is_in_order) {
        run->post_next = iwi_new_array(run->log, cpu_count, sizeof *run->post_next);
        run->post_words = iwi_new_array(run->log, cpu_count * run->words, sizeof *run->post_words);
        if (run->post_next == NULL || run->post_words == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    return (run->nodes = iwi_new_array(run->log, node_count, sizeof *run->nodes)) != NULL &&
                   (run->rank_of = iwi_new_array(run->log, node_count, sizeof *run->rank_of)) != NULL &&
                   (run->ranks = iwi_new_array(run->log, schedule->ranks, sizeof *run->ranks)) != NULL &&
                   (run->cpus = iwi_new_array(run->log, cpu_count, sizeof *run->cpus)) != NULL &&
                   (run->send_gap = iwi_new_array(run->log, nic_count, sizeof *run->send_gap)) != NULL &&
                   (run->recv_gap = iwi_new_array(run->log, nic_count, sizeof *run->recv_gap)) != NULL &&
                   (run->noise_words = iwi_new_array(run->log, cpu_count * run->words, sizeof(int64_t))) !=
                       NULL &&
                   (run->other_next =
                        iwi_new_array(run->log, cpu_count * (run->cores - 1), sizeof(iw_time))) != NULL &&
                   (run->other_words = iwi_new_array(run->log, cpu_count * (run->cores - 1) * run->words,
                                                     sizeof(int64_t))) != NULL &&
                   (run->first_successor = iwi_new_array(run->log, node_count + 1, sizeof(uint64_t))) != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

static iw_status allocate_paths(struct event_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    const size_t cpus = (size_t)schedule->ranks * schedule->cpu_count;
    const size_t nics = (size_t)schedule->ranks * schedule->nic_count;
    struct event_paths *paths = run->paths = iwi_new_array(run->log, 1, sizeof *paths);

    if (paths == NULL) {
        return IW_ERR_NOMEM;
    }
    paths->ready = iwi_new_array(run->log, nodes, sizeof(iw_split));
    paths->start = iwi_new_array(run->log, nodes, sizeof(iw_split));
    paths->posted = iwi_new_array(run->log, nodes, sizeof(iw_split));
    paths->sent = iwi_new_array(run->log, nodes, sizeof(iw_split));
    paths->known = iwi_new_array(run->log, nodes, sizeof(iw_split));
    paths->end = iwi_new_array(run->log, nodes, sizeof(iw_split));
    paths->on_way = iwi_new_array(run->log, iwi_net_has_queues(run->job->net) ? nodes : 1, sizeof(iw_split));
    paths->cpu = iwi_new_array(run->log, cpus, sizeof(iw_split));
    paths->send_gap = iwi_new_array(run->log, nics, sizeof(iw_split));
    paths->recv_gap = iwi_new_array(run->log, nics, sizeof(iw_split));
    return paths->ready != NULL && paths->start != NULL && paths->posted != NULL && paths->sent != NULL &&
                   paths->known != NULL && paths->on_way != NULL && paths->end != NULL &&
                   paths->cpu != NULL && paths->send_gap != NULL && paths->recv_gap != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

static void release_paths(struct event_paths *paths)
{
    if (paths != NULL) {
        free(paths->ready);
        free(paths->start);
        free(paths->posted);
        free(paths->sent);
        free(paths->known);
        free(paths->end);
        free(paths->on_way);
        free(paths->cpu);
        free(paths->send_gap);
        free(paths->recv_gap);
        free(paths);
    }
}

static void release(struct event_run *run)
{
    release_paths(run->paths);
    iwi_event_nics_release(&run->nics);
    iwi_event_memory_release(run);
    iwi_step_watch_release(&run->watch);
    free(run->queue.heap);
    free(run->nodes);
    free(run->rank_of);
    free(run->ranks);
    free(run->cpus);
    free(run->send_gap);
    free(run->recv_gap);
    free(run->noise_words);
    free(run->post_next);
    free(run->post_words);
    free(run->other_next);
    free(run->other_words);
    free(run->messages);
    free(run->pairs);
    free(run->arrivals);
    free(run->first_successor);
    free(run->successors);
}

iw_status iwi_event_run(const iw_log *log, const struct iwi_job *job)
{
    struct event_run run = {.log = log, .job = job, .schedule = job->schedule};
    iw_status status = allocate(&run);

    if (status == IW_OK && job->split != NULL) {
        status = allocate_paths(&run);
    }
    if (status == IW_OK && job->memory_ps > 0) {
        status = iwi_event_memory_init(&run);
    }
    if (status == IW_OK) {
        status = iwi_event_nics_init(&run);
    }
    if (status == IW_OK) {
        status = iwi_step_watch_init(log, job->steps, job->schedule->ranks, &run.watch);
    }
    if (status == IW_OK) {
        set_ranks_of_nodes(&run);
        count_dependences(&run);
        status = job->schedule->is_in_order ? IW_OK : list_successors(&run);
    }
    if (status == IW_OK) {
        start_cpus(&run);
        status = event_loop(&run);
    }
    release(&run);
    return status;
}

/* ---- the CPU's queue ---- */

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
    const size_t index = iwi_event_cpu(run, node);
    struct event_cpu *cpu = &run->cpus[index];

    run->nodes[node].ready = run->now;
    enqueue(run, cpu, node);
    return iwi_event_at(run, cpu->free, IWI_EVENT_DISPATCH, run->rank_of[node], index);
}

/* ---- events ---- */

static iw_status on_release(struct event_run *run, uint64_t node, uint64_t cause)
{
    const struct iwi_node *op = &run->schedule->nodes[node];

    if (run->paths != NULL) { /* the last release is the latest */
        run->paths->ready[node] = path_of_cause(run->paths, cause);
        run->paths->start[node] = run->paths->end[node] = run->paths->ready[node];
    }
    if (!run->schedule->is_in_order && --run->nodes[node].open > 0) {
        return IW_OK;
    }
    if (op->kind != IWI_RECV) {
        return wants_cpu(run, node);
    }
    IW_TRY(iwi_event_post(run, node));
    IW_TRY(iwi_event_started(run, node, run->now));
    return iwi_event_is_nonblocking(run, node) ? iwi_event_release_next(run, node, run->now) : IW_OK;
}

static iw_status on_arrived(struct event_run *run, uint64_t node)
{
    if (iwi_event_is_nonblocking(run, node)) {
        return iwi_event_request_known(run, node);
    }
    if (run->schedule->nodes[node].kind == IWI_SEND) {
        return iwi_event_send_done(run, node);
    }
    if (run->paths != NULL && run->nodes[node].known > run->nodes[node].ready) {
        run->paths->ready[node] = run->paths->known[node];
    }
    return wants_cpu(run, node);
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
    case IWI_CALC: IW_TRY(iwi_event_calc(run, node, index)); break;
    case IWI_SEND: IW_TRY(iwi_event_send(run, node, index)); break;
    case IWI_WAIT: return iwi_event_wait(run, node, index);
    default: IW_TRY(iwi_event_receive(run, node, index)); break;
    }
    return cpu->queue_head == IWI_NO_NODE
               ? IW_OK
               : iwi_event_at(run, cpu->free, IWI_EVENT_DISPATCH, run->rank_of[node], index);
}

static iw_status handle(struct event_run *run, const struct iwi_event *event)
{
    run->now = event->time;
    switch ((enum iwi_event_kind)event->kind) {
    case IWI_EVENT_NOTICE: return iwi_event_notice(run, (size_t)event->object);
    case IWI_EVENT_RELEASE: return on_release(run, event->object, event->cause);
    case IWI_EVENT_ARRIVED: return on_arrived(run, event->object);
    case IWI_EVENT_DISPATCH: return on_dispatch(run, (size_t)event->object);
    case IWI_EVENT_NIC_OUT: return iwi_event_nic_out(run, (size_t)event->object);
    case IWI_EVENT_NIC_IN: return iwi_event_nic_in(run, (size_t)event->object);
    case IWI_EVENT_CORE: return iwi_event_on_core(run, (uint32_t)event->object, event->sequence);
    case IWI_EVENT_MEMORY: return iwi_event_on_memory(run, (uint32_t)event->object, event->sequence);
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
                IW_TRY(iwi_event_push_release(run, 0, node, IWI_CAUSE_NONE));
            }
        }
    }
    return IW_OK;
}

/* Where a rank is stuck: its first operation that nothing in its own rank holds back; if there is none, its
 * operations wait for each other in a circle, and the first of all stands for them. */
static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct event_run *run = arg;
    const struct iwi_schedule *schedule = run->schedule;
    uint64_t first = IWI_NOT_STUCK;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        if (run->nodes[node].is_done || iwi_event_is_nonblocking(run, node)) {
            continue;
        }
        if (schedule->is_in_order || run->nodes[node].open == 0) {
            return node;
        }
        first = first == IWI_NOT_STUCK ? node : first;
    }
    return first;
}

static void warn_unreceived(const struct event_run *run)
{
    struct iwi_unreceived unreceived = {.count = 0};

    for (uint32_t rank = 0; run->job->want_warnings && rank < run->schedule->ranks; rank++) {
        for (size_t m = run->ranks[rank].unexpected_head; m != IWI_NO_MESSAGE; m = run->messages[m].link) {
            iwi_unreceived_add(&unreceived, run->messages[m].send);
        }
    }
    iwi_warn_unreceived(run->log, run->schedule, &unreceived);
}

static iw_status event_loop(struct event_run *run)
{
    const uint64_t nodes = run->schedule->first_node[run->schedule->ranks];
    struct iwi_event event;

    IW_TRY(start_all(run));
    for (uint64_t turn = 0; !run->is_too_late && iwi_event_pop(&run->queue, &event); turn++) {
        IW_TRY(handle(run, &event));
        IW_TRY(iwi_tick_rarely(run->job->ticker, turn, run->done, nodes));
    }
    if (run->is_too_late) {
        return iwi_fail_too_late(run->log);
    }
    IW_TRY(iwi_report_stuck_ranks(run->log, run->schedule, stuck_node, run));
    warn_unreceived(run);
    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        run->job->end_ps[rank] = run->ranks[rank].end;
        if (run->watch.open != NULL) {
            iwi_step_watch_end(&run->watch, rank, run->ranks[rank].end);
        }
        if (run->paths != NULL && run->ranks[rank].last != IWI_NO_NODE) {
            run->job->split[rank] = run->paths->end[run->ranks[rank].last];
        }
    }
    return IW_OK;
}
