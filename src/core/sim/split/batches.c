/* Runs trials in batches of lanes over threads. Which thread of which process runs which batch never changes
 * a result.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/shared_log.h"
#include "core/program/trace_program.h"
#include "core/sim/plan.h"
#include "core/sim/split/forecast.h"

/* How much crosses the borders of blocks: counted on a sample of ranks and rounds. */

enum { SAMPLED_ROUNDS = 32, SAMPLED_RANKS = 64, SAMPLED_SENDS = 4096, LARGEST_FAN = SAMPLED_SENDS };

/* Of a round: values that leave the block [first, end), by a sample of its ranks. */
static double leaving(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round,
                      uint32_t first, uint32_t end)
{
    const uint32_t fan = round->fan > 0 ? round->fan : 1;
    const uint32_t count = end - first, few = SAMPLED_SENDS / fan;
    const uint32_t most = few < SAMPLED_RANKS ? few : SAMPLED_RANKS, samples = count < most ? count : most;
    struct iwi_msg *messages = calloc(2 * (size_t)fan, sizeof *messages);
    struct iwi_role role = {.sends = messages};
    double left = 0.0;

    if (messages == NULL) {
        return 0.0;
    }
    role.recvs = messages + fan;
    for (uint32_t n = 0; n < samples; n++) {
        const uint32_t rank = first + (uint32_t)((uint64_t)n * count / samples);

        op->algorithm->role(op, index, rank, &role);
        for (uint32_t s = 0; s < role.send_count; s++) {
            left += role.sends[s].peer < first || role.sends[s].peer >= end;
        }
    }
    free(messages);
    return samples == 0 ? 0.0 : left * count / samples;
}

/* The most that leaves one of three blocks: the first, one in the middle, the last. */
static double leaving_most(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round,
                           uint32_t members)
{
    const uint64_t blocks[] = {0, members / 2, members - 1};
    double most = 0.0;

    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) {
        const uint32_t first = (uint32_t)(op->ranks * blocks[k] / members),
                       end = (uint32_t)(op->ranks * (blocks[k] + 1) / members);

        most = fmax(most, round->fan <= LARGEST_FAN
                              ? leaving(op, index, round, first, end)
                              : (double)(end - first) * round->fan * (1.0 - 1.0 / members));
    }
    return most;
}

double iwi_active_ranks(const struct iwi_round *round)
{
    double active = 0.0;

    for (uint32_t k = 0; k < round->range_count; k++) {
        active += round->active[k].count;
    }
    return active;
}

/* Of one operation over all ranks. A sender and its receiver work one after the other, whoever has
 * them: a round is no faster than two ranks. */
static struct iwi_border_traffic crossing_of(const struct iwi_operation *op, uint32_t members)
{
    const uint64_t rounds = op->algorithm->round_count(op);
    const uint64_t samples = rounds < SAMPLED_ROUNDS ? rounds : SAMPLED_ROUNDS;
    struct iwi_border_traffic crossing = {0};
    double active = 0.0, busiest = 0.0;
    uint64_t crossed = 0;

    for (uint64_t n = 0; n < samples; n++) {
        const uint64_t index = n * rounds / samples;
        struct iwi_round round;
        double left;

        op->algorithm->round(op, index, &round);
        left = leaving_most(op, index, &round, members);
        crossing.values += left * (double)rounds / (double)samples;
        crossed += left > 0.0;
        active += iwi_active_ranks(&round);
        busiest += fmax(iwi_active_ranks(&round) / members, fmin(iwi_active_ranks(&round), 2.0));
    }
    crossing.exchanges = samples == 0 ? 0 : crossed * rounds / samples;
    crossing.share = active > 0.0 ? busiest / active : 1.0 / members;
    return crossing;
}

static void add(struct iwi_border_traffic *sum, const struct iwi_border_traffic *more, uint64_t times)
{
    sum->values += more->values * (double)times;
    sum->exchanges += more->exchanges * times;
    sum->share = fmax(sum->share, more->share);
}

/* Collectives over all ranks; inside replicas only where these are cut, half of all messages then. */
static struct iwi_border_traffic crossing_of_trace(const struct iwi_trace_program *trace, uint32_t members)
{
    struct iwi_border_traffic *each = calloc(trace->operation_count + 1, sizeof *each);
    bool *is_known = calloc(trace->operation_count + 1, sizeof *is_known);
    struct iwi_border_traffic sum = {.share = 1.0 / members};

    for (uint64_t k = 0; each != NULL && is_known != NULL && k < trace->collective_count; k++) {
        const struct iwi_trace_collective *collective = &trace->collectives[k];
        const uint32_t op = collective->operation;

        if (iwi_trace_is_world(trace, collective->comm)) {
            if (!is_known[op]) {
                each[op] = crossing_of(&trace->operations[op], members);
                is_known[op] = true;
            }
            add(&sum, &each[op], 1);
        }
    }
    if (trace->replicas < members) {
        sum.values += 0.5 * (double)trace->messages / members;
        sum.exchanges += trace->messages / members / 16;
    }
    free(each);
    free(is_known);
    return sum;
}

struct iwi_border_traffic iwi_border_traffic_of(const iw_program *program, uint32_t members)
{
    struct iwi_border_traffic sum = {.share = 1.0 / members};

    if (program->trace != NULL) {
        return crossing_of_trace(program->trace, members);
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_border_traffic one = crossing_of(&program->operations[k], members);

        add(&sum, &one, program->repeat);
    }
    if (program->schedule != NULL) { /* nobody knows without looking at all of it: half */
        sum.values = 0.25 * (double)program->schedule->first_node[program->ranks] / members;
        sum.exchanges = (uint64_t)sum.values / 16;
    }
    return sum;
}

struct pool {
    const struct iwi_batches *batches;
    struct iwi_shared_log log;
    pthread_mutex_t lock; /* of the fields below */
    uint64_t next_trial,
        at_once; /* trials that a thread takes at once: a batch, or neighbours begun together */
    iw_status status;
    uint64_t failed_trial; /* the lowest of those that failed, with its error */
    char *error;
};

/* A worker's log: warnings go on at once, its error waits for those of other workers. */
struct worker_log {
    const iw_log *shared;
    char *error; /* NULL: none, or it could not be kept */
    iw_log log;
};

/* Keeps the results of a batch: element r * lanes + l of `end` is rank r's end in lane l; of ranks that are
 * all alike there is one. */
static void keep(const struct iwi_batches *batches, uint64_t first, uint32_t lanes, const iw_time *end,
                 bool is_alike)
{
    const size_t ranks = batches->job.program->ranks, count = (is_alike ? 1 : ranks) * lanes;

    for (uint32_t lane = 0; lane < lanes && first + lane < batches->trials; lane++) {
        iw_time makespan = 0;

        for (size_t i = lane; i < count; i += lanes) {
            makespan = iwi_max(makespan, end[i]);
        }
        batches->makespan_ps[first + lane] = makespan;
        for (size_t rank = 0; rank < ranks && batches->end_ps != NULL; rank++) {
            batches->end_ps[(size_t)(first + lane) * ranks + rank] =
                end[(is_alike ? 0 : rank) * lanes + lane];
        }
    }
}

iw_status iwi_plan_run_flow(const struct iwi_plan *plan, struct iwi_flow *flow)
{
    if (plan->code != NULL) {
        return iwi_flow_trace(flow, plan->code);
    }
    return plan->runs_stored ? iwi_flow_schedule(flow, plan->turns) : iwi_flow_pattern(flow);
}

/* One trial by an engine that keeps nothing from one to the next. Graphs are explained, and told step by
 * step, by the event engine, whose times are the same. */
static iw_status run_alone(const struct iwi_plan *plan, const iw_log *log, const struct iwi_job *job)
{
    if (plan->rules == IW_RULES_LOGGOPSIM) {
        return iwi_loggopsim_run(log, job);
    }
    if (job->split == NULL && job->steps == NULL && plan->graph != NULL) {
        return iwi_graph_run(log, job, plan->graph);
    }
    return plan->window != NULL && job->split == NULL && job->steps == NULL
               ? iwi_window_run(log, job, plan->window)
               : iwi_event_run(log, job);
}

static iw_status run_batch(struct iwi_flow *flow, const struct iwi_batches *batches, const iw_log *log,
                           struct iwi_job *job, uint64_t first)
{
    job->first_trial = batches->job.first_trial + first;
    if (flow == NULL) {
        IW_TRY(run_alone(batches->plan, log, job));
        keep(batches, first, 1, job->end_ps, false);
    } else {
        iwi_flow_restart(flow, job);
        IW_TRY(iwi_plan_run_flow(batches->plan, flow));
        if (flow->is_too_late) {
            return iwi_fail_too_late(log);
        }
        iwi_flow_end_steps(flow);
        keep(batches, first, job->lanes, flow->cpu, flow->is_alike);
        if (job->split != NULL) {
            IW_TRY(iwi_flow_take_paths(flow, job->split));
        }
    }
    if (batches->paths.take != NULL) {
        batches->paths.take(batches->paths.arg, first, job->split, flow == NULL ? job->end_ps : flow->cpu);
    }
    return iwi_tick(job->ticker, batches->plan->schedule != NULL ? 1 : 0);
}

/* Takes the next batch; false when there is none, or somebody failed. */
static bool take(struct pool *pool, uint64_t *first_p)
{
    bool has_work;

    pthread_mutex_lock(&pool->lock);
    has_work = pool->status == IW_OK && pool->next_trial < pool->batches->trials;
    *first_p = pool->next_trial;
    pool->next_trial += has_work ? pool->at_once * iwi_processes(pool->batches) : 0;
    pthread_mutex_unlock(&pool->lock);
    return has_work;
}

/* *first_p becomes the batch that failed, if one did. */
static iw_status work_on(struct pool *pool, const iw_log *log, struct iwi_job *job, uint64_t *first_p)
{
    struct iwi_flow *flow = NULL;
    iw_status status = IW_OK;
    uint64_t first;

    if (iwi_plan_has_flow(pool->batches->plan)) {
        IW_TRY(iwi_flow_new(log, job, &flow));
    }
    while (status == IW_OK && take(pool, &first)) {
        const uint64_t left = pool->batches->trials - first;
        const uint64_t end = first + (left < pool->at_once ? left : pool->at_once);

        for (; status == IW_OK && first < end; first += job->lanes) {
            status = run_batch(flow, pool->batches, log, job, first);
            *first_p = first;
        }
    }
    iwi_flow_free(flow);
    return status;
}

/* What each worker has for itself: room for ends, and for the paths of a trial. */
static bool has_room(const iw_log *log, const struct iwi_batches *batches, struct iwi_job *job)
{
    const bool needs_ends = !iwi_plan_has_flow(batches->plan);
    const bool needs_paths = batches->paths.take != NULL;
    const size_t ranks = job->program->ranks;

    job->end_ps = needs_ends ? iwi_new_array(log, ranks, sizeof *job->end_ps) : NULL;
    job->split = needs_paths ? iwi_new_array(log, ranks, sizeof *job->split) : job->split;
    return (!needs_ends || job->end_ps != NULL) && (!needs_paths || job->split != NULL);
}

static void keep_error(void *arg, iw_log_level level, const char *text)
{
    struct worker_log *own = arg;

    if (level == IW_LOG_ERROR && own->error == NULL) {
        own->error = strdup(text);
        if (own->error != NULL) {
            return;
        }
    }
    own->shared->write(own->shared->arg, level, text);
}

/* Trials are taken in order, so all before one that failed run to their ends, and the lowest that fails is
 * the same however fast the workers are. */
static void fail(struct pool *pool, uint64_t trial, iw_status status, char *error)
{
    char *unused = error;

    pthread_mutex_lock(&pool->lock);
    if (pool->status == IW_OK || trial < pool->failed_trial) {
        unused = pool->error;
        pool->status = status;
        pool->failed_trial = trial;
        pool->error = error;
    }
    pthread_mutex_unlock(&pool->lock);
    free(unused);
}

static void *worker(void *arg)
{
    struct pool *pool = arg;
    struct worker_log own = {.shared = &pool->log.log, .log = {keep_error, &own}};
    const iw_log *log = own.shared->write == NULL ? own.shared : &own.log;
    struct iwi_job job = pool->batches->job;
    uint64_t first = 0;
    iw_status status;

    job.lanes = pool->batches->lanes;
    job.begins_ahead = pool->at_once > job.lanes;
    status = has_room(log, pool->batches, &job) ? work_on(pool, log, &job, &first) : IW_ERR_NOMEM;
    free(job.end_ps);
    if (pool->batches->paths.take != NULL) {
        free(job.split);
    }
    if (status != IW_OK) {
        fail(pool, first, status, own.error);
    }
    return NULL;
}

bool iwi_batches_begin_ahead(const struct iwi_batches *batches)
{
    const struct iwi_job *job = &batches->job;
    const uint32_t workers = batches->team != NULL ? 1 : batches->threads * iwi_processes(batches);

    return iwi_plan_has_flow(batches->plan) && batches->lanes == 1 && job->noise != NULL &&
           iwi_noise_begins_together(job->noise) && job->first_trial % IWI_DRAW_TRIALS == 0 &&
           batches->trials >= (uint64_t)workers * IWI_DRAW_TRIALS;
}

iw_status iwi_batches_run(const iw_log *log, const struct iwi_batches *batches)
{
    struct pool pool = {.batches = batches,
                        .at_once = iwi_batches_begin_ahead(batches) ? IWI_DRAW_TRIALS : batches->lanes,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .status = IW_OK};
    pthread_t *threads = iwi_new_array(log, batches->threads, sizeof *threads);
    uint32_t started = 0;

    if (threads == NULL) {
        return IW_ERR_NOMEM;
    }
    pool.next_trial = batches->link == NULL ? 0 : pool.at_once * batches->link->rank;
    iwi_shared_log_init(&pool.log, log);
    while (started + 1 < batches->threads && pthread_create(&threads[started], NULL, worker, &pool) == 0) {
        started++;
    }
    (void)worker(&pool);
    for (uint32_t t = 0; t < started; t++) {
        pthread_join(threads[t], NULL);
    }
    free(threads);
    if (pool.error != NULL) {
        iwi_error(log, "%s", pool.error);
    }
    free(pool.error);
    pthread_mutex_destroy(&pool.lock);
    iwi_shared_log_release(&pool.log);
    return pool.status;
}
