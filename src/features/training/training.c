/* A training program from its settings to its result.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/training.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/node_speed.h"
#include "features/training/step_run.h"
#include "features/training/trials.h"

/* ---- the rate of a GPU from what is published of a whole step ---- */

/* ---- results ---- */

/* Of a GPU in a step, the mean over stages. */
static iw_time compute_of(const struct iwi_train_plan *plan)
{
    iw_time sum = 0;

    for (uint32_t s = 0; s < plan->pp; s++) {
        for (uint32_t i = 0; i < plan->stages[s].count; i++) {
            sum += plan->stages[s].ops[i].work_ps;
        }
    }
    return sum / iwi_max(1, plan->pp) + plan->optimizer_ps;
}

static void describe(const iw_training *spec, const iw_training_opts *opts, const struct iwi_train_plan *plan,
                     iw_training_result *result)
{
    const uint64_t width = (uint64_t)spec->tp * spec->cp * spec->dp;

    snprintf(result->name, sizeof result->name, "%s", spec->name);
    result->tp = spec->tp;
    result->cp = spec->cp;
    result->ep = spec->ep;
    result->dp = spec->dp;
    result->pp = spec->pp;
    result->chunks = spec->chunks;
    result->microbatches = spec->microbatches;
    result->has_model = iwi_training_has_model(spec);
    result->steps = opts->steps;
    result->trials = opts->trials;
    result->seed = opts->seed;
    result->cost_per_hour = opts->cost_per_hour;
    result->operations = plan->turn_count * width;
    result->compute_ps = compute_of(plan);
    result->rows = spec->row_count + spec->once_count;
    result->even_bubble = (spec->pp - 1.0) / ((double)spec->chunks * spec->microbatches);
    result->bubble = iwi_plan_bubble(plan, result->noiseless_ps);
    result->rate = result->has_model ? result->sizes.step_flop / (double)result->sizes.gpus /
                                           ((double)result->noiseless_ps * 1e-12)
                                     : (double)NAN;
    result->volume_count = plan->volume_count;
    for (uint32_t i = 0; i < plan->volume_count; i++) {
        result->volumes[i] = plan->volumes[i];
    }
    result->source_count = spec->source_count;
    for (uint32_t i = 0; i < spec->source_count; i++) {
        result->sources[i] = spec->sources[i];
    }
    if (iwi_node_speed_is_spec(spec->slow)) {
        snprintf(result->slow, sizeof result->slow, "%s", spec->slow);
    }
    result->has_jitter = spec->source_count > 0 || spec->slow[0] != '\0' || spec->forward_sigma > 0 ||
                         spec->backward_sigma > 0;
}

static void conclude(iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;

    result->loss = result->step_ns.value / noiseless_ns - 1.0;
    result->scatter = result->step_ns.value / result->p10_ns - 1.0;
    result->gpu_hours = (double)result->sizes.gpus * (1.0 - noiseless_ns / result->step_ns.value);
    result->cost_per_day =
        result->cost_per_hour > 0 ? result->gpu_hours * 24.0 * result->cost_per_hour : (double)NAN;
}

static void conclude_quiet(iw_training_result *result)
{
    const double ns = (double)result->noiseless_ps / 1e3;

    result->step_ns = (iw_estimate){ns, ns, ns};
    result->p10_ns = result->median_ns = result->p90_ns = result->worst_ns = ns;
    result->trials = 1;
    result->steps = 1;
    conclude(result);
}

static iw_status keep_steps(const iw_log *log, const struct iwi_trials *trials, iw_training_result *result)
{
    result->step_time_ns = iwi_new_array(log, (size_t)trials->opts->steps, sizeof *result->step_time_ns);
    if (result->step_time_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    result->trial_ns = iwi_new_array(log, (size_t)trials->opts->trials, sizeof *result->trial_ns);
    if (result->trial_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(result->trial_ns, trials->mean_ns, (size_t)trials->opts->trials * sizeof *result->trial_ns);
    result->step_time_count = trials->opts->steps;
    for (uint64_t i = 0; i < trials->opts->steps; i++) {
        result->step_time_ns[i] = (uint64_t)trials->step_ns[i];
    }
    return IW_OK;
}

static iw_status new_results(const iw_log *log, struct iwi_trials *trials)
{
    const iw_training_opts *opts = trials->opts;

    trials->step_ns = iwi_new_array(log, (size_t)(opts->trials * opts->steps), sizeof *trials->step_ns);
    trials->mean_ns = iwi_new_array(log, (size_t)(opts->trials * trials->count), sizeof *trials->mean_ns);
    if (opts->wants_bill && trials->variants[0].spec->source_count > 0) {
        trials->taken = iwi_new_array(log, (size_t)opts->trials, sizeof *trials->taken);
        IW_TRY(trials->taken != NULL ? IW_OK : IW_ERR_NOMEM);
    }
    return trials->step_ns != NULL && trials->mean_ns != NULL ? IW_OK : IW_ERR_NOMEM;
}

static iw_status run_trials(const iw_log *log, struct iwi_trials *trials, iw_training_result *result)
{
    iw_status status = iwi_variants_make(log, trials, result);

    if (status == IW_OK) {
        status = new_results(log, trials);
    }
    if (status == IW_OK) {
        status = iwi_trials_run(log, trials);
    }
    if (status == IW_OK) {
        status = iwi_bill_fill(log, trials, result);
    }
    if (status == IW_OK) {
        status = keep_steps(log, trials, result);
    }
    free(trials->step_ns);
    free(trials->mean_ns);
    free(trials->taken);
    return status;
}

static iw_status try_quiet(const iw_log *log, struct iwi_trials *trials, iw_training_result *result)
{
    conclude_quiet(result);
    IW_TRY(iwi_variants_make_tries(log, trials, result));
    iwi_bill_fill_noiseless(trials, result);
    return IW_OK;
}

/* All of it one after the other; times are exact up to 53 days. */
static iw_status check_length(const iw_log *log, const struct iwi_train_plan *plan, uint64_t steps)
{
    const double most_s = 4e6;
    double sum_s = 0;

    for (uint32_t s = 0; s < plan->pp; s++) {
        const struct iwi_train_stage *stage = &plan->stages[s];

        for (uint32_t i = 0; i < stage->count; i++) {
            const struct iwi_train_op *op = &stage->ops[i];

            sum_s += 1e-12 * ((double)op->work_ps + (double)op->collective_ps + (double)op->hop_ps +
                              (double)op->launches * (double)plan->launch_ps);
        }
        for (uint32_t k = 0; k < stage->bucket_count; k++) {
            sum_s += 1e-12 * ((double)stage->buckets[k].reduce_ps + (double)stage->buckets[k].gather_ps);
        }
    }
    sum_s += 1e-12 * ((double)plan->norm_ps + (double)plan->optimizer_ps + (double)plan->load_ps);
    return sum_s * (double)(steps + plan->prefetch + 3) < most_s
               ? IW_OK
               : iwi_fail(
                     log, IW_ERR_RANGE,
                     "all steps together could exceed the 46 days that can be simulated: use fewer steps");
}

static iw_status run_jittery(const iw_log *log, struct iwi_trials *trials, iw_training_result *result)
{
    struct iwi_train_jitter *jitter;
    iw_status status;

    IW_TRY(iwi_train_jitter_new(log, trials->variants[0].spec, trials->opts, &jitter));
    trials->variants[0].jitter = jitter;
    result->caveats = jitter->caveats;
    status = run_trials(log, trials, result);
    iwi_train_jitter_free(jitter);
    if (status == IW_OK) {
        conclude(result);
    }
    return status;
}

static iw_status run_plan(const iw_log *log, const iw_training *spec, const iw_training_opts *opts,
                          const struct iwi_train_plan *plan, iw_training_result *result)
{
    struct iwi_trials *trials;
    iw_status status;

    IW_TRY(check_length(log, plan, opts->steps));
    IW_TRY(iwi_noiseless_step(log, spec, plan, &result->noiseless_ps));
    describe(spec, opts, plan, result);
    trials = iwi_new_array(log, 1, sizeof *trials);
    if (trials == NULL) {
        return IW_ERR_NOMEM;
    }
    trials->opts = opts;
    trials->count = 1;
    trials->variants[0] = (struct iwi_train_variant){
        .spec = spec, .plan = plan, .noiseless_ps = result->noiseless_ps, .steps = opts->steps};
    status = result->has_jitter ? run_jittery(log, trials, result) : try_quiet(log, trials, result);
    iwi_variants_release(trials);
    free(trials);
    return status;
}

iw_status iw_training_run(const iw_log *log, const iw_training *spec, const iw_training_opts *opts,
                          iw_training_result **result_p)
{
    const iw_training_opts usual = IW_TRAINING_OPTS_INIT;
    iw_training own = *spec;
    iw_training_result *result;
    struct iwi_train_plan *plan = NULL;
    iw_status status;

    opts = opts != NULL ? opts : &usual;
    result = iwi_new_array(log, 1, sizeof *result);
    if (result == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iw_training_measure(log, spec, &result->sizes);
    if (status == IW_OK) {
        status = iwi_training_settle(log, &own);
    }
    if (status == IW_OK) {
        status = iwi_train_plan_new(log, &own, &plan);
    }
    if (status == IW_OK) {
        status = run_plan(log, &own, opts, plan, result);
    }
    iwi_train_plan_free(plan);
    if (status != IW_OK) {
        iw_training_result_free(result);
        return status;
    }
    *result_p = result;
    return IW_OK;
}

void iw_training_result_free(iw_training_result *result)
{
    if (result != NULL) {
        free(result->step_time_ns);
        free(result->trial_ns);
        free(result);
    }
}
