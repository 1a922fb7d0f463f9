/* The simulator's front: checks, the noiseless reference, the trials, the explanation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/sim.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/net/memory.h"
#include "core/net/net.h"
#include "core/sim/check.h"
#include "core/sim/plan.h"
#include "core/sim/step_watch.h"

const char *iw_state_name(iw_state state)
{
    static const char *const names[IW_STATES] = {"delay", "compute", "noise", "comm", "wait"};

    return (unsigned)state < IW_STATES ? names[state] : "?";
}

const char *iw_part_name(iw_part part)
{
    static const char *const names[] = {"compute", "memory",     "delay",         "o",    "L", "g",
                                        "G",       "rendezvous", "network noise", "noise"};

    return names[part < IW_PART_NOISE ? part : IW_PART_NOISE];
}

/* Between two calls of a user's progress. */
static const int64_t TICK_NS = 100000000;

static uint64_t peak_rss_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

uint64_t iwi_batch_ticks(const struct iwi_batches *batches)
{
    const iw_program *program = batches->job.program;
    uint64_t rounds = 0;

    if (batches->plan->schedule != NULL) {
        return 1;
    }
    if (batches->plan->code != NULL) {
        return iwi_trace_ticks(program->trace, batches->plan->code);
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        rounds += program->operations[k].algorithm->round_count(&program->operations[k]);
    }
    return rounds * program->repeat;
}

/* One trial for reference, without lanes; by the team if there is one, else by each process for itself. */
static iw_status run_single(const iw_log *log, const struct iwi_batches *like, iw_time *makespan_p)
{
    struct iwi_batches single = *like;

    single.trials = 1;
    single.lanes = single.threads = 1;
    single.link = NULL;
    single.makespan_ps = makespan_p;
    single.end_ps = NULL;
    single.wants_ends = false;
    return iwi_parallel_run(log, &single);
}

bool iwi_is_noiseless(const struct iwi_batches *batches)
{
    return batches->job.noise == NULL && batches->job.program->delay_count == 0 &&
           batches->job.node_factors == NULL && batches->job.net_noise == NULL;
}

iw_status iwi_run_noiseless(const iw_log *log, const struct iwi_batches *batches, iw_time *makespan_p)
{
    struct iwi_batches noiseless = *batches;

    noiseless.job.noise = NULL;
    noiseless.job.net_noise = NULL;
    noiseless.job.node_factors = NULL;
    noiseless.job.steps = NULL;
    noiseless.job.has_delays = false;
    noiseless.job.want_warnings = true;
    noiseless.is_reference = true;
    return run_single(log, &noiseless, makespan_p);
}

/* It is known, or a restart point has been found behind it. */
static bool is_past_reference(const struct iwi_batches *batches)
{
    return batches->noiseless_ps > 0 ||
           (batches->checkpoint != NULL && batches->checkpoint->found.generation > 0 &&
            batches->checkpoint->found.is_trials != 0);
}

/* The first of several trials once more, to tell its steps. */
static iw_status run_steps(const iw_log *log, const struct iwi_batches *batches, const iw_step_sink *steps)
{
    struct iwi_batches telling = *batches;
    iw_time makespan;

    telling.team = NULL;
    telling.job.steps = steps;
    return run_single(log, &telling, &makespan);
}

static double slowest_of(const struct iwi_job *job)
{
    int64_t slowest = 0;

    for (uint32_t node = 0;
         job->node_factors != NULL && node <= (job->program->ranks - 1) / job->ranks_per_node; node++) {
        slowest = iwi_max(slowest, job->node_factors[node]);
    }
    return (double)slowest / IWI_FACTOR_UNIT;
}

/* Everything of a result that is known before the trials. */
static iw_status new_result(const iw_log *log, const iw_program *program, const iw_sim_opts *opts,
                            const struct iwi_plan *plan, const struct iwi_batches *batches,
                            iw_sim_result **result_p)
{
    /* a team sends them to the first process; where trials are split, each process has some */
    const bool keeps_ends = opts->want_end_times && (batches->team == NULL || iwi_is_first(opts));
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
    result->processes = opts->link == NULL ? 1 : opts->link->size;
    result->is_resumed = batches->checkpoint != NULL && batches->checkpoint->found.generation > 0;
    result->parallel = batches->team != NULL ? IW_PARALLEL_RANKS : IW_PARALLEL_TRIALS;
    result->messages = iw_program_messages(program);
    result->slowest_node = slowest_of(&batches->job);
    result->makespan_ps = iwi_new_array(log, (size_t)opts->trials, sizeof(iw_time));
    if (keeps_ends && opts->trials <= SIZE_MAX / program->ranks) {
        result->end_ps = iwi_new_array(log, (size_t)opts->trials * program->ranks, sizeof(iw_time));
    }
    if (result->makespan_ps == NULL || (keeps_ends && result->end_ps == NULL)) {
        iw_sim_result_free(result);
        return IW_ERR_NOMEM;
    }
    *result_p = result;
    return IW_OK;
}

/* Counts the run without noise, if there is one, and this process's trials; what follows is only asked about.
 */
static iw_status start_ticker(const iw_log *log, const iw_sim_opts *opts, struct iwi_batches *batches)
{
    const uint64_t batch_count = (batches->trials + batches->lanes - 1) / batches->lanes;
    const uint64_t own_batches = (batch_count + iwi_processes(batches) - 1) / iwi_processes(batches);
    const uint64_t references = iwi_is_noiseless(batches) || is_past_reference(batches) ? 0 : 1;

    if (opts->progress.step == NULL) {
        return IW_OK;
    }
    batches->job.ticker =
        iwi_ticker_new(log, opts->progress, TICK_NS, (references + own_batches) * iwi_batch_ticks(batches));
    return batches->job.ticker == NULL ? IW_ERR_NOMEM : IW_OK;
}

static iw_status run_trials(const iw_log *log, struct iwi_batches *batches, const iw_sim_opts *opts,
                            iw_sim_result *result)
{
    const bool is_first = iwi_is_first(opts);
    double begin;
    iw_status status;

    batches->job.want_warnings = iwi_is_noiseless(batches);
    if (batches->noiseless_ps > 0) {
        result->noiseless_ps = batches->noiseless_ps;
    } else if (is_past_reference(batches)) {
        result->noiseless_ps = batches->checkpoint->found.noiseless_ps;
    } else if (!iwi_is_noiseless(batches)) {
        IW_TRY(iwi_run_noiseless(log, batches, &result->noiseless_ps));
    }
    batches->noiseless_ps = result->noiseless_ps;
    batches->makespan_ps = result->makespan_ps;
    batches->end_ps = result->end_ps;
    batches->wants_ends = opts->want_end_times;
    begin = iwi_now_s();
    status = iwi_parallel_run(log, batches);
    result->engine_seconds = iwi_now_s() - begin;
    if (iwi_is_noiseless(batches)) {
        result->noiseless_ps = result->makespan_ps[0];
    }
    /* one process tells and explains: it sees all ranks */
    if (status == IW_OK && is_first && opts->steps.step != NULL && batches->job.steps == NULL) {
        status = run_steps(log, batches, &opts->steps);
    }
    if (status == IW_OK && is_first && opts->want_explain) {
        status = iwi_explain_run(log, batches, opts->explain_trials, result);
    }
    result->peak_rss_bytes = peak_rss_bytes();
    return status;
}

/* Reads the restart point, if there is one; it says how many lanes the run has. */
static iw_status open_checkpoint(const iw_log *log, const iw_sim_opts *opts, struct iwi_batches *batches,
                                 struct iwi_checkpoint *checkpoint)
{
    const struct iwi_point *found = &checkpoint->found;
    int64_t seen[6];

    IW_TRY(iwi_checkpoint_init(log, opts->checkpoint_dir, opts->checkpoint_s, &batches->job, opts->trials,
                               iwi_is_first(opts), checkpoint));
    batches->checkpoint = checkpoint;
    if (opts->link != NULL) {
        const int64_t own[3] = {(int64_t)found->generation, (int64_t)found->done, (int64_t)found->is_trials};

        for (size_t k = 0; k < 3; k++) {
            seen[k] = own[k];
            seen[3 + k] = -own[k];
        }
        IW_TRY(iwi_parallel_join(log, opts->link, seen, 6));
        if (seen[0] != -seen[3] || seen[1] != -seen[4] || seen[2] != -seen[5]) {
            return iwi_fail(
                log, IW_ERR_IO,
                "the processes see different checkpoints in '%s': use a folder that all nodes share",
                opts->checkpoint_dir);
        }
    }
    if (found->generation > 0 && opts->lanes != 0 && found->lanes != opts->lanes) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "the checkpoint in '%s' was written with `lanes` %" PRIu64 ": use the same",
                        opts->checkpoint_dir, found->lanes);
    }
    batches->lanes = found->generation > 0 ? (uint32_t)found->lanes : batches->lanes;
    checkpoint->lanes = batches->lanes;
    return IW_OK;
}

/* `checkpoint` is filled if restart points are wanted. */
static iw_status split_work(const iw_log *log, const iw_noise *noise, const iw_sim_opts *opts,
                            struct iwi_batches *batches, struct iwi_checkpoint *checkpoint)
{
    struct iwi_split_work split;

    IW_TRY(iwi_parallel_settle(log, batches->plan, batches->job.program, noise, opts, &split));
    batches->lanes = split.lanes;
    batches->threads = split.threads;
    batches->link = split.parallel == IW_PARALLEL_TRIALS ? opts->link : NULL;
    if (split.parallel == IW_PARALLEL_RANKS) {
        IW_TRY(iwi_team_new(log, opts->link, split.threads, &batches->team));
    }
    if (opts->checkpoint_dir != NULL) {
        IW_TRY(open_checkpoint(log, opts, batches, checkpoint));
    }
    return IW_OK;
}

static struct iwi_job make_job(const iw_program *program, const struct iwi_plan *plan, const iw_net *net,
                               const struct iwi_levels *levels, const struct iwi_delay_table *delays,
                               const iw_noise *noise, const iw_sim_opts *opts)
{
    return (struct iwi_job){
        .program = program,
        .schedule = plan->schedule,
        .net = net,
        .levels = *levels,
        .memory_ps = program->compute_bytes == 0
                         ? 0
                         : iwi_memory_lockstep(&net->memory, program->ranks, program->compute_bytes),
        .net_noise = iw_net_is_noisy(net) ? delays : NULL,
        .noisy_level = iwi_net_noise_level(net),
        .has_delays = true,
        .noise = noise != NULL && iw_noise_source_count(noise) > 0 ? noise : NULL,
        .rendezvous = opts->rendezvous,
        .seed = opts->seed,
        .first_trial = opts->first_trial,
        .steps = iwi_tells_steps(opts) ? &opts->steps : NULL,
        .has_few_steps = opts->steps.step != NULL && iwi_steps_are_few(program)};
}

/* *numbers_p is to be freed. */
static iw_status number_sends(const iw_log *log, struct iwi_job *job, uint32_t **numbers_p)
{
    if (job->net_noise == NULL || job->schedule == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_schedule_number_sends(log, job->schedule, numbers_p));
    job->send_numbers = *numbers_p;
    return IW_OK;
}

/* *factors_p is to be freed. */
static iw_status set_node_speeds(const iw_log *log, const iw_sim_opts *opts, struct iwi_job *job,
                                 int64_t **factors_p)
{
    if (opts->node_speeds == NULL) {
        return IW_OK;
    }
    job->ranks_per_node = iwi_node_speeds_ranks(opts->node_speeds);
    IW_TRY(iwi_node_factors(log, opts->node_speeds, job->program->ranks, opts->seed, 0, opts->replaced_nodes,
                            factors_p));
    job->node_factors = *factors_p;
    return IW_OK;
}

/* Everything but how the work is split. */
static iw_status prepare(const iw_log *log, const iw_program *program, const iw_net *net,
                         const iw_noise *noise, const iw_sim_opts *opts, struct iwi_prepared *s)
{
    IW_TRY(iwi_levels_init(log, net, program->ranks, &s->levels));
    IW_TRY(iwi_plan_init(log, program, net, opts, &s->plan));
    s->batches.plan = &s->plan;
    if (iw_net_is_noisy(net)) {
        iwi_delay_table_init(&net->noise, &s->delays);
    }
    s->batches.job = make_job(program, &s->plan, net, &s->levels, &s->delays, noise, opts);
    if (opts->steps.step != NULL) {
        IW_TRY(iwi_steps_check(log, opts->rules, s->plan.schedule));
    }
    IW_TRY(set_node_speeds(log, opts, &s->batches.job, &s->factors));
    return number_sends(log, &s->batches.job, &s->send_numbers);
}

void iwi_prepared_release(struct iwi_prepared *s)
{
    iwi_plan_release(&s->plan);
    iwi_levels_release(&s->levels);
    free(s->factors);
    free(s->send_numbers);
}

iw_status iwi_prepared_init(const iw_log *log, const iw_program *program, const iw_net *net,
                            const iw_noise *noise, const iw_sim_opts *opts, struct iwi_prepared *s)
{
    iw_status status;

    *s = (struct iwi_prepared){.batches = {.trials = opts->trials}};
    IW_TRY(iwi_check_simulation(log, program, net, noise, opts));
    status = prepare(log, program, net, noise, opts, s);
    if (status != IW_OK) {
        iwi_prepared_release(s);
    }
    return status;
}

static iw_status run(const iw_log *log, const iw_noise *noise, const iw_sim_opts *opts,
                     struct iwi_prepared *s, struct iwi_checkpoint *checkpoint, iw_sim_result **result_p)
{
    struct iwi_batches *batches = &s->batches;
    const iw_program *program = batches->job.program;

    IW_TRY(split_work(log, noise, opts, batches, checkpoint));
    if (batches->team != NULL) {
        IW_TRY(iwi_plan_for_members(log, program, batches->job.net, iwi_team_size(batches->team), &s->plan));
    }
    IW_TRY(new_result(log, program, opts, &s->plan, batches, result_p));
    IW_TRY(start_ticker(log, opts, batches));
    return run_trials(log, batches, opts, *result_p);
}

static iw_status simulate(const iw_log *log, const iw_program *program, const iw_net *net,
                          const iw_noise *noise, const iw_sim_opts *opts, iw_time noiseless_ps,
                          iw_sim_result **result_p)
{
    struct iwi_checkpoint checkpoint = {.dir = NULL, .lock = -1};
    struct iwi_prepared s;
    iw_sim_result *result = NULL;
    iw_status status;

    IW_TRY(iwi_prepared_init(log, program, net, noise, opts, &s));
    s.batches.noiseless_ps = noiseless_ps;
    status = run(log, noise, opts, &s, &checkpoint, &result);
    iwi_ticker_free(s.batches.job.ticker);
    iwi_team_free(s.batches.team);
    iwi_checkpoint_release(&checkpoint);
    iwi_prepared_release(&s);
    if (status != IW_OK) {
        iw_sim_result_free(result);
        return status;
    }
    *result_p = result;
    return IW_OK;
}

iw_status iwi_simulate_again(const iw_log *log, const iw_program *program, const iw_net *net,
                             const iw_noise *noise, const iw_sim_opts *opts, iw_time noiseless_ps,
                             iw_sim_result **result_p)
{
    iw_sim_opts known = IW_SIM_OPTS_INIT;
    iw_net effective;

    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", opts, &known));
    IW_TRY(iwi_net_effective(log, net, &effective));
    return simulate(log, program, &effective, noise, &known, noiseless_ps, result_p);
}

iw_status iw_simulate(const iw_log *log, const iw_program *program, const iw_net *net, const iw_noise *noise,
                      const iw_sim_opts *opts, iw_sim_result **result_p)
{
    return iwi_simulate_again(log, program, net, noise, opts, 0, result_p);
}

void iw_sim_result_free(iw_sim_result *result)
{
    if (result != NULL) {
        free(result->makespan_ps);
        free(result->end_ps);
        iwi_explain_free(result->explain);
        free(result);
    }
}
