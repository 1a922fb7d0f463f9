/* The simulator's front: checks, the noiseless reference, the trials, the explanation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/sim.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/base.h"
#include "sim/choose.h"
#include "sim/plan.h"
#include "sim/step_watch.h"

enum { MAX_LANES = 8, MAX_THREADS = 1024 };

const char *iw_engine_name(iw_engine engine)
{
    static const char *const names[] = {"auto", "event", "flow"};

    return names[engine];
}

const char *iw_part_name(iw_part part)
{
    static const char *const names[] = {"compute", "delay", "o", "L", "g", "G", "rendezvous", "noise"};

    return names[part < IW_PART_NOISE ? part : IW_PART_NOISE];
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t peak_rss_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static iw_status check_opts(const iw_log *log, const iw_sim_opts *opts)
{
    if (opts->trials < 1) {
        return iwi_fail(log, IW_ERR_RANGE, "at least 1 trial is needed");
    }
    if (opts->lanes > MAX_LANES || (opts->lanes & (opts->lanes - 1)) != 0) {
        return iwi_fail(log, IW_ERR_RANGE, "%u lanes are not possible: 1, 2, 4 or 8 are", opts->lanes);
    }
    if (opts->threads > MAX_THREADS) {
        return iwi_fail(log, IW_ERR_RANGE, "%u threads are not possible: at most %d are", opts->threads,
                        MAX_THREADS);
    }
    return IW_OK;
}

/* Units of progress of one batch: rounds, and segments of a trace; or 1 for a schedule. */
static uint64_t ticks_of(const iw_program *program, const struct iwi_plan *plan)
{
    uint64_t rounds = 0;

    if (plan->schedule != NULL) {
        return 1;
    }
    if (plan->code != NULL) {
        return iwi_trace_ticks(program->trace, plan->code);
    }

    for (size_t k = 0; k < program->operation_count; k++) {
        rounds += program->operations[k].algorithm->round_count(&program->operations[k]);
    }
    return rounds * program->repeat;
}

/* Those that are stored: all of a schedule, those of a trace's base ranks. NULL: a pattern. */
static const struct iwi_schedule *stored_nodes(const iw_program *program)
{
    return program->trace != NULL ? program->trace->schedule : program->schedule;
}

static bool has_compute_phases(const iw_program *program)
{
    const struct iwi_schedule *schedule = stored_nodes(program);

    if (schedule == NULL) {
        bool places_compute = false;

        for (size_t k = 0; k < program->operation_count; k++) {
            places_compute |= program->operations[k].algorithm->places_compute;
        }
        return places_compute || iwi_program_starts_with_phase(program);
    }
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        if (schedule->nodes[node].flags & IWI_NODE_PHASE) {
            return true;
        }
    }
    return false;
}

static void warn_of_idle_noise(const iw_log *log, const iw_program *program, const iw_noise *noise)
{
    if (noise != NULL && iwi_noise_has_phases(noise) && !has_compute_phases(program)) {
        iwi_warn(
            log,
            "phase-exp, phase-pareto, bernoulli and synchronising by phase act on compute phases, but the "
            "program has none: give it work, for instance --compute 1ms");
    }
}

/* At least as large as any message: some operations join the blocks of all ranks. */
static uint64_t largest_message(const iw_program *program)
{
    const struct iwi_schedule *schedule = stored_nodes(program);
    const struct iwi_operation *operations =
        program->trace != NULL ? program->trace->operations : program->operations;
    const size_t count = program->trace != NULL ? program->trace->operation_count : program->operation_count;
    uint64_t largest = 0;

    for (size_t k = 0; k < count; k++) {
        const struct iwi_operation *op = &operations[k];
        const uint64_t bytes = iwi_operation_joins_blocks(op) ? op->bytes * op->ranks : op->bytes;

        largest = bytes > largest ? bytes : largest;
    }
    for (uint64_t node = 0; schedule != NULL && node < schedule->first_node[schedule->ranks]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];

        largest = op->kind == IWI_SEND && op->amount > largest ? op->amount : largest;
    }
    return largest;
}

static iw_status check_message_costs(const iw_log *log, const iw_program *program, const iw_net *net)
{
    const uint64_t largest = largest_message(program);

    iw_fs_per_byte dearest = net->G > net->O ? net->G : net->O;

    for (uint32_t i = 0; i < net->segment_count; i++) {
        dearest = iwi_max(dearest, iwi_max(net->segments[i].G, net->segments[i].O));
    }
    if (iwi_bytes_cost(dearest, largest) > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "messages of up to %" PRIu64 " bytes take more than 10 days on this network",
                        largest);
    }
    return IW_OK;
}

/* One trial without lanes and threads, for reference and explanation. */
static iw_status run_single(const iw_log *log, const struct iwi_batches *like, iw_time *makespan_p)
{
    struct iwi_batches single = *like;

    single.trials = 1;
    single.lanes = single.threads = 1;
    single.makespan_ps = makespan_p;
    single.end_ps = NULL;
    return iwi_batches_run(log, &single);
}

static bool is_noiseless(const struct iwi_batches *batches)
{
    return batches->job.noise == NULL && batches->job.program->delay_count == 0;
}

static iw_status run_noiseless(const iw_log *log, const struct iwi_batches *batches, iw_time *makespan_p)
{
    struct iwi_batches noiseless = *batches;

    noiseless.job.noise = NULL;
    noiseless.job.steps = NULL;
    noiseless.job.has_delays = false;
    noiseless.job.want_warnings = true;
    noiseless.job.ticker = NULL;
    return run_single(log, &noiseless, makespan_p);
}

/* Pointers into the array of makespans: by time, then by trial. */
static int compare_trials(const void *left, const void *right)
{
    const iw_time *a = *(const iw_time *const *)left;
    const iw_time *b = *(const iw_time *const *)right;

    return *a != *b ? (*a > *b) - (*a < *b) : (a > b) - (a < b);
}

/* The trial whose makespan is the lower median. */
static iw_status median_trial(const iw_log *log, const iw_sim_result *result, uint64_t *trial_p)
{
    const iw_time **order = iwi_new_array(log, (size_t)result->trials, sizeof(iw_time *));

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t t = 0; t < result->trials; t++) {
        order[t] = &result->makespan_ps[t];
    }
    qsort(order, (size_t)result->trials, sizeof *order, compare_trials);
    *trial_p = (uint64_t)(order[(result->trials - 1) / 2] - result->makespan_ps);
    free(order);
    return IW_OK;
}

static void summarize_splits(const struct iwi_batches *batches, const iw_split *split, const iw_time *end,
                             iw_explain *explain)
{
    const uint32_t ranks = batches->job.program->ranks;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (end[rank] > end[explain->last_rank]) {
            explain->last_rank = rank;
        }
        for (size_t part = 0; part < IW_PARTS; part++) {
            explain->mean_ps[part] += (double)split[rank].part_ps[part] / ranks;
        }
        explain->mean_hops += (double)split[rank].hops / ranks;
    }
    explain->last = split[explain->last_rank];
}

static iw_status run_explain(const iw_log *log, const struct iwi_batches *batches, iw_sim_result *result)
{
    const uint32_t ranks = result->ranks;
    struct iwi_batches explaining = *batches;
    uint64_t trial = 0;
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(median_trial(log, result, &trial));
    result->explain = iwi_new_array(log, 1, sizeof *result->explain);
    explaining.job.first_trial += trial;
    explaining.job.ticker = NULL;
    explaining.job.steps = NULL;
    explaining.trials = 1;
    explaining.lanes = explaining.threads = 1;
    explaining.end_ps = iwi_new_array(log, ranks, sizeof(iw_time));
    explaining.job.split = iwi_new_array(log, ranks, sizeof(iw_split));
    if (result->explain != NULL && explaining.end_ps != NULL && explaining.job.split != NULL) {
        explaining.makespan_ps = &result->explain->makespan_ps;
        status = iwi_batches_run(log, &explaining);
    }
    if (status == IW_OK) {
        result->explain->trial = explaining.job.first_trial;
        summarize_splits(batches, explaining.job.split, explaining.end_ps, result->explain);
    }
    free(explaining.end_ps);
    free(explaining.job.split);
    return status;
}

/* The first of several trials once more, to tell its steps. */
static iw_status run_steps(const iw_log *log, const struct iwi_batches *batches, const iw_step_sink *steps)
{
    struct iwi_batches telling = *batches;
    iw_time makespan;

    telling.job.ticker = NULL;
    telling.job.steps = steps;
    return run_single(log, &telling, &makespan);
}

/* Everything of a result that is known before the trials. */
static iw_status new_result(const iw_log *log, const iw_program *program, const iw_sim_opts *opts,
                            const struct iwi_plan *plan, const struct iwi_batches *batches,
                            iw_sim_result **result_p)
{
    iw_sim_result *result = iwi_new_array(log, 1, sizeof *result);

    if (result == NULL) {
        return IW_ERR_NOMEM;
    }
    result->ranks = program->ranks;
    result->trials = opts->trials;
    result->seed = opts->seed;
    result->first_trial = opts->first_trial;
    result->engine = plan->engine;
    result->rules = opts->rules;
    result->rendezvous = opts->rendezvous;
    (void)snprintf(result->engine_note, sizeof result->engine_note, "%s", plan->note);
    result->lanes = batches->lanes;
    result->threads = batches->threads;
    result->messages = iw_program_messages(program);
    result->makespan_ps = iwi_new_array(log, (size_t)opts->trials, sizeof(iw_time));
    if (opts->want_end_times && opts->trials <= SIZE_MAX / program->ranks) {
        result->end_ps = iwi_new_array(log, (size_t)opts->trials * program->ranks, sizeof(iw_time));
    }
    if (result->makespan_ps == NULL || (opts->want_end_times && result->end_ps == NULL)) {
        iw_sim_result_free(result);
        return IW_ERR_NOMEM;
    }
    *result_p = result;
    return IW_OK;
}

static iw_status run_trials(const iw_log *log, struct iwi_batches *batches, const iw_sim_opts *opts,
                            iw_sim_result *result)
{
    const uint64_t batch_count = (batches->trials + batches->lanes - 1) / batches->lanes;
    double begin;
    iw_status status;

    batches->job.want_warnings = is_noiseless(batches);
    if (!is_noiseless(batches)) {
        IW_TRY(run_noiseless(log, batches, &result->noiseless_ps));
    }
    if (opts->progress.update != NULL) {
        batches->job.ticker =
            iwi_ticker_new(log, opts->progress, batch_count * ticks_of(batches->job.program, batches->plan));
        if (batches->job.ticker == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    batches->makespan_ps = result->makespan_ps;
    batches->end_ps = result->end_ps;
    begin = seconds_now();
    status = iwi_batches_run(log, batches);
    result->engine_seconds = seconds_now() - begin;
    if (is_noiseless(batches)) {
        result->noiseless_ps = result->makespan_ps[0];
    }
    iwi_ticker_free(batches->job.ticker);
    if (status == IW_OK && opts->steps.step != NULL && batches->job.steps == NULL) {
        status = run_steps(log, batches, &opts->steps);
    }
    if (status == IW_OK && opts->want_explain) {
        status = run_explain(log, batches, result);
    }
    result->peak_rss_bytes = peak_rss_bytes();
    return status;
}

iw_status iw_simulate(const iw_log *log, const iw_program *program, const iw_net *net, const iw_noise *noise,
                      const iw_sim_opts *opts, iw_sim_result **result_p)
{
    struct iwi_plan plan;
    struct iwi_batches batches = {.plan = &plan, .trials = opts->trials};
    const bool tells_steps = opts->steps.step != NULL && opts->trials == 1;
    iw_sim_result *result = NULL;
    iw_status status;

    IW_TRY(check_opts(log, opts));
    IW_TRY(iw_net_check(log, net));
    if (opts->rules == IW_RULES_LOGGOPSIM && net->segment_count > 0) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "network '%s' has size segments, which LogGOPSim's rules do not know; use the rules of "
            "idlewave, or give --L, --o, --g and --G for one line over all sizes",
            net->name);
    }
    IW_TRY(check_message_costs(log, program, net));
    warn_of_idle_noise(log, program, noise);
    IW_TRY(iwi_plan_init(log, program, net, opts, &plan));
    batches.job = (struct iwi_job){.program = program,
                                   .schedule = plan.schedule,
                                   .net = net,
                                   .has_delays = true,
                                   .noise = noise != NULL && iw_noise_source_count(noise) > 0 ? noise : NULL,
                                   .rendezvous = opts->rendezvous,
                                   .seed = opts->seed,
                                   .first_trial = opts->first_trial,
                                   .steps = tells_steps ? &opts->steps : NULL,
                                   .has_few_steps = opts->steps.step != NULL && iwi_steps_are_few(program)};
    batches.lanes = tells_steps ? 1 : iwi_choose_lanes(program, plan.engine, opts);
    batches.threads = iwi_choose_threads(program, opts, batches.lanes);
    status = opts->steps.step != NULL ? iwi_steps_check(log, opts->rules, plan.schedule) : IW_OK;
    if (status == IW_OK) {
        status = new_result(log, program, opts, &plan, &batches, &result);
    }
    if (status == IW_OK) {
        status = run_trials(log, &batches, opts, result);
    }
    iwi_plan_release(&plan);
    if (status != IW_OK) {
        iw_sim_result_free(result);
        return status;
    }
    *result_p = result;
    return IW_OK;
}

void iw_sim_result_free(iw_sim_result *result)
{
    if (result != NULL) {
        free(result->makespan_ps);
        free(result->end_ps);
        free(result->explain);
        free(result);
    }
}
