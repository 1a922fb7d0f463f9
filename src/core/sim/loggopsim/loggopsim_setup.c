/* Sets a run under LogGOPSim's rules up, takes its end times and takes it down.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/loggopsim/loggopsim_state.h"
#include "core/sim/unreceived.h"

static iw_status check_job(const iw_log *log, const struct iwi_job *job)
{
    if (job->schedule == NULL || job->schedule->is_in_order) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules run GOAL schedules only: write the program as GOAL first, or use "
                        "`rules` idlewave");
    }
    if (job->noise != NULL && iw_noise_sync(job->noise) == IW_SYNC_PHASE) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules know no phases: use `sync` none or start, or `rules` idlewave");
    }
    if (job->split != NULL) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules cannot explain critical paths: use `rules` idlewave for that");
    }
    return IW_OK;
}

/* ---- nodes ---- */

static iw_status allocate_nodes(struct lgs_run *run)
{
    const iw_log *log = run->log;
    const size_t count = (size_t)run->node_count;
    const size_t dep_count = (size_t)run->schedule->first_dep[count];

    run->elements = iwi_new_array(log, count, sizeof *run->elements);
    run->rank_of = iwi_new_array(log, count, sizeof *run->rank_of);
    run->open_deps = iwi_new_array(log, count, sizeof *run->open_deps);
    run->is_finished = iwi_new_array(log, count, sizeof *run->is_finished);
    run->first_successor = iwi_new_array(log, count + 1, sizeof *run->first_successor);
    run->successors = iwi_new_array(log, dep_count, sizeof *run->successors);
    return run->elements == NULL || run->rank_of == NULL || run->open_deps == NULL ||
                   run->is_finished == NULL || run->first_successor == NULL || run->successors == NULL
               ? IW_ERR_NOMEM
               : IW_OK;
}

static void set_ranks(struct lgs_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            run->rank_of[node] = rank;
            run->open_deps[node] = (uint32_t)(schedule->first_dep[node + 1] - schedule->first_dep[node]);
        }
    }
}

/* Turns the dependences round; first_successor[n + 1] serves as the place of n's next one while filling. */
static void set_successors(struct lgs_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    uint64_t *first = run->first_successor, sum = 0;

    for (uint64_t node = 0; node < run->node_count; node++) {
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            first[schedule->first_node[run->rank_of[node]] + schedule->deps[d].node + 1]++;
        }
    }
    for (uint64_t node = 0; node < run->node_count; node++) {
        const uint64_t count = first[node + 1];

        first[node + 1] = sum;
        sum += count;
    }
    for (uint64_t node = 0; node < run->node_count; node++) {
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            const struct iwi_dep *dep = &schedule->deps[d];
            const uint64_t place = first[schedule->first_node[run->rank_of[node]] + dep->node + 1]++;

            run->successors[place] = (struct lgs_successor){.node = node, .is_start = dep->is_start};
        }
    }
}

/* Step n of a rank is its n-th compute phase in program order; in GOAL files every calc is one. */
static iw_status set_delays(struct lgs_run *run)
{
    const struct iwi_job *job = run->job;
    uint64_t step = 0;

    if (!job->has_delays || job->program->delay_count == 0) {
        return IW_OK;
    }
    run->delay_ps = iwi_new_array(run->log, (size_t)run->node_count, sizeof *run->delay_ps);
    if (run->delay_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t node = 0; node < run->node_count; node++) {
        const uint32_t rank = run->rank_of[node];

        step = node == run->schedule->first_node[rank] ? 0 : step;
        if ((run->schedule->nodes[node].flags & IWI_NODE_PHASE) != 0) {
            run->delay_ps[node] = iwi_program_delay(job->program, rank, ++step);
        }
    }
    return IW_OK;
}

static void clear_facts(struct lgs_run *run)
{
    for (uint64_t node = 0; run->facts != NULL && node < run->node_count; node++) {
        run->facts[node] = (struct iwi_lgs_fact){.match = IWI_LGS_NONE};
    }
}

/* ---- ranks ---- */

static iw_status set_up_ranks(struct lgs_run *run)
{
    const iw_log *log = run->log;
    const size_t ranks = run->schedule->ranks;
    const size_t cpus = ranks * run->schedule->cpu_count, nics = ranks * run->schedule->nic_count;

    run->cpu_free_ps = iwi_new_array(log, cpus, sizeof *run->cpu_free_ps);
    run->send_free_ps = iwi_new_array(log, nics, sizeof *run->send_free_ps);
    run->recv_free_ps = iwi_new_array(log, nics, sizeof *run->recv_free_ps);
    run->posted = iwi_new_array(log, ranks, sizeof *run->posted);
    run->unexpected = iwi_new_array(log, ranks, sizeof *run->unexpected);
    run->groups.first_of_rank = iwi_new_array(log, ranks, sizeof *run->groups.first_of_rank);
    if (run->cpu_free_ps == NULL || run->send_free_ps == NULL || run->recv_free_ps == NULL ||
        run->posted == NULL || run->unexpected == NULL || run->groups.first_of_rank == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t r = 0; r < ranks; r++) {
        run->posted[r] = (struct lgs_list){.first = IWI_LGS_NONE, .last = IWI_LGS_NONE};
        run->unexpected[r] = run->posted[r];
        run->groups.first_of_rank[r] = IWI_LGS_NONE;
    }
    return IW_OK;
}

static iw_status set_up(struct lgs_run *run)
{
    const struct iwi_job *job = run->job;
    const struct iwi_stream_id first_rank = {.seed = job->seed, .trial = job->first_trial, .rank = 0};

    IW_TRY(allocate_nodes(run));
    set_ranks(run);
    set_successors(run);
    IW_TRY(set_delays(run));
    clear_facts(run);
    IW_TRY(set_up_ranks(run));
    return iwi_lgs_noise_init(run->log, &run->noise, job->noise, first_rank, run->schedule->ranks);
}

static void tear_down(struct lgs_run *run)
{
    iwi_lgs_noise_release(&run->noise);
    free(run->elements);
    free(run->rank_of);
    free(run->open_deps);
    free(run->is_finished);
    free(run->delay_ps);
    free(run->first_successor);
    free(run->successors);
    free(run->cpu_free_ps);
    free(run->send_free_ps);
    free(run->recv_free_ps);
    free(run->posted);
    free(run->unexpected);
    free(run->groups.first_of_rank);
    free(run->groups.groups);
    free(run->queue.events);
    free(run->ready);
}

/* ---- the end ---- */

/* What holds a rank: an operation that was let go and did not finish; without one, the first in a circle. */
static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct lgs_run *run = arg;
    uint64_t stuck = IWI_NOT_STUCK;

    for (uint64_t n = run->schedule->first_node[rank]; n < run->schedule->first_node[rank + 1]; n++) {
        if (!run->is_finished[n] && run->open_deps[n] == 0) {
            return n;
        }
        if (!run->is_finished[n] && stuck == IWI_NOT_STUCK) {
            stuck = n;
        }
    }
    return stuck;
}

static void warn_unreceived(const struct lgs_run *run)
{
    struct iwi_unreceived unreceived = {.count = 0};

    for (uint32_t rank = 0; run->job->want_warnings && rank < run->schedule->ranks; rank++) {
        for (uint64_t n = run->unexpected[rank].first; n != IWI_LGS_NONE; n = run->elements[n].next) {
            iwi_unreceived_add(&unreceived, n);
        }
    }
    iwi_warn_unreceived(run->log, run->schedule, &unreceived);
}

static iw_status take_end_times(const struct lgs_run *run)
{
    const size_t cpus = run->schedule->cpu_count;

    if (run->has_overflow) {
        return iwi_fail(run->log, IW_ERR_RANGE,
                        "simulated time exceeds 106 days, the most that can be counted");
    }
    if (run->finished_count < run->node_count) {
        return iwi_report_stuck_ranks(run->log, run->schedule, stuck_node, run);
    }
    warn_unreceived(run);
    for (size_t rank = 0; rank < run->schedule->ranks; rank++) {
        iw_time end_ps = run->cpu_free_ps[rank * cpus];

        for (size_t cpu = 1; cpu < cpus; cpu++) {
            end_ps = iwi_max(end_ps, run->cpu_free_ps[rank * cpus + cpu]);
        }
        run->job->end_ps[rank] = end_ps;
    }
    return IW_OK;
}

iw_status iwi_loggopsim_run_observed(const iw_log *log, const struct iwi_job *job, struct iwi_lgs_fact *facts)
{
    struct lgs_run run = {.log = log, .job = job, .schedule = job->schedule, .net = job->net, .facts = facts};
    iw_status status;

    IW_TRY(check_job(log, job));
    run.node_count = job->schedule->first_node[job->schedule->ranks];
    status = set_up(&run);
    if (status == IW_OK) {
        status = iwi_lgs_loop(&run);
    }
    if (status == IW_OK) {
        status = take_end_times(&run);
    }
    tear_down(&run);
    return status;
}

iw_status iwi_loggopsim_run(const iw_log *log, const struct iwi_job *job)
{
    return iwi_loggopsim_run_observed(log, job, NULL);
}
