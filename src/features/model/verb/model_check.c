/* `model --check`: the simulator on the same question.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/verb/model_opts.h"

#include <inttypes.h>

#include "process/progress.h"

static int make_noise(struct ui *ui, const struct model_opts *opts, const struct model_run *run,
                      iw_noise **noise_p)
{
    char buf[128];
    const char *spec = run->law != NULL ? iw_law_noise_spec(run->law, model_noise(opts), buf, sizeof buf)
                                        : model_noise(opts);
    iw_status status = iw_noise_new(&ui->log, noise_p);

    if (status == IW_OK) {
        iw_noise_only_cpus(*noise_p, run->only);
        status = iw_noise_open(&ui->log, *noise_p, spec);
    }
    return ui_exit_of(status);
}

/* Repetitions whose second half is the steady state that models of phases are about: at the start of a run
 * detours are under way, behind a barrier none is. */
enum { PHASES = 6 };

/* The theorem's barrier is a reduction up a complete binary tree and a broadcast down it. */
static iw_status simulate_phases(struct ui *ui, const struct model_opts *opts, const struct model_run *run,
                                 const iw_noise *noise, size_t i, uint64_t phases, iw_sim_result **result_p)
{
    const bool is_tree = run->report.question.barrier == IW_MODEL_TREE;
    iw_sim_opts sim = IW_SIM_OPTS_INIT;
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_status status;

    pattern.ranks = (uint32_t)run->ranks[i];
    pattern.compute_ps = opts->compute_ps;
    pattern.repeat = phases;
    sim.trials = opts->trials;
    sim.seed = opts->seed;
    status = iw_program_from_pattern(
        &ui->log, is_tree ? "reduce:binary+bcast:binary" : "barrier:dissemination", &pattern, &program);
    if (status == IW_OK) {
        status = iw_simulate(&ui->log, program, run->net, noise, &sim, result_p);
    }
    iw_program_free(program);
    return status;
}

/* The times of `whole` become what each phase of its second half takes. */
static void leave_later_phase(const iw_sim_result *half, iw_sim_result *whole)
{
    for (uint64_t t = 0; t < whole->trials; t++) {
        whole->makespan_ps[t] = (whole->makespan_ps[t] - half->makespan_ps[t]) / (PHASES / 2);
    }
}

static iw_status simulate_row(struct ui *ui, const struct model_opts *opts, const struct model_run *run,
                              const iw_noise *noise, size_t i, iw_model_check *check)
{
    const bool is_steady = !run->report.is_cone && run->report.question.work_ns > 0;
    iw_sim_result *result = NULL, *half = NULL;
    iw_summary summary;
    iw_status status = simulate_phases(ui, opts, run, noise, i, is_steady ? PHASES : 1, &result);

    if (status == IW_OK && is_steady) {
        status = simulate_phases(ui, opts, run, noise, i, PHASES / 2, &half);
    }
    if (status == IW_OK && is_steady) {
        leave_later_phase(half, result);
    }
    if (status == IW_OK) {
        status = iw_summarize_trials(&ui->log, result, &summary);
    }
    if (status == IW_OK) {
        *check = (iw_model_check){opts->trials, {summary.mean, summary.mean_low, summary.mean_high}};
    }
    iw_sim_result_free(result);
    iw_sim_result_free(half);
    return status;
}

int model_check(struct ui *ui, const struct model_opts *opts, struct model_run *run)
{
    struct progress progress;
    iw_noise *noise = NULL;
    iw_status status = IW_OK;
    int code;

    if (run->ranks[0] > opts->check_ranks) {
        return ui_usage(ui,
                        "--check simulates up to %" PRIu64 " ranks, fewer than all of --ranks: use a larger "
                        "--check-ranks, or smaller --ranks",
                        opts->check_ranks);
    }
    code = make_noise(ui, opts, run, &noise);
    progress_begin(&progress, (double)run->count, NULL);
    progress_tell(&progress, ui->verb, false);
    ui->progress = &progress;
    for (size_t i = 0; i < run->count && code == UI_DONE && status == IW_OK; i++) {
        if (run->ranks[i] <= opts->check_ranks) {
            status = simulate_row(ui, opts, run, noise, i, &run->rows[i].simulated);
        }
        progress_update(&progress, (double)(i + 1) / (double)run->count);
    }
    ui->progress = NULL;
    progress_wipe(&progress);
    iw_noise_free(noise);
    return code != UI_DONE ? code : ui_exit_of(status);
}
