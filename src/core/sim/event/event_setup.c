/* Sets a run of the event engine up and takes it down.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/event/event_state.h"

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
    iwi_event_queue_release(&run->queue);
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
        status = iwi_event_loop(&run);
    }
    release(&run);
    return status;
}
