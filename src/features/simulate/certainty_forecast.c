/* What a simulation will take, with all that is simulated besides to say how sure it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/noise_set.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/sim/split/forecast.h"
#include "features/simulate/simulate.h"

/* Time and slowdown of a simulation that the sample did not get to the end of. */
static const double GUESSED_SLOWDOWN = 0.1;

static uint64_t redrawn_each(const iw_certainty_question *q)
{
    return iw_certainty_trials(q->set, q->opts->trials) / IW_CERTAINTY_REDRAWS;
}

static double slowdown_of(const struct iwi_sampled *sampled)
{
    return sampled->noiseless_ps > 0 && sampled->makespan_ps > 0.0
               ? sampled->makespan_ps / (double)sampled->noiseless_ps - 1.0
               : GUESSED_SLOWDOWN;
}

static iw_time quiet_of(const struct iwi_sampled *sampled)
{
    return sampled->noiseless_ps > 0 ? sampled->noiseless_ps : IW_PS_PER_S;
}

/* So many trials, of noise that takes make_s to be made, as a simulation of their own. */
static double trials_s(const iw_forecast *all, const struct iwi_sampled *sampled, double make_s,
                       uint64_t trials)
{
    const double batches = ceil((double)trials / all->trials_split.lanes);

    return trials == 0
               ? 0.0
               : make_s + sampled->plan_s + sampled->batches.begin_s + batches * sampled->batches.each_s;
}

/* Drawing recordings anew, fitting laws to them, and simulating those. */
static iw_status sample_redraws(const iw_log *log, const iw_certainty_question *q, double enough_s,
                                struct iwi_certainty_effort *effort)
{
    const double begin_s = iwi_process_cpu_s();
    struct iwi_sampled sampled;
    iw_sim_opts opts = *q->opts;
    iw_noise *noise = NULL;
    iw_forecast redraw;
    iw_status status;

    opts.trials = redrawn_each(q);
    opts.want_explain = false;
    IW_TRY(iw_noise_set_make(log, q->set, NULL, opts.seed, 1, &noise));
    effort->counting_s = IW_CERTAINTY_REDRAWS * (iwi_process_cpu_s() - begin_s);
    status = iwi_forecast_parts(log, q->program, q->net, noise, &opts, enough_s, &redraw, &sampled);
    iw_noise_free(noise);
    IW_TRY(status);
    effort->simulating_s = IW_CERTAINTY_REDRAWS * trials_s(&redraw, &sampled, 0.0, opts.trials);
    return IW_OK;
}

/* What the recording adds to an interval, by counting it once. */
static iw_status count_once(const iw_log *log, const iw_certainty_question *q,
                            const struct iwi_sampled *sampled, struct iwi_certainty_effort *effort)
{
    const double begin_s = iwi_process_cpu_s(), slowdown = slowdown_of(sampled);
    const struct iwi_exposure exposure = {.ranks = iw_program_ranks(q->program),
                                          .quiet_s = (double)quiet_of(sampled) / (double)IW_PS_PER_S};
    double slowdowns[IW_CERTAINTY_LEAST_TRIALS];
    iw_estimate estimate;

    for (size_t i = 0; i < IW_CERTAINTY_LEAST_TRIALS; i++) {
        slowdowns[i] = slowdown;
    }
    IW_TRY(iwi_count_recording(log, q->set, &exposure, slowdowns, IW_CERTAINTY_LEAST_TRIALS, q->opts->seed,
                               &estimate, NULL));
    effort->counting_s = iwi_process_cpu_s() - begin_s;
    return IW_OK;
}

iw_status iwi_certainty_sample(const iw_log *log, const iw_certainty_question *q, const iw_forecast *all,
                               const struct iwi_sampled *sampled, double make_s, double enough_s,
                               struct iwi_certainty_effort *effort_p)
{
    const uint64_t trials = q->opts->trials;
    const iw_reach reach = iw_reach_of(q->set, all->ranks, quiet_of(sampled), slowdown_of(sampled));

    *effort_p = (struct iwi_certainty_effort){0.0, 0.0};
    if (redrawn_each(q) > 0) {
        IW_TRY(sample_redraws(log, q, enough_s, effort_p));
    } else if (trials >= IW_CERTAINTY_LEAST_TRIALS && reach.watched_s > 0.0 && !reach.is_extrapolated) {
        IW_TRY(count_once(log, q, sampled, effort_p));
    }
    if (reach.sensitivity.length_ns > 0 && q->opts->rules != IW_RULES_LOGGOPSIM) {
        effort_p->counting_s += make_s;
        effort_p->simulating_s += trials_s(all, sampled, 0.0, iwi_sensitivity_trials(trials));
    }
    return IW_OK;
}

/* What else a simulation is asked. */
static double more_trials_s(const iw_certainty_question *q, const iw_forecast *all,
                            const struct iwi_sampled *sampled, double make_s)
{
    const uint64_t trials = q->opts->trials;

    return trials_s(all, sampled, make_s, iw_node_wide_trials(q->set, trials)) +
           trials_s(all, sampled, 2.0 * make_s, iw_independence_trials(q->set, trials)) +
           0.5 * trials_s(all, sampled, make_s, iw_steady_trials(q->set, q->program, trials));
}

static double time_making(const iw_log *log, const iw_certainty_question *q, iw_noise **noise_p,
                          iw_status *status)
{
    const double begin_s = iwi_process_cpu_s();

    *status = iw_noise_set_make(log, q->set, NULL, q->opts->seed, 0, noise_p);
    return iwi_process_cpu_s() - begin_s;
}

iw_status iw_certainty_forecast(const iw_log *log, const iw_certainty_question *question,
                                iw_forecast *forecast_p)
{
    const double begin_s = iwi_process_cpu_s(); /* starting and reading, which a run does too */
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwi_sampled sampled;
    iw_noise *noise = NULL;
    struct iwi_certainty_effort effort;
    double make_s;
    iw_forecast all;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    make_s = time_making(log, &known, &noise, &status);
    IW_TRY(status);
    status = iwi_forecast_parts(log, known.program, known.net, noise, &opts, IWI_SAMPLE_S, &all, &sampled);
    if (status == IW_OK) {
        status = iwi_certainty_sample(log, &known, &all, &sampled, make_s, IWI_SAMPLE_S, &effort);
    }
    iw_noise_free(noise);
    if (status == IW_OK) {
        const double more_s =
            effort.simulating_s + effort.counting_s + more_trials_s(&known, &all, &sampled, make_s);

        all.cpu_s += begin_s * all.processes + more_s;
        all.elapsed_s += begin_s + more_s;
        *forecast_p = all;
    }
    return status;
}
