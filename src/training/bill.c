/* What jitter costs: the run as it is, and with each source left out or synchronised, in pairs of trials.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "stats/mean_interval.h"
#include "training/trials.h"

static void add_change(iw_training_result *result, struct iwi_train_change *changes, const char *format,
                       const char *source, struct iwi_train_change change)
{
    iw_training_change *row = &result->changes[result->change_count++];

    changes[result->change_count] = change;
    snprintf(row->what, sizeof row->what, format, source); /* NOLINT: one of the literals below */
    snprintf(row->source, sizeof row->source, "%s", source);
}

uint32_t iwi_bill_changes(const iw_training *spec, bool wants_bill,
                          struct iwi_train_change changes[IWI_MOST_TRAIN_CHANGES], iw_training_result *result)
{
    changes[0] = (struct iwi_train_change){0, 0, false};
    for (uint32_t i = 0; wants_bill && i < spec->source_count; i++) {
        const iw_training_source *source = &spec->sources[i];

        add_change(result, changes, "without %s", source->name, (struct iwi_train_change){1u << i, 0, false});
        if (source->scope != IW_TRAINING_ALL_RANKS || source->skew_ps > 0) {
            add_change(result, changes, "%s synchronised", source->name,
                       (struct iwi_train_change){0, 1u << i, false});
        }
    }
    if (wants_bill && (spec->slow[0] != '\0' || spec->forward_sigma > 0 || spec->backward_sigma > 0)) {
        add_change(result, changes, "all GPUs and micro-batches alike%s", "",
                   (struct iwi_train_change){0, 0, true});
    }
    return 1 + result->change_count;
}

static double mean_step(const struct iwi_trials *trials, uint64_t change, uint64_t trial)
{
    const uint64_t steps = trials->opts->steps;
    const double *step_ns = trials->step_ns + (change * trials->opts->trials + trial) * steps;
    double sum = 0;

    for (uint64_t i = 0; i < steps; i++) {
        sum += step_ns[i];
    }
    return sum / (double)steps;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

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
    qsort(sorted, count, sizeof *sorted, by_size);
    result->p10_ns = iw_quantile_sorted(sorted, count, 0.1);
    result->median_ns = iw_quantile_sorted(sorted, count, 0.5);
    result->p90_ns = iw_quantile_sorted(sorted, count, 0.9);
    result->worst_ns = sorted[count - 1];
    free(sorted);
    return IW_OK;
}

static void price(iw_training_result *result, iw_training_change *row)
{
    row->share = row->saved_ns.value * 1e3 / (double)result->noiseless_ps;
    row->gpu_hours = (double)result->sizes.gpus * row->saved_ns.value / result->step_ns.value;
    row->cost_per_day = result->cost_per_hour > 0 ? row->gpu_hours * 24.0 * result->cost_per_hour : NAN;
}

iw_status iwi_bill_fill(const iw_log *log, const struct iwi_trials *trials, iw_training_result *result)
{
    const uint64_t count = trials->opts->trials;
    double *values = iwi_new_array(log, (size_t)count, sizeof *values);
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t t = 0; t < count; t++) {
        values[t] = mean_step(trials, 0, t);
    }
    result->step_ns = iwi_mean_estimate(values, (size_t)count);
    for (uint32_t c = 0; c < result->change_count; c++) {
        for (uint64_t t = 0; t < count; t++) {
            values[t] = mean_step(trials, 0, t) - mean_step(trials, c + 1, t);
        }
        result->changes[c].saved_ns = iwi_mean_estimate(values, (size_t)count);
        price(result, &result->changes[c]);
    }
    status = sum_up_steps(log, trials, result);
    free(values);
    return status;
}
