/* The simulation that `bench` compares itself with: the same phases, noise and synchronisation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verbs/bench_noise.h"

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

/* Nothing but latency, and of that as much as makes the operation take what it took without noise, for the
 * rank that came last. */
static int calibrate_net(struct ui *ui, const iw_bench_result *result, iw_net *net)
{
    const double op_ns = result->times[IW_BENCH_QUIET].op.quantile_ns[MEDIAN];
    double latencies = 0.0;
    int code;

    *net = (iw_net){.L_ps = IW_PS_PER_US, .S_bytes = UINT64_C(1) << 40};
    code = ui_exit_of(count_latencies(&ui->log, result, net, &latencies));
    if (code == UI_DONE && latencies > 0.0) {
        net->L_ps = (iw_time)(op_ns * (double)IW_PS_PER_NS / latencies);
    }
    (void)snprintf(net->name, sizeof net->name, "of the measured operation (%.3g us)", op_ns / 1e3);
    return code;
}

/* ---- trials ---- */

static iw_status make_noise(const iw_log *log, const struct bench_noise *noise, iw_noise **noise_p)
{
    iw_recording *planned = NULL;
    iw_status status = bench_noise_planned(log, noise, &planned);

    if (status == IW_OK) {
        status = iw_noise_new(log, noise_p);
    }
    if (status == IW_OK) {
        status = iw_noise_add_recording(log, *noise_p, planned);
    }
    iw_recording_free(planned);
    if (status == IW_OK) {
        iw_noise_align(*noise_p, (iw_sync)noise->opts->injection.sync, noise->opts->injection.skew_ps,
                       noise->ranks_per_node);
    }
    return status;
}

static iw_status summarise(const iw_log *log, const iw_sim_result *simulated, uint64_t phases,
                           iw_bench_simulated *summary)
{
    const double noiseless_ns = (double)simulated->noiseless_ps / (double)IW_PS_PER_NS;
    iw_summary trials;
    const iw_status status = iw_summarize_trials(log, simulated, &trials);

    if (status == IW_OK) {
        summary->trials = simulated->trials;
        summary->phases = phases;
        summary->noiseless_ns = noiseless_ns / (double)phases;
        summary->noisy_ns = trials.mean / (double)phases;
        summary->slowdown =
            (iw_estimate){trials.mean / noiseless_ns - 1.0, trials.mean_low / noiseless_ns - 1.0,
                          trials.mean_high / noiseless_ns - 1.0};
    }
    return status;
}

static uint64_t trials_of(const struct bench_opts *opts, const iw_program *program)
{
    const double fit = MOST_MESSAGES / fmax((double)iw_program_messages(program), 1.0);

    return opts->trials != 0 ? opts->trials : (uint64_t)fmin(fmax(fit, LEAST_TRIALS), MOST_TRIALS);
}

/* The work of a phase without injected noise. That of sleeping ranks includes how late they wake up, the
 * latest of all in each phase: so many on a few CPUs never wake up in time. */
static double undisturbed_ns(const iw_bench_result *result)
{
    const iw_bench_times *quiet = &result->times[IW_BENCH_QUIET];

    if (result->samples->work == IW_BENCH_SLEEP) {
        return fmax(quiet->phase_ns.value - quiet->op.quantile_ns[MEDIAN], result->quantum_ns);
    }
    return result->undisturbed_ns > 0.0 ? result->undisturbed_ns : result->quantum_ns;
}

int bench_simulate(struct ui *ui, const struct bench_opts *opts, const struct bench_noise *noise,
                   const iw_net *given_net, iw_bench_result *result)
{
    const double quantum_ns = undisturbed_ns(result);
    const uint64_t phases = result->samples->block_phases;
    iw_sim_opts sim = IW_SIM_OPTS_INIT;
    iw_bench_simulated summary = {.trials = 0};
    iw_sim_result *simulated = NULL;
    iw_program *program = NULL;
    iw_noise *made = NULL;
    iw_net net;
    int code = UI_DONE;

    if (given_net != NULL) {
        net = *given_net;
    } else {
        code = calibrate_net(ui, result, &net);
    }

    if (code == UI_DONE) {
        code = ui_exit_of(make_noise(&ui->log, noise, &made));
    }
    if (code == UI_DONE) {
        code = ui_exit_of(make_program(&ui->log, result, phases, quantum_ns, &program));
    }
    if (code == UI_DONE) {
        sim.seed = opts->injection.seed;
        sim.trials = trials_of(opts, program);
        code = ui_exit_of(iw_simulate(&ui->log, program, &net, made, &sim, &simulated));
    }
    if (code == UI_DONE) {
        (void)snprintf(summary.net, sizeof summary.net, "%s", net.name);
        code = ui_exit_of(summarise(&ui->log, simulated, phases, &summary));
    }
    if (code == UI_DONE) {
        iw_bench_set_simulated(result, &summary);
    }
    iw_sim_result_free(simulated);
    iw_program_free(program);
    iw_noise_free(made);
    return code;
}
