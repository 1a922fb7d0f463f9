/* What jitter costs: the program as it is and each of its variants, in pairs of trials; what is absorbed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/mean_interval.h"
#include "features/training/trials.h"

static iw_status sum_up_steps(const iw_log *log, const struct iwi_trials *trials, iw_training_result *result)
{
    const size_t count = (size_t)(trials->opts->steps * trials->opts->trials);
    double *sorted = iwi_new_array(log, count, sizeof *sorted);

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = trials->step_ns[i];
    }
    iwi_sort_doubles(sorted, count);
    result->p10_ns = iw_quantile_sorted(sorted, count, 0.1);
    result->median_ns = iw_quantile_sorted(sorted, count, 0.5);
    result->p90_ns = iw_quantile_sorted(sorted, count, 0.9);
    result->worst_ns = sorted[count - 1];
    free(sorted);
    return IW_OK;
}

/* ---- changes ---- */

static void price(iw_training_result *result, iw_training_change *row)
{
    row->share = row->saved_ns.value * 1e3 / (double)result->noiseless_ps;
    row->gpu_hours = (double)result->sizes.gpus * row->saved_ns.value / result->step_ns.value;
    row->cost_per_day = result->cost_per_hour > 0 ? row->gpu_hours * 24.0 * result->cost_per_hour : NAN;
}

/* What the changed program is without jitter; of a usual batch. */
static void describe(const struct iwi_train_variant *variant, double step_ns, iw_training_change *row)
{
    const double batch = (double)variant->plan->batch / (double)variant->plan->usual_batch;

    row->batch = batch;
    row->noiseless_ns = (double)variant->noiseless_ps / 1e3 / batch;
    row->bubble = iwi_plan_bubble(variant->plan, variant->noiseless_ps);
    row->loss = step_ns / row->noiseless_ns - 1.0;
}

void iwi_bill_fill_noiseless(const struct iwi_trials *trials, iw_training_result *result)
{
    for (uint32_t c = 0; c < result->change_count; c++) {
        iw_training_change *row = &result->changes[c];
        double saved_ns;

        describe(&trials->variants[1 + c], 0, row);
        row->loss = 0;
        saved_ns = (double)result->noiseless_ps / 1e3 - row->noiseless_ns;
        row->saved_ns = (iw_estimate){saved_ns, saved_ns, saved_ns};
        price(result, row);
    }
}

static void fill_changes(const struct iwi_trials *trials, double *values, iw_training_result *result)
{
    const uint64_t count = trials->opts->trials;

    for (uint32_t c = 0; c < result->change_count; c++) {
        const double *mean_ns = trials->mean_ns + (1 + c) * count;
        iw_training_change *row = &result->changes[c];

        for (uint64_t t = 0; t < count; t++) {
            values[t] = trials->mean_ns[t] - mean_ns[t];
        }
        row->saved_ns = iwi_mean_estimate(values, (size_t)count);
        price(result, row);
        describe(&trials->variants[1 + c], result->step_ns.value - row->saved_ns.value, row);
    }
}

/* ---- what is absorbed ---- */

/* Of the longest that a source takes from a rank, trial by trial: what reaches the step; what would if the
 * GPU itself was stopped. */
struct absorbed {
    double longest, reaches, stopped;
};

static struct absorbed absorbed_in(const struct iwi_trials *trials, uint32_t source, uint64_t trial)
{
    const uint64_t count = trials->opts->trials;
    const struct iwi_train_taken *taken = &trials->taken[trial];
    const double without = trials->mean_ns[trials->without[source] * count + trial];
    struct absorbed a = {.longest = taken->longest_ns[source] / (double)taken->steps[source],
                         .reaches = trials->mean_ns[trial] - without};

    a.stopped = trials->moved[source] > 0 ? trials->mean_ns[trials->moved[source] * count + trial] - without
                                          : a.reaches;
    return a;
}

static void fill_absorption(const struct iwi_trials *trials, uint32_t source, double *values,
                            iw_training_absorption *row)
{
    const uint64_t count = trials->opts->trials;
    iw_estimate *parts[] = {&row->longest_ns, &row->ahead_ns, &row->slack_ns, &row->reaches_ns};

    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        for (uint64_t t = 0; t < count; t++) {
            const struct absorbed a = absorbed_in(trials, source, t);
            const double each[] = {a.longest, a.stopped - a.reaches, a.longest - a.stopped, a.reaches};

            values[t] = each[part];
        }
        *parts[part] = iwi_mean_estimate(values, (size_t)count);
    }
    for (uint64_t t = 0; t < count; t++) {
        row->taken_ns +=
            trials->taken[t].mean_ns[source] / (double)trials->taken[t].steps[source] / (double)count;
    }
    row->share = row->longest_ns.value > 0 ? row->reaches_ns.value / row->longest_ns.value : NAN;
}

static void fill_absorptions(const struct iwi_trials *trials, double *values, iw_training_result *result)
{
    for (uint32_t i = 0; trials->taken != NULL && i < result->source_count; i++) {
        iw_training_absorption *row = &result->absorption[result->absorption_count++];

        memcpy(row->source, result->sources[i].name, sizeof row->source); /* as long as that */
        fill_absorption(trials, i, values, row);
    }
}

/* By what jitter adds, which is never negative, and so neither is its interval. */
static void fill_step(const struct iwi_trials *trials, double *values, iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;
    iw_estimate added;

    for (uint64_t t = 0; t < trials->opts->trials; t++) {
        values[t] = trials->mean_ns[t] - noiseless_ns;
    }
    added = iwi_mean_estimate(values, (size_t)trials->opts->trials);
    result->step_ns =
        (iw_estimate){added.value + noiseless_ns, added.low + noiseless_ns, added.high + noiseless_ns};
}

iw_status iwi_bill_fill(const iw_log *log, const struct iwi_trials *trials, iw_training_result *result)
{
    double *values = iwi_new_array(log, (size_t)trials->opts->trials, sizeof *values);
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    fill_step(trials, values, result);
    fill_changes(trials, values, result);
    fill_absorptions(trials, values, result);
    status = sum_up_steps(log, trials, result);
    free(values);
    return status;
}
