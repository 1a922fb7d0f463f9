/* Benchmarks with noise: injected, and the same simulated.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>

#include <idlewave/internal/fidelity.h>

#include "features/bench/verb/bench_noise.h"
#include "features/replay/verb/injected_noise.h"
#include "options/simulate_opts.h"
#include "process/wall_clock.h"

/* ======== injected ======== */

/* Detours of ranks that sleep come some seconds apart, and hundreds of ranks begin at different ones. */
static const int64_t ASLEEP_NS = INT64_C(3600) * 1000000000;

/* ---- reading it ---- */

int bench_noise_load(struct ui *ui, struct node_log *node_log, const struct bench_opts *opts,
                     struct bench_noise *noise)
{
    const iw_inject_opts inject = IW_INJECT_OPTS_INIT;
    struct injected_opts injected;
    int code;

    *noise =
        (struct bench_noise){.opts = opts, .node_log = node_log, .log = &node_log->log, .inject = inject};
    noise->is_of_file = injected_has_file(&opts->injection.noise);
    noise->ranks_per_node = opts->ranks_per_node != 0 ? (uint32_t)opts->ranks_per_node : 1;
    noise->inject.sync = (iw_sync)opts->injection.sync;
    noise->inject.skew_ns = opts->injection.skew_ps / IW_PS_PER_NS;
    noise->inject.time_scale = opts->injection.time_scale;
    noise->inject.most_share = 0.0; /* simulations go through traces again and again, too */
    code = simulate_read_cpus(ui, opts->injection.cpus, &noise->cpu_set, &noise->cpus);
    if (code == UI_DONE) {
        code = simulate_check_cpus(ui, opts->injection.cpus, noise->is_of_file ? 1 : 0);
    }
    if (code != UI_DONE) {
        return code;
    }
    injected = (struct injected_opts){.noise = &opts->injection.noise,
                                      .cpus = noise->cpus,
                                      .sync = (iw_sync)opts->injection.sync,
                                      .seed = opts->injection.seed,
                                      .cpu_count = noise->ranks_per_node,
                                      .duration_ns = opts->work == IW_BENCH_SLEEP ? ASLEEP_NS : 0};
    ui->option = noise->is_of_file ? NULL : "--noise";
    code = injected_load(ui, noise->log, &injected, &noise->recording);
    ui->option = NULL;
    return code;
}

void bench_noise_release(struct bench_noise *noise)
{
    iw_inject_plan_free(noise->plan);
    iw_recording_free(noise->recording);
}

/* ---- making it ---- */

/* As many ranks as the recording has CPUs are a node, or as many as was said. Where that is more than the
 * recording has CPUs, they are several nodes: no two ranks meet one CPU's detours at the same instant. Hosts
 * have no clock in common, so ranks of a node that are on several meet its detours apart. */
static void find_node(struct bench_noise *noise, const iw_bench_place *place)
{
    const bool is_as_recorded = noise->is_of_file && noise->opts->ranks_per_node == 0;
    const uint32_t cpus = (uint32_t)noise->recording->cpu_count;
    const uint32_t wanted = is_as_recorded ? cpus : noise->ranks_per_node;
    const uint32_t within = place->rank % wanted;
    const uint64_t part = is_as_recorded ? place->host : within / cpus;

    noise->ranks_per_node = wanted < cpus ? wanted : cpus;
    noise->inject.node = place->rank / wanted + part * place->ranks; /* numbers are below the ranks */
    noise->cpu = within % cpus;
}

static iw_status prepare(void *arg, const iw_bench_place *place)
{
    struct bench_noise *noise = arg;

    if (noise->opts->injection.sync == IW_SYNC_START &&
        place->hosts > 1) { /* their clocks have nothing in common */
        (void)node_log_fail(noise->node_log,
                            "--sync start is for ranks of one host, but there are %u hosts; use 'idlewave "
                            "replay --sync start', which synchronises clocks of hosts",
                            place->hosts);
        return IW_ERR_UNSUPPORTED;
    }
    find_node(noise, place);
    return iw_inject_calibrate(noise->log, bench_back_end(noise->opts), IW_INJECT_CALIBRATE_NS,
                               &noise->costs);
}

/* The draws of different blocks and of neighbouring seeds have nothing to do with each other. */
static iw_status start(void *arg, uint64_t draw)
{
    struct bench_noise *noise = arg;
    iw_status status;

    iw_inject_plan_free(noise->plan);
    noise->plan = NULL;
    noise->inject.seed = noise->opts->injection.seed + (draw + 1) * UINT64_C(0x9E3779B97F4A7C15);
    status = iw_inject_plan_make(noise->log, noise->recording, noise->cpu, &noise->inject, &noise->costs,
                                 &noise->plan);
    if (status == IW_OK) {
        noise->started_ns = monotonic_ns();
        status = iw_injector_start(noise->log, noise->plan, bench_back_end(noise->opts), &noise->injector);
    }
    return status;
}

static void stop(void *arg)
{
    struct bench_noise *noise = arg;
    iw_inject_counts counts = {.made_count = 0};

    iw_injector_stop(noise->injector, &counts);
    noise->injector = NULL;
    noise->sum.noisy_ns += (double)(monotonic_ns() - noise->started_ns);
    noise->sum.made_count += counts.made_count;
    noise->sum.made_ns += counts.made_ns;
    noise->sum.skipped_count += counts.skipped_count;
    noise->sum.skipped_ns += counts.skipped_ns;
    noise->sum.cut_short_count += counts.is_cut_short ? 1 : 0;
}

static double made_ns(void *arg)
{
    return iw_injector_made_ns(((struct bench_noise *)arg)->injector);
}

static void begin_phase(void *arg)
{
    iw_injector_phase(((struct bench_noise *)arg)->injector);
}

static void tell(void *arg, iw_bench_injected *injected_p)
{
    struct bench_noise *noise = arg;

    if (noise->plan != NULL) {
        const iw_inject_facts *facts = iw_inject_plan_facts(noise->plan);

        noise->sum.planned_share = facts->made_ns / (double)facts->length_ns;
        noise->sum.as_recorded_share = facts->noise_ns > 0.0 ? facts->as_recorded_ns / facts->noise_ns : 0.0;
        noise->sum.as_recorded_event_share =
            facts->event_count > 0 ? (double)facts->as_recorded_count / (double)facts->event_count : 0.0;
    }
    noise->sum.floor_ns = noise->costs.floor_ns;
    noise->sum.overhead_ns = noise->costs.overhead_ns;
    noise->sum.late_p99_ns = noise->costs.late_p99_ns;
    *injected_p = noise->sum;
}

/* ---- what was planned ---- */

/* Into `cpu`, which is empty. */
static iw_status plan_cpu(const iw_log *log, const struct bench_noise *noise, size_t number, iw_detours *cpu)
{
    const double scale = noise->inject.time_scale;
    iw_recording *planned = NULL;
    iw_inject_plan *plan;
    iw_status status =
        iw_inject_plan_make(log, noise->recording, number, &noise->inject, &noise->costs, &plan);

    if (status != IW_OK) {
        return status;
    }
    status = iw_inject_plan_recording(log, plan, &planned);
    iw_inject_plan_free(plan);
    if (status == IW_OK) {
        *cpu = planned->cpus[0];
        planned->cpus[0] = (iw_detours){.cpu = 0}; /* the arrays have a new owner */
        iw_recording_free(planned);
        cpu->cpu = (uint32_t)number;
        cpu->length_ns = noise->recording->cpus[number].length_ns;
        for (size_t i = 0; i < cpu->count; i++) {
            cpu->start_ns[i] = (int64_t)((double)cpu->start_ns[i] / scale);
            cpu->duration_ns[i] = (int64_t)((double)cpu->duration_ns[i] / scale);
        }
    }
    return status;
}

iw_status bench_noise_planned(const iw_log *log, const struct bench_noise *noise, iw_recording **recording_p)
{
    iw_recording *recording = NULL;
    iw_status status = iw_recording_new(log, noise->ranks_per_node, &recording);

    for (size_t i = 0; i < noise->ranks_per_node && status == IW_OK; i++) {
        status = plan_cpu(log, noise, i, &recording->cpus[i]);
    }
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

/* ---- calls ---- */

iw_bench_noise bench_noise_calls(struct bench_noise *noise)
{
    return (iw_bench_noise){.arg = noise,
                            .costs = &noise->costs,
                            .prepare = prepare,
                            .start = start,
                            .stop = stop,
                            .phase = noise->opts->injection.sync == IW_SYNC_PHASE ? begin_phase : NULL,
                            .made_ns = made_ns,
                            .tell = tell};
}

/* ======== simulated ======== */

static const double MOST_MESSAGES = 1e8; /* of all trials: some seconds */
enum { MOST_TRIALS = 400, LEAST_TRIALS = 20, MEDIAN = 3 /* number of that quantile */ };

static iw_status make_program(const iw_log *log, const iw_bench_result *result, uint64_t repeat,
                              double quantum_ns, iw_program **program_p)
{
    static const char *const patterns[IW_BENCH_OPS] = {"barrier", "allreduce", "halo1d"};
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = result->samples->ranks;
    pattern.bytes = result->samples->bytes;
    pattern.repeat = repeat;
    pattern.compute_ps = (iw_time)(quantum_ns * (double)IW_PS_PER_NS);
    return iw_program_from_pattern(log, patterns[result->samples->op], &pattern, program_p);
}

/* ---- the network ---- */

/* How many latencies the operation takes one after the other. */
static iw_status count_latencies(const iw_log *log, const iw_bench_result *result, const iw_net *net,
                                 double *count_p)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *simulated = NULL;
    iw_program *program = NULL;
    iw_status status = make_program(log, result, 1, 0.0, &program);

    if (status == IW_OK) {
        status = iw_simulate(log, program, net, NULL, &opts, &simulated);
    }
    if (status == IW_OK) {
        *count_p = (double)simulated->noiseless_ps / (double)net->L_ps;
    }
    iw_sim_result_free(simulated);
    iw_program_free(program);
    return status;
}

/* Latency, and hardly anything else: but who serves a message needs the CPU, which a rank within a detour has
 * not. */
static const iw_net latency_only = {
    .L_ps = IW_PS_PER_US, .o_send_ps = IW_PS_PER_NS, .o_recv_ps = IW_PS_PER_NS, .S_bytes = UINT64_C(1) << 40};

/* As much latency as makes the operation take `op_ns`. */
static iw_status calibrate_net(const iw_log *log, const iw_bench_result *result, double op_ns, iw_net *net)
{
    double latencies = 0.0;

    *net = latency_only;
    IW_TRY(count_latencies(log, result, net, &latencies));
    if (latencies > 0.0) {
        net->L_ps = (iw_time)(op_ns * (double)IW_PS_PER_NS / latencies);
    }
    (void)snprintf(net->name, sizeof net->name, "of the measured operation (%.3g us)", op_ns / 1e3);
    return IW_OK;
}

/* ---- trials ---- */

/* What the phases are simulated with, beside the network. */
struct phases {
    const struct bench_opts *opts;
    const struct bench_noise *noise;
    iw_program *program; /* one block */
    uint64_t count;      /* of them in it */
    uint32_t ranks;
    double late_share; /* of the work: ranks that sleep wake up late by an exponential time with this mean */
};

/* Synchronising noise synchronises all sources. So if ranks have a lateness of their own, and detours that
 * begin at one place, they are one node instead, whose ranks share a place. */
static iw_status add_planned(const iw_log *log, const struct phases *phases, iw_noise *made)
{
    const struct bench_noise *noise = phases->noise;
    const bool is_one_node = phases->late_share > 0.0 && noise->opts->injection.sync == IW_SYNC_START;
    const iw_sync sync = is_one_node ? IW_SYNC_NONE : (iw_sync)noise->opts->injection.sync;
    const uint32_t ranks_per_node = is_one_node ? phases->ranks : noise->ranks_per_node;
    iw_recording *planned = NULL;
    iw_status status = bench_noise_planned(log, noise, &planned);

    if (status == IW_OK) {
        status = iw_noise_add_recording(log, made, planned);
    }
    iw_recording_free(planned);
    if (status == IW_OK) {
        iw_noise_align(made, sync, noise->opts->injection.skew_ps, ranks_per_node);
    }
    return status;
}

static iw_status add_lateness(const iw_log *log, double share, iw_noise *made)
{
    char spec[64];

    (void)snprintf(spec, sizeof spec, "phase-exp:%.9f", share);
    return share > 0.0 ? iw_noise_add(log, made, spec) : IW_OK;
}

static uint64_t trials_of(const struct bench_opts *opts, const iw_program *program)
{
    const double fit = MOST_MESSAGES / fmax((double)iw_program_messages(program), 1.0);

    return opts->trials != 0 ? opts->trials : (uint64_t)fmin(fmax(fit, LEAST_TRIALS), MOST_TRIALS);
}

/* Trials of one block, without the planned detours or with them: how long it takes on average. */
static iw_status run_trials(const iw_log *log, const struct phases *phases, const iw_net *net, bool is_noisy,
                            iw_summary *trials_p)
{
    iw_sim_opts sim = IW_SIM_OPTS_INIT;
    iw_sim_result *simulated = NULL;
    iw_noise *made = NULL;
    iw_status status = iw_noise_new(log, &made);

    sim.seed = phases->opts->injection.seed;
    sim.trials = trials_of(phases->opts, phases->program);
    if (status == IW_OK) {
        status = add_lateness(log, phases->late_share, made);
    }
    if (status == IW_OK && is_noisy) {
        status = add_planned(log, phases, made);
    }
    if (status == IW_OK) {
        status = iw_simulate(log, phases->program, net, made, &sim, &simulated);
    }
    if (status == IW_OK) {
        status = iw_summarize_trials(log, simulated, trials_p);
    }
    iw_sim_result_free(simulated);
    iw_noise_free(made);
    return status;
}

/* ---- work and operation, from what was measured without injected noise ---- */

/* How late ranks that sleep wake up, as a share of their work: the mean of all ranks. Hundreds of ranks on a
 * few CPUs do not wake up in time, and the latest of them is some times as late as that. It does not make a
 * phase longer in which another rank was held up for longer. */
static double late_share_of(const struct bench_opts *opts, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;
    double sum = 0.0;

    if (samples->work != IW_BENCH_SLEEP || opts->injection.sync == IW_SYNC_PHASE ||
        opts->injection.skew_ps > 0) {
        return 0.0;
    }
    for (uint32_t i = 0; i < samples->ranks; i++) {
        sum += fmax(samples->of_rank[i].qt_ns[IW_BENCH_QUIET] / samples->quantum_ns - 1.0, 0.0);
    }
    return sum / (double)samples->ranks;
}

/* The operation takes what it took without noise for the rank that came last. Of ranks that sleep it takes
 * what is left of the phase: wherever its messages wait for a CPU, at its beginning or its end, nobody else's
 * delay hides that. */
static iw_status make_net(const iw_log *log, const struct phases *phases, const iw_bench_result *result,
                          iw_net *net)
{
    const iw_bench_times *quiet = &result->times[IW_BENCH_QUIET];
    iw_net none = latency_only;
    iw_summary trials;

    if (phases->late_share <= 0.0) {
        return calibrate_net(log, result, quiet->op.quantile_ns[MEDIAN], net);
    }
    none.L_ps = 0;
    IW_TRY(run_trials(log, phases, &none, false, &trials));
    return calibrate_net(log, result, fmax(quiet->phase_ns.value - trials.mean / (double)phases->count, 0.0),
                         net);
}

/* The work of ranks that sleep includes how late the latest of them wakes up, unless that is simulated. */
static double undisturbed_ns(const iw_bench_result *result, double late_share)
{
    const iw_bench_times *quiet = &result->times[IW_BENCH_QUIET];

    if (result->samples->work == IW_BENCH_SLEEP) {
        return late_share > 0.0
                   ? result->quantum_ns
                   : fmax(quiet->phase_ns.value - quiet->op.quantile_ns[MEDIAN], result->quantum_ns);
    }
    return result->undisturbed_ns > 0.0 ? result->undisturbed_ns : result->quantum_ns;
}

/* ---- all of it ---- */

static iw_status simulate_phases(const iw_log *log, const struct phases *phases, const iw_net *given_net,
                                 iw_bench_result *result)
{
    iw_bench_simulated summary = {.trials = trials_of(phases->opts, phases->program),
                                  .phases = phases->count};
    iw_summary quiet, noisy;
    iw_net net;

    if (given_net != NULL) {
        net = *given_net;
    } else {
        IW_TRY(make_net(log, phases, result, &net));
    }
    IW_TRY(run_trials(log, phases, &net, false, &quiet));
    IW_TRY(run_trials(log, phases, &net, true, &noisy));
    (void)snprintf(summary.net, sizeof summary.net, "%s", net.name);
    summary.noiseless_ns = quiet.mean / (double)phases->count;
    summary.noisy_ns = noisy.mean / (double)phases->count;
    summary.slowdown = (iw_estimate){noisy.mean / quiet.mean - 1.0, noisy.mean_low / quiet.mean - 1.0,
                                     noisy.mean_high / quiet.mean - 1.0};
    iw_bench_set_simulated(result, &summary);
    return IW_OK;
}

int bench_simulate(struct ui *ui, const struct bench_opts *opts, const struct bench_noise *noise,
                   const iw_net *given_net, iw_bench_result *result)
{
    struct phases phases = {.opts = opts,
                            .noise = noise,
                            .count = result->samples->block_phases,
                            .ranks = result->samples->ranks,
                            .late_share = late_share_of(opts, result)};
    iw_status status = make_program(&ui->log, result, phases.count, undisturbed_ns(result, phases.late_share),
                                    &phases.program);

    if (status == IW_OK) {
        status = simulate_phases(&ui->log, &phases, given_net, result);
    }
    iw_program_free(phases.program);
    return ui_exit_of(status);
}

iw_back_end bench_back_end(const struct bench_opts *opts)
{
    return opts->work == IW_BENCH_SLEEP ? IW_BACK_END_SLEEP : (iw_back_end)opts->injection.back_end;
}
