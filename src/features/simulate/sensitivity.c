/* What a job would cost if something rare and long was there that the recording did not show.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/sensitivity.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"

/* The shortest that is supposed; what a cron job or a firmware takes. */
static const int64_t LEAST_NS = 10000000;

/* Mean gaps of a spec are below ten days. */
static const double MOST_EVERY_S = 800000.0;

/* Of the time, on average. A recording so short that more would fit into its gaps supports no number at all.
 */
static const double MOST_SHARE = 0.5;

/* Few trials tell what it costs, and one more source takes time. */
enum { MOST_TRIALS = 10 };

/* Of W/3, counting what is under way when the job begins. Of ten trials one meets it in 95 % of cases from
 * there on; of fewer trials it has to be W/3, where each meets it in 63 %. */
static const double LEAST_PART = 0.3;

/* Of what noise costs: less than that is not worth a sentence. */
static const double LEAST_SHARE = 0.1;

uint64_t iwi_sensitivity_trials(uint64_t trials)
{
    const uint64_t half = (trials + 1) / 2;

    return half < MOST_TRIALS ? half : MOST_TRIALS;
}

iw_sensitivity iwi_sensitivity_of(const iw_reach *reach)
{
    const iw_sensitivity supposed = {.length_ns = iwi_max(LEAST_NS, reach->longest_ns),
                                     .every_s = fmin(reach->watched_s / 3.0, MOST_EVERY_S),
                                     .slowdown = NAN};

    return 1e-9 * (double)supposed.length_ns < MOST_SHARE * supposed.every_s
               ? supposed
               : (iw_sensitivity){.slowdown = NAN};
}

/* How many of them the job meets on average, those included that are under way when it begins, or only those
 * that come later. */
static double met_by(const struct iwi_experiment *experiment, double slowdown, const iw_sensitivity *asked,
                     bool has_start)
{
    const double cores =
        (double)iw_program_ranks(experiment->program) * (double)experiment->inquiry->set->cores_per_rank;
    const double job_s = (double)experiment->noiseless_ps / (double)IW_PS_PER_S * (1.0 + slowdown);

    return cores * (job_s + (has_start ? (double)asked->length_ns * 1e-9 : 0.0)) / asked->every_s;
}

/* Too rare for so few trials to meet: none costs more than it lasts. */
static iw_sensitivity computed(const struct iwi_experiment *experiment, double slowdown, iw_sensitivity asked)
{
    const double quiet_ns = (double)experiment->noiseless_ps / (double)IW_PS_PER_NS;
    const double more = met_by(experiment, slowdown, &asked, true) * (double)asked.length_ns / quiet_ns;

    asked.slowdown = slowdown + more;
    return quiet_ns > 0.0 && more > LEAST_SHARE * slowdown && experiment->is_monotone
               ? asked
               : (iw_sensitivity){.slowdown = NAN};
}

/* Trial by trial against what was simulated, so that chance of the trials is in both. */
static double mean_with(const double *without, size_t all, const double *with, size_t count)
{
    double more = 0.0;

    for (size_t i = 0; i < count; i++) {
        more += with[i] - without[i];
    }
    return iwi_mean(without, all) + more / (double)count;
}

iw_status iwi_sensitivity_find(const struct iwi_experiment *experiment, const double *slowdowns,
                               iw_sensitivity *sensitivity)
{
    const iw_sensitivity asked = *sensitivity;
    const struct iwi_variant variant = {.added = &asked};
    const double slowdown = iwi_mean(slowdowns, (size_t)experiment->trials);
    struct iwi_experiment few = *experiment;
    double *values;
    iw_status status;

    if (asked.length_ns == 0 ||
        few.inquiry->job.sim.rules == IW_RULES_LOGGOPSIM) { /* whose noise is a trace */
        *sensitivity = (iw_sensitivity){.slowdown = NAN};
        return IW_OK;
    }
    few.trials = iwi_sensitivity_trials(experiment->trials);
    if (met_by(experiment, slowdown, &asked, few.trials == MOST_TRIALS) <=
        (few.trials == MOST_TRIALS ? LEAST_PART : 1.0)) {
        *sensitivity = computed(experiment, slowdown, asked);
        return IW_OK;
    }
    values = iwi_new_array(few.inquiry->log, (size_t)few.trials, sizeof *values);
    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    few.inquiry->work_total += iw_program_messages(few.program) * few.trials;
    status = iwi_experiment_run_trials(&few, &variant, values);
    if (status == IW_OK) {
        sensitivity->trials = few.trials;
        sensitivity->slowdown = mean_with(slowdowns, (size_t)experiment->trials, values, (size_t)few.trials);
    }
    free(values);
    return status;
}
