/* The interval of one simulation that counts the recording behind its noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise_set.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/numeric/numeric.h"
#include "core/stats/mean_interval.h"
#include "features/simulate/experiment.h"
#include "features/simulate/interval.h"
#include "features/simulate/job_again.h"
#include "features/simulate/reach.h"
#include "features/simulate/sensitivity.h"

uint32_t iwi_certainty_per_redraw(uint64_t trials)
{
    return (uint32_t)((2 * trials + IW_CERTAINTY_REDRAWS - 1) / IW_CERTAINTY_REDRAWS);
}

/* Whether it takes simulations. */
static bool has_redraws(const iw_noise_set *set, uint64_t trials)
{
    return iw_noise_set_law(set, 0) != NULL && trials >= IW_CERTAINTY_LEAST_TRIALS &&
           iwi_set_blocks(set) >= 2;
}

uint64_t iw_certainty_trials(const iw_noise_set *set, uint64_t trials)
{
    return has_redraws(set, trials) ? (uint64_t)IW_CERTAINTY_REDRAWS * iwi_certainty_per_redraw(trials) : 0;
}

/* ---- the job again ---- */

static iw_status give_program(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    (void)ranks;
    (void)work;
    *program_p = arg;
    return IW_OK;
}

static void keep_program(void *arg, iw_program *program)
{
    (void)arg;
    (void)program;
}

struct iwi_paired_job iwi_certainty_job(const iw_certainty_question *question)
{
    return (struct iwi_paired_job){.sim = *question->opts,
                                   .net = question->net,
                                   .program = {give_program, keep_program, (void *)question->program},
                                   .redraws = IW_CERTAINTY_REDRAWS};
}

void iwi_certainty_slowdowns(const iw_sim_result *result, double *slowdowns)
{
    for (uint64_t i = 0; i < result->trials; i++) {
        slowdowns[i] = (double)(result->makespan_ps[i] - result->noiseless_ps) / (double)result->noiseless_ps;
    }
}

/* Slowdowns of the trials, then room for those of redraws. */
static iw_status new_values(const iw_log *log, const iw_sim_result *result, size_t room, double **values_p)
{
    double *values = iwi_new_array(log, room, sizeof *values);

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_certainty_slowdowns(result, values);
    *values_p = values;
    return IW_OK;
}

static iw_status run_redraws(const iw_log *log, const iw_certainty_question *q, iw_estimate *slowdown_p)
{
    const struct iwi_variant as_it_is = {.is_removed = NULL};
    struct iwi_inquiry inquiry = {
        .log = log, .set = q->set, .job = iwi_certainty_job(q), .blocks = iwi_set_blocks(q->set)};
    struct iwi_experiment experiment;
    double *values;
    iw_status status;

    IW_TRY(iwi_experiment_init(&inquiry, 0, q->result->trials, IW_CERTAINTY_REDRAWS, &experiment));
    experiment.per_redraw = iwi_certainty_per_redraw(q->result->trials);
    experiment.noiseless_ps = q->result->noiseless_ps;
    inquiry.work_total = iw_program_messages(q->program) * iw_certainty_trials(q->set, q->result->trials);
    IW_TRY(new_values(log, q->result, iwi_experiment_values(&experiment), &values));
    status = iwi_experiment_run_redraws(&experiment, &as_it_is, 1, values);
    if (status == IW_OK) {
        *slowdown_p = iwi_experiment_slowdown(&experiment, values, &as_it_is);
    }
    free(values);
    return status;
}

/* ---- by the model ---- */

/* Beyond this Student's law is the normal one. */
static const double MOST_FREEDOM = 1e6;

/* A variance v of a ratio is that of 1/v events that come at random. */
static double freedom_of(double variance)
{
    return fmin(fmax(2.0, 1.0 / variance - 1.0), MOST_FREEDOM);
}

static double least_of(const double *slowdowns, size_t count)
{
    double least = INFINITY;

    for (size_t i = 0; i < count; i++) {
        least = fmin(least, slowdowns[i]);
    }
    return least;
}

/* What is left at least of what comes often, drawn anew. */
static double least_often(const struct iwi_file_spread *spread)
{
    return fmax(0.0, 1.0 - iwi_t_quantile(0.975, freedom_of(spread->often_variance)) *
                               sqrt(spread->often_variance));
}

/* The slowdown that is there however few long detours there are: by the model a part of the mean, or what a
 * rank loses by itself, which the model leaves out where it comes many times in a phase. No more than any
 * trial has, all of which meet what comes often. */
static double sure_slowdown(const struct iwi_file_spread *spread, double mean, double least)
{
    return least_often(spread) * fmax(0.0, fmin(fmax(spread->often_part * mean, spread->often_share), least));
}

iw_status iwi_count_recording(const iw_log *log, const iw_noise_set *set, const struct iwi_exposure *exposure,
                              const double *slowdowns, size_t count, uint64_t seed, iw_estimate *slowdown_p,
                              double *most_p)
{
    const double mean = iwi_mean_estimate(slowdowns, count).value, least = least_of(slowdowns, count);
    const iw_reach reach = iwi_reach_for(set, exposure, mean);
    struct iwi_file_spread spread;
    double most;

    IW_TRY(iwi_recording_spread(log, set, exposure, mean, seed, &spread));
    *slowdown_p = iwi_paired_interval(
        &(struct iwi_sample){.trials = slowdowns,
                             .trial_count = count,
                             .file_variance = spread.variance * mean * mean,
                             .file_freedom = freedom_of(spread.variance),
                             .file_below = (1.0 - spread.least_part) * mean,
                             .file_floor = spread.often_part * least_often(&spread),
                             .file_sure = sure_slowdown(&spread, mean, fmin(mean, least)),
                             .one_hit = (double)reach.longest_ns * 1e-9 / exposure->quiet_s,
                             .most_unmet = INFINITY});
    /* Noise makes nothing faster, but for programs in which what comes first decides what runs next
     * (docs/explanation/semantics.md, 9): their trials show it. */
    if (slowdown_p->low < 0.0) {
        slowdown_p->low = fmax(slowdown_p->low, fmin(0.0, least));
    }
    most = slowdown_p->high + reach.unseen;
    slowdown_p->high = reach.is_bound ? INFINITY : most;
    if (most_p != NULL) {
        *most_p = most;
    }
    return IW_OK;
}

static iw_status count_recording(const iw_log *log, const iw_certainty_question *q, iw_estimate *slowdown_p)
{
    const iw_sim_result *result = q->result;
    const struct iwi_exposure exposure = {.ranks = result->ranks,
                                          .quiet_s = (double)result->noiseless_ps / (double)IW_PS_PER_S};
    double *values;
    iw_status status;

    IW_TRY(new_values(log, result, (size_t)result->trials, &values));
    status = iwi_count_recording(log, q->set, &exposure, values, (size_t)result->trials, result->seed,
                                 slowdown_p, NULL);
    free(values);
    return status;
}

/* ---- both ---- */

static double mean_slowdown(const iw_sim_result *result)
{
    double sum = 0.0;

    for (uint64_t i = 0; i < result->trials; i++) {
        sum += (double)(result->makespan_ps[i] - result->noiseless_ps);
    }
    return sum / (double)result->trials / (double)result->noiseless_ps;
}

static iw_status find_sensitivity(const iw_log *log, const iw_certainty_question *q,
                                  iw_sensitivity *sensitivity)
{
    struct iwi_inquiry inquiry = {.log = log, .set = q->set, .job = iwi_certainty_job(q)};
    struct iwi_experiment experiment;
    double *values;
    iw_status status;

    if (sensitivity->length_ns == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_experiment_init(&inquiry, 0, q->result->trials, 0, &experiment));
    experiment.noiseless_ps = q->result->noiseless_ps;
    IW_TRY(new_values(log, q->result, (size_t)q->result->trials, &values));
    status = iwi_sensitivity_find(&experiment, values, sensitivity);
    free(values);
    return status;
}

static iw_status find(const iw_log *log, const iw_certainty_question *question, iw_certainty *certainty_p)
{
    const iw_sim_result *result = question->result;
    const double slowdown = result->noiseless_ps > 0 ? mean_slowdown(result) : NAN;
    iw_certainty certainty = {.reach =
                                  iw_reach_of(question->set, result->ranks, result->noiseless_ps, slowdown),
                              .slowdown = {slowdown, NAN, NAN}};

    if (!isnan(slowdown) && has_redraws(question->set, result->trials)) {
        IW_TRY(run_redraws(log, question, &certainty.slowdown));
    } else if (!isnan(slowdown) && result->trials >= IW_CERTAINTY_LEAST_TRIALS &&
               certainty.reach.watched_s > 0.0 && !certainty.reach.is_extrapolated) {
        IW_TRY(count_recording(log, question, &certainty.slowdown));
    }
    IW_TRY(find_sensitivity(log, question, &certainty.reach.sensitivity));
    *certainty_p = certainty;
    return IW_OK;
}

iw_status iw_certainty_find(const iw_log *log, const iw_certainty_question *question,
                            iw_certainty *certainty_p)
{
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    return find(log, &known, certainty_p);
}
