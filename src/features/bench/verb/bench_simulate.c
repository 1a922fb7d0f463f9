/* The simulation that `bench` compares itself with: the same phases, noise and synchronisation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "features/bench/verb/bench_noise.h"

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
