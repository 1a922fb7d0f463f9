/* The cost model of splitting a simulation, and the choice by it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/split/forecast.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/net/net.h"
#include "core/noise/stream.h"
#include "core/program/collectives/list.h"
#include "core/program/collectives/node_rings.h"
#include "core/program/in_order.h"
#include "core/program/trace_program.h"
#include "core/sim/check.h"
#include "core/sim/choose.h"
#include "core/sim/flow/flow_state.h"

/* Seconds a message on one core of the machine of docs/explanation/scale.md, where they were measured without
 * noise. A run is split by them; what it takes is told by a sample. */
static const double RING_S = 1.2e-9, STREAM_S = 3.2e-9, GRID_S = 5.8e-9, SWEEP_S = 9e-9, PAIR_S = 13e-9,
                    NODE_RINGS_S = 8e-9, EXCHANGE_S = 16e-9, ROUND_S = 38e-9, MANY_S = 200e-9, TRACE_S = 8e-9,
                    SCHEDULE_S = 100e-9, GRAPH_S = 100e-9, WINDOW_S = 250e-9, EVENT_S = 2.6e-6;

/* Between members: of one node, and of several. Assumed, of the order that such machines have. */
static const double NODE_LATENCY_S = 5e-6, NODE_BYTES_PER_S = 3e9, NET_LATENCY_S = 20e-6,
                    NET_BYTES_PER_S = 1e9;

/* A trial that is explained: times as long as one that is not, and memory of a rank, in the flow engine. */
static const double PATH_TIMES = 3.0, PATH_RANK_BYTES = 4096.0;

/* A thread that begins and ends; and what a run must take to be worth that at all. */
static const double MEMBER_S = 100e-6, LEAST_S = 20e-3;

/* Splitting ranks must promise so much more than splitting trials, which cannot wait for each other. */
static const double WORTH = 1.1;

/* The round in the middle is a step around a ring. */
static bool is_ring(const struct iwi_operation *op)
{
    const uint64_t rounds = op->algorithm->round_count(op);
    struct iwi_round round;

    if (rounds < op->ranks - 1 || rounds == 0) {
        return false;
    }
    op->algorithm->round(op, rounds / 2, &round);
    return round.is_ring || (round.is_shift && round.shift == 1);
}

/* How the ranks of a trial are taken: all by one thread, by members of a team, or by some that write restart
 * points. */
enum sharing { WHOLE, SPLIT, KEPT };

/* Rounds in which ranks send several messages. */
static double several_s(const struct iwi_operation *op, const struct iwi_round *round, bool is_split)
{
    if (round->is_all_to_all) {
        return is_split ? MANY_S : EXCHANGE_S;
    }
    return is_split || !iwi_node_rings_are_even(op) ? MANY_S : NODE_RINGS_S;
}

/* Rings are taken rank by rank, but round by round where restart points are; sweeps row by row, but round by
 * round where ranks are split. */
static double operation_s(const struct iwi_operation *op, enum sharing sharing)
{
    const struct iwi_round round = iwi_first_round(op);

    if (sharing != KEPT && is_ring(op)) {
        return RING_S;
    }
    if (sharing == WHOLE && op->algorithm->is_wavefront) {
        return SWEEP_S;
    }
    if (round.is_all_to_all || op->algorithm == &iwi_allreduce_node_rings) {
        return several_s(op, &round, sharing != WHOLE);
    }
    if (round.is_grid) {
        return GRID_S;
    }
    return round.is_shift || round.is_flip ? STREAM_S : round.is_pairs ? PAIR_S : ROUND_S;
}

/* Of all operations, the mean. */
static double message_s(const struct iwi_plan *plan, const iw_program *program, enum sharing sharing)
{
    double messages = 0.0, seconds = 0.0;

    if (plan->engine == IW_ENGINE_EVENT) {
        return EVENT_S;
    }
    if (plan->engine == IW_ENGINE_WINDOW) {
        return WINDOW_S;
    }
    if (plan->graph != NULL) {
        return GRAPH_S;
    }
    if (program->operation_count == 0) {
        return plan->code != NULL ? TRACE_S : SCHEDULE_S;
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_operation *op = &program->operations[k];

        messages += (double)op->algorithm->message_count(op);
        seconds += (double)op->algorithm->message_count(op) * operation_s(op, sharing);
    }
    return messages > 0.0 ? seconds / messages : STREAM_S;
}

static void fill_trials_split(const iw_program *program, const iw_noise *noise, const iw_sim_opts *opts,
                              const iw_forecast *all, iw_split_plan *way)
{
    const uint32_t threads = iwi_choose_threads(program, opts, way->lanes);
    const uint64_t batches = (opts->trials + way->lanes - 1) / way->lanes;
    const uint64_t workers = (uint64_t)threads * all->processes;

    way->workers = (uint32_t)(batches < workers ? batches : workers);
    way->batches = (batches + way->workers - 1) / way->workers;
    way->messages = (double)all->messages;
    way->compute_s = (double)way->batches * way->messages * way->lanes * all->message_s;
    way->process_bytes =
        iwi_rank_bytes(program, noise, IWI_KEPT_FOR_ENDS) * way->lanes * program->ranks * threads;
}

static void fill_ranks_split(const iw_program *program, const iw_noise *noise, const iw_sim_opts *opts,
                             const iw_forecast *all, double split_message_s, iw_split_plan *way)
{
    const uint64_t members = (uint64_t)all->threads * all->processes;
    const struct iwi_border_traffic crossing = iwi_border_traffic_of(program, (uint32_t)members);
    const bool is_one_node = all->nodes < 2;

    way->workers = (uint32_t)(members < program->ranks ? members : program->ranks);
    way->batches = (opts->trials + way->lanes - 1) / way->lanes;
    way->messages = (double)all->messages * crossing.share;
    way->exchanges = way->workers > 1 ? crossing.exchanges : 0;
    way->bytes_sent = way->workers > 1 ? crossing.values * way->lanes * sizeof(iw_time) : 0.0;
    way->compute_s = (double)way->batches * way->messages * way->lanes * split_message_s;
    way->exchange_s =
        (double)way->batches * ((double)way->exchanges * (is_one_node ? NODE_LATENCY_S : NET_LATENCY_S) +
                                way->bytes_sent / (is_one_node ? NODE_BYTES_PER_S : NET_BYTES_PER_S)) +
        MEMBER_S * all->threads;
    way->process_bytes = iwi_rank_bytes(program, noise, IWI_KEPT_FOR_SPLIT) * way->lanes * program->ranks /
                         all->processes; /* of all its threads */
}

static double seconds_of(const iw_split_plan *way)
{
    return way->compute_s + way->exchange_s;
}

/* Ranks have to be split: asked for, or by restart points. */
static bool has_to_split(const iw_sim_opts *opts)
{
    return opts->parallel == IW_PARALLEL_RANKS || opts->checkpoint_dir != NULL;
}

static const char *reason_of(const iw_sim_opts *opts, iw_forecast *all)
{
    const double one_s = seconds_of(&all->trials_split), other_s = seconds_of(&all->ranks_split);

    all->chosen = has_to_split(opts) ? IW_PARALLEL_RANKS : IW_PARALLEL_TRIALS;
    if (opts->checkpoint_dir != NULL) {
        return "checkpoints need it";
    }
    if (opts->parallel != IW_PARALLEL_AUTO) {
        return "asked for";
    }
    if (all->ranks_split.refusal[0] != '\0') {
        return "the ranks cannot be split";
    }
    if (all->threads * all->processes == 1) {
        return "there is only one worker";
    }
    if ((double)all->trials_split.process_bytes > all->room_bytes &&
        all->ranks_split.process_bytes < all->trials_split.process_bytes) {
        all->chosen = IW_PARALLEL_RANKS;
        return "whole trials do not fit";
    }
    if (one_s > LEAST_S && one_s > WORTH * other_s) {
        all->chosen = IW_PARALLEL_RANKS;
        return "faster than splitting trials";
    }
    return "workers run whole trials and never wait for each other";
}

static void choose(const iw_sim_opts *opts, iw_forecast *all)
{
    (void)snprintf(all->reason, sizeof all->reason, "%s", reason_of(opts, all));
}

iw_status iwi_forecast_check(const iw_log *log, const iw_sim_opts *opts, const iw_forecast *forecast)
{
    if (!has_to_split(opts) || forecast->ranks_split.refusal[0] == '\0') {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_UNSUPPORTED, "%s: %s",
                    opts->checkpoint_dir != NULL ? "splitting trials has no checkpoints"
                                                 : "only trials can be split",
                    forecast->ranks_split.refusal);
}

/* Memory that a process may have: what is free, or what its batch system or container leaves it, shared with
 * the others of its node. */
static double room_for(const iw_sim_opts *opts)
{
    const uint64_t told = iwi_available_bytes("");
    const double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const uint32_t nodes = opts->link == NULL || opts->link->nodes == 0 ? 1 : opts->link->nodes;
    const uint32_t processes = opts->link == NULL ? 1 : (opts->link->size + nodes - 1) / nodes;

    return (told != UINT64_MAX ? (double)told : all) / processes;
}

/* Threads of this process where ranks are split. Restart points alone are no reason for more than one. */
static uint32_t threads_of(const iw_sim_opts *opts, uint32_t idle_cpus, const iw_forecast *all)
{
    const bool is_small = (double)all->messages * (double)all->trials * all->message_s < LEAST_S;
    uint32_t threads = opts->threads;

    if (threads == 0) {
        threads = is_small && opts->link == NULL ? 1 : iwi_available_cpus();
    }
    return threads < idle_cpus ? threads : idle_cpus;
}

void iwi_forecast_fill(const struct iwi_plan *plan, const iw_program *program, const iw_noise *noise,
                       const iw_sim_opts *opts, uint32_t idle_cpus, iw_forecast *all)
{
    const char *refusal = iwi_tells_steps(opts) ? "a timeline needs a single thread"
                          : plan->window != NULL && opts->checkpoint_dir != NULL
                              ? "the window engine does not write it"
                              : iwi_partition_refusal(plan);

    *all = (iw_forecast){.engine = plan->engine,
                         .ranks = program->ranks,
                         .processes = opts->link != NULL ? opts->link->size : 1,
                         .nodes = opts->link != NULL ? opts->link->nodes : 1,
                         .trials = opts->trials,
                         .messages = iw_program_messages(program),
                         .message_s = message_s(plan, program, WHOLE),
                         .room_bytes = room_for(opts)};
    all->threads = threads_of(opts, idle_cpus, all);
    (void)snprintf(all->engine_note, sizeof all->engine_note, "%s", plan->note);
    all->trials_split.lanes =
        iwi_tells_steps(opts) ? 1 : iwi_choose_lanes(program, noise, plan->engine, opts);
    /* members pass each other all lanes at once: a few more are not worth a wait */
    all->ranks_split.lanes = iwi_tells_steps(opts) ? 1 : iwi_choose_lanes(program, NULL, plan->engine, opts);
    fill_trials_split(program, noise, opts, all, &all->trials_split);
    if (refusal != NULL) {
        (void)snprintf(all->ranks_split.refusal, sizeof all->ranks_split.refusal, "%s", refusal);
    } else {
        fill_ranks_split(program, noise, opts, all,
                         message_s(plan, program, opts->checkpoint_dir == NULL ? SPLIT : KEPT),
                         &all->ranks_split);
    }
    choose(opts, all);
}

/* Members wait for each other in every round: one that shares its CPU with another program makes all of them
 * wait, and the others' CPUs are no gain. Workers that have trials of their own take what they get. */
void iwi_forecast_now(const struct iwi_plan *plan, const iw_program *program, const iw_noise *noise,
                      const iw_sim_opts *opts, iw_forecast *all)
{
    iwi_forecast_fill(plan, program, noise, opts, UINT32_MAX, all);
    if (all->chosen == IW_PARALLEL_RANKS && !has_to_split(opts) && opts->link == NULL &&
        (double)all->trials_split.process_bytes <= all->room_bytes) {
        iwi_forecast_fill(plan, program, noise, opts, iwi_idle_cpus("", all->threads), all);
    }
}

/* How many times faster this machine is than that of docs/explanation/scale.md, by a collective of some
 * milliseconds: the fastest of three in CPU time, since what others do here now need not go on. A delay makes
 * its ranks differ: ranks that are all alike would be evaluated as one. */
static double measure_speed(void)
{
    const iw_delay delay = {.rank = 1, .step = 1, .time_ps = IW_PS_PER_US};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    double speed = 0.0;

    pattern.ranks = 1 << 16;
    pattern.delays = &delay;
    pattern.delay_count = 1;
    opts.threads = opts.lanes = 1;
    opts.trials = 4;
    if (iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program) == IW_OK) {
        const double messages = (double)iw_program_messages(program) * (double)opts.trials;

        for (int run = 0; run < 3; run++) {
            const double begin_s = iwi_thread_cpu_s();
            iw_sim_result *result = NULL;

            if (iw_simulate(NULL, program, iw_net_builtin("chic"), NULL, &opts, &result) == IW_OK) {
                speed = fmax(speed, STREAM_S * messages / (iwi_thread_cpu_s() - begin_s));
            }
            iw_sim_result_free(result);
        }
    }
    iw_program_free(program);
    return speed > 0.0 ? speed : 1.0;
}

/* Of a graph that is no program: how it runs, and what keeps it from being one. */
static iw_status note_graph(const iw_log *log, const iw_program *program, const struct iwi_plan *plan,
                            iw_forecast *all)
{
    struct iwi_disorder disorder;

    if (plan->graph == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_schedule_find_disorder(log, program->schedule, &disorder));
    (void)snprintf(all->engine_note, sizeof all->engine_note,
                   "a graph, by passes over its ranks: %" PRIu32 " of %" PRIu32
                   " ranks %s not in order; the first is operation %" PRIu64 " of rank %" PRIu32,
                   disorder.ranks, program->ranks, disorder.ranks == 1 ? "is" : "are", disorder.node,
                   disorder.rank);
    return IW_OK;
}

/* The first ones; and the median one, unless it is among them. */
static double explained_trials(const iw_forecast *all, const iw_sim_opts *opts)
{
    const uint64_t count = iwi_explain_trials(all->messages, all->ranks, all->trials, opts->explain_trials);

    return opts->want_explain ? (double)count + 1.0 - (double)count / (double)all->trials : 0.0;
}

/* By a sample; or, where it would need too much memory, or fails as the run will, by the constants. */
static void sample(const struct iwi_prepared *s, const iw_sim_opts *opts, double enough_s,
                   const iw_forecast *all, struct iwi_sampled *sampled)
{
    const struct iwi_batches *batches = &s->batches;
    const double most_bytes = 0x1p29;
    const uint64_t batch_count = (opts->trials + batches->lanes - 1) / batches->lanes;
    const double path_bytes =
        iwi_plan_has_flow(batches->plan) ? PATH_RANK_BYTES * (double)all->ranks : iwi_explain_bytes(batches);
    const bool has_paths = opts->want_explain && path_bytes <= most_bytes;
    const uint64_t explained = has_paths ? (uint64_t)ceil(explained_trials(all, opts)) : 0;
    const double trial_s = (double)all->messages * all->message_s;

    if ((double)all->trials_split.process_bytes / all->trials_split.workers > most_bytes ||
        iwi_sample_parts(batches, batch_count, explained, enough_s, sampled) != IW_OK) {
        const double speed = measure_speed();

        *sampled = (struct iwi_sampled){.reference_s = iwi_is_noiseless(batches) ? 0.0 : trial_s / speed,
                                        .batches = {0.0, trial_s * batches->lanes / speed}};
    }
    if (explained == 0) {
        sampled->paths.each_s = PATH_TIMES * sampled->batches.each_s / batches->lanes;
    }
}

/* What was chosen by constants, by the sample. */
static void take_sample(const struct iwi_sampled *sampled, const iw_sim_opts *opts, iw_forecast *all)
{
    const bool is_whole = all->chosen == IW_PARALLEL_TRIALS;
    const iw_split_plan *way = is_whole ? &all->trials_split : &all->ranks_split;
    const double lanes = way->lanes, batches = ceil((double)all->trials / lanes), workers = way->workers;
    const double message_s = sampled->batches.each_s / fmax(1.0, (double)all->messages * lanes);
    const double paths_s = sampled->paths.begin_s + explained_trials(all, opts) * sampled->paths.each_s;

    all->ranks_split.compute_s *= message_s / all->message_s;
    all->message_s = message_s;
    all->trials_split.compute_s =
        (double)all->trials_split.batches * sampled->batches.each_s + sampled->batches.begin_s;
    all->cpu_s = all->processes * (sampled->plan_s + (is_whole ? sampled->reference_s : 0.0)) +
                 (is_whole ? batches * sampled->batches.each_s + workers * sampled->batches.begin_s
                           : sampled->reference_s + workers * seconds_of(way)) +
                 paths_s;
    all->elapsed_s = sampled->plan_s + sampled->reference_s / (is_whole ? 1.0 : workers) + seconds_of(way) +
                     paths_s / (is_whole ? workers : 1.0);
}

iw_status iwi_forecast_parts(const iw_log *log, const iw_program *program, const iw_net *net,
                             const iw_noise *noise, const iw_sim_opts *opts, double enough_s,
                             iw_forecast *forecast_p, struct iwi_sampled *sampled_p)
{
    const double begin_s = iwi_thread_cpu_s();
    struct iwi_prepared s;
    iw_net effective;
    iw_forecast all;
    double plan_s;
    iw_status status;

    IW_TRY(iwi_net_effective(log, net, &effective));
    IW_TRY(iwi_prepared_init(log, program, &effective, noise, opts, &s));
    plan_s = iwi_thread_cpu_s() - begin_s;
    iwi_forecast_fill(&s.plan, program, noise, opts, UINT32_MAX, &all);
    status = note_graph(log, program, &s.plan, &all);
    if (status == IW_OK) {
        status = iwi_forecast_check(log, opts, &all);
    }
    if (status == IW_OK) {
        s.batches.lanes = all.trials_split.lanes;
        s.batches.threads = all.trials_split.workers / all.processes;
        sample(&s, opts, enough_s, &all, sampled_p);
        sampled_p->plan_s = plan_s;
        take_sample(sampled_p, opts, &all);
        *forecast_p = all;
    }
    iwi_prepared_release(&s);
    return status;
}

iw_status iw_forecast_make(const iw_log *log, const iw_program *program, const iw_net *net,
                           const iw_noise *noise, const iw_sim_opts *given, iw_forecast *forecast_p)
{
    iw_sim_opts known = IW_SIM_OPTS_INIT;
    struct iwi_sampled sampled;

    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", given, &known));
    return iwi_forecast_parts(log, program, net, noise, &known, IWI_SAMPLE_S, forecast_p, &sampled);
}
