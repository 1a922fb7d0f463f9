/* What answering a question will take: counted, and timed by a sample.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <math.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "features/simulate/simulate.h"
#include "features/whatif/break_even.h"
#include "features/whatif/changes.h"
#include "features/whatif/smallest_set.h"

/* A sample should take no longer than this, by the forecast, which does not know how busy the noise is. */
static const double SAMPLE_SECONDS = 0.2;

/* What one call of the simulator takes, and what it is made for. */
struct sample {
    double draw_s, make_s; /* a recording drawn anew; the noise of one change */
    double message_s;      /* of one trial, the run without noise shared out */
    uint32_t ranks;
};

static uint64_t sample_trials(const struct iwi_experiment *experiment)
{
    return experiment->redraws > 0 ? experiment->per_redraw : experiment->trials;
}

static iw_status forecast(const struct iwi_experiment *experiment, const iw_program *program, uint64_t trials,
                          iw_forecast *forecast_p)
{
    const iw_log errors = {iwi_pass_error, (void *)experiment->inquiry->log};
    iw_sim_opts opts = experiment->inquiry->job.sim;

    opts.trials = trials;
    opts.progress = (iw_progress){NULL, NULL};
    return iw_forecast_make(&errors, program, experiment->inquiry->job.net, NULL, &opts, forecast_p);
}

static const iw_split_plan *chosen_way(const iw_forecast *forecast)
{
    return forecast->chosen == IW_PARALLEL_RANKS ? &forecast->ranks_split : &forecast->trials_split;
}

/* ---- the sample ---- */

static iw_status simulate(const struct iwi_experiment *experiment, const iw_program *program,
                          const iw_noise *noise, struct sample *sample)
{
    const iw_log errors = {iwi_pass_error, (void *)experiment->inquiry->log};
    iw_sim_opts opts = experiment->inquiry->job.sim;
    const double begin_s = iwi_now_s();
    iw_sim_result *result;

    opts.trials = sample_trials(experiment);
    opts.progress = (iw_progress){NULL, NULL};
    IW_TRY(iw_simulate(&errors, program, experiment->inquiry->job.net, noise, &opts, &result));
    iw_sim_result_free(result);
    sample->message_s = (iwi_now_s() - begin_s) /
                        (fmax(1.0, (double)iw_program_messages(program)) * (double)sample_trials(experiment));
    sample->ranks = iw_program_ranks(program);
    return IW_OK;
}

/* The noise as it is, from a recording drawn anew: what most simulations run under. */
static iw_status time_sample(const struct iwi_experiment *experiment, const iw_program *program,
                             struct sample *sample)
{
    const struct iwi_inquiry *inquiry = experiment->inquiry;
    struct iwi_drawn drawn;
    iw_noise *noise = NULL;
    double begin_s = iwi_now_s();
    iw_status status;

    IW_TRY(
        iwi_drawn_init(inquiry->log, inquiry->set, inquiry->job.sim.seed, experiment->redraws > 0, &drawn));
    sample->draw_s = iwi_now_s() - begin_s;
    begin_s = iwi_now_s();
    status = iwi_set_make(inquiry->log, inquiry->set, &drawn, NULL, &noise);
    sample->make_s = iwi_now_s() - begin_s;
    if (status == IW_OK) {
        status = simulate(experiment, program, noise, sample);
    }
    iw_noise_free(noise);
    iwi_drawn_release(&drawn);
    return status;
}

/* A program of fewer ranks that is quickly simulated, where the job can be made with fewer; else NULL. */
static iw_status make_smaller(const struct iwi_experiment *experiment, double seconds, iw_program **program_p)
{
    const iw_program_maker *maker = &experiment->inquiry->job.program;
    uint32_t ranks = UINT32_C(1) << 30;
    iw_status status = IW_ERR_UNSUPPORTED;

    *program_p = NULL;
    if (seconds <= SAMPLE_SECONDS) {
        return IW_OK;
    }
    while (ranks > 2 &&
           (double)ranks > (double)iw_program_ranks(experiment->program) * SAMPLE_SECONDS / seconds) {
        ranks /= 2;
    }
    status = maker->make(maker->arg, ranks, 1.0, program_p);
    return status == IW_ERR_UNSUPPORTED ? IW_OK : status;
}

static iw_status take_sample(const struct iwi_experiment *experiment, double seconds, struct sample *sample)
{
    const iw_program_maker *maker = &experiment->inquiry->job.program;
    iw_program *smaller;
    iw_status status;

    IW_TRY(make_smaller(experiment, seconds, &smaller));
    status = time_sample(experiment, smaller != NULL ? smaller : experiment->program, sample);
    if (smaller != NULL) {
        maker->release(maker->arg, smaller);
    }
    return status;
}

/* ---- all of it ---- */

static void fill_seconds(const iw_whatif_opts *opts, struct iwi_experiment *experiment,
                         const struct sample *sample, iw_whatif_plan *plan)
{
    const double variants = (double)plan->change_count + 1.0;
    const double trial_s = sample->message_s * fmax(1.0, (double)plan->messages);

    plan->simulations = (uint64_t)variants * iwi_experiment_values(experiment);
    plan->seconds = (double)plan->redraws * sample->draw_s +
                    variants * (1.0 + (double)plan->redraws) * sample->make_s +
                    (double)plan->simulations * trial_s;
    if (opts->target >= 0.0) {
        plan->target_seconds =
            (double)iwi_smallest_set_budget(experiment) * (sample->make_s + (double)plan->trials * trial_s);
    }
    if (experiment->reserved != NULL) {
        plan->reserve_seconds = iwi_break_even_messages(experiment) * sample->message_s;
    }
    plan->sample_ranks = sample->ranks;
}

static iw_status fill(const iw_whatif_opts *opts, struct iwi_experiment *experiment, iw_whatif_plan *plan)
{
    struct iwi_changes changes = {NULL, 0, 0};
    struct sample sample = {0};
    iw_forecast all;

    IW_TRY(iwi_changes_list(experiment->inquiry->log, experiment->inquiry->set, opts,
                            experiment->reserved != NULL, &changes));
    *plan = (iw_whatif_plan){.ranks = iw_program_ranks(experiment->program),
                             .messages = iw_program_messages(experiment->program),
                             .change_count = changes.count,
                             .trials = experiment->trials,
                             .redraws = experiment->redraws,
                             .per_redraw = experiment->per_redraw};
    iwi_changes_release(&changes);
    IW_TRY(forecast(experiment, experiment->program, experiment->trials, &all));
    plan->bytes = chosen_way(&all)->process_bytes;
    plan->room_bytes = all.room_bytes;
    IW_TRY(forecast(experiment, experiment->program, sample_trials(experiment), &all));
    IW_TRY(take_sample(experiment, chosen_way(&all)->compute_s + chosen_way(&all)->exchange_s, &sample));
    fill_seconds(opts, experiment, &sample, plan);
    return IW_OK;
}

iw_status iw_whatif_plan_make(const iw_log *log, const iw_noise_set *set, const iw_whatif_opts *given,
                              iw_whatif_plan *plan_p)
{
    iw_whatif_opts known = IW_WHATIF_OPTS_INIT;
    const iw_whatif_opts *opts = &known;
    struct iwi_inquiry inquiry = {.log = log, .set = set, .blocks = iwi_set_blocks(set)};
    struct iwi_experiment experiment;
    iw_whatif_plan plan;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WHATIF_OPTS_INIT", given, &known));
    IW_TRY(iwi_whatif_check(log, opts));
    inquiry.job = iwi_whatif_job(opts);
    IW_TRY(iwi_experiment_init(&inquiry, 0, opts->sim.trials, opts->redraws, &experiment));
    status = fill(opts, &experiment, &plan);
    iwi_experiment_release(&experiment);
    if (status == IW_OK) {
        *plan_p = plan;
    }
    return status;
}
