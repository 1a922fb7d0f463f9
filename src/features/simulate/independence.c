/* What it costs to take nodes for independent of each other that were not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise_set.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/stats/mean_interval.h"
#include "features/simulate/experiment.h"
#include "features/simulate/interval.h"
#include "features/simulate/job_again.h"

enum { ALIGNED, APART, VARIANTS };

static const struct iwi_variant variants[VARIANTS] = {
    [ALIGNED] = {.is_removed = NULL}, [APART] = {.is_apart = true}};

bool iw_independence_is_asked(const iw_noise_set *set)
{
    return iw_noise_set_window(set) != NULL && set->sync == IW_SYNC_NONE;
}

uint64_t iw_independence_trials(const iw_noise_set *set, uint64_t trials)
{
    const uint64_t redrawn = trials >= IW_CERTAINTY_LEAST_TRIALS && iwi_set_blocks(set) >= 2
                                 ? (uint64_t)IW_CERTAINTY_REDRAWS * iwi_certainty_per_redraw(trials)
                                 : 0;

    return iw_independence_is_asked(set) ? trials + VARIANTS * redrawn : 0;
}

/* Mean and interval: of trials and of recordings drawn anew. Too few trials have no interval. */
static iw_estimate estimate(const struct iwi_experiment *experiment, const double *values)
{
    iw_estimate e = iwi_mean_estimate(values, (size_t)experiment->trials);

    if (experiment->trials < IW_CERTAINTY_LEAST_TRIALS) {
        return (iw_estimate){e.value, NAN, NAN};
    }
    return iwi_paired_interval(&(struct iwi_sample){.trials = values,
                                                    .trial_count = (size_t)experiment->trials,
                                                    .redraws = values + experiment->trials,
                                                    .redraw_count = experiment->redraws,
                                                    .per_redraw = experiment->per_redraw,
                                                    .blocks = experiment->inquiry->blocks});
}

static iw_status compare(struct iwi_experiment *experiment, const iw_sim_result *result,
                         iw_independence *independence)
{
    const size_t stride = iwi_experiment_values(experiment);
    double *values = iwi_new_array(experiment->inquiry->log, VARIANTS * stride, sizeof *values);
    double *apart;
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    apart = values + APART * stride;
    iwi_certainty_slowdowns(result, values);
    status = iwi_experiment_run_trials(experiment, &variants[APART], apart);
    if (status == IW_OK) {
        status = iwi_experiment_run_redraws(experiment, variants, VARIANTS, values);
    }
    if (status == IW_OK) {
        independence->independent = estimate(experiment, apart);
        for (size_t i = 0; i < stride; i++) {
            apart[i] -= values[i];
        }
        independence->overstated = estimate(experiment, apart);
    }
    free(values);
    return status;
}

static iw_status find(const iw_log *log, const iw_certainty_question *q, iw_independence *independence)
{
    const uint64_t trials = q->result->trials;
    struct iwi_inquiry inquiry = {
        .log = log, .set = q->set, .job = iwi_certainty_job(q), .blocks = iwi_set_blocks(q->set)};
    struct iwi_experiment experiment;

    IW_TRY(iwi_experiment_init(&inquiry, 0, trials,
                               trials >= IW_CERTAINTY_LEAST_TRIALS ? inquiry.job.redraws : 0, &experiment));
    experiment.per_redraw = experiment.redraws > 0 ? iwi_certainty_per_redraw(trials) : 0;
    experiment.noiseless_ps = q->result->noiseless_ps;
    inquiry.work_total = iw_program_messages(q->program) * iw_independence_trials(q->set, trials);
    return compare(&experiment, q->result, independence);
}

iw_status iw_independence_find(const iw_log *log, const iw_certainty_question *question,
                               iw_independence *independence_p)
{
    iw_independence independence = {.independent = {NAN, NAN, NAN}, .overstated = {NAN, NAN, NAN}};
    const iw_wall_window *window = iw_noise_set_window(question->set);
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    if (!iw_independence_is_asked(question->set)) {
        return iwi_fail(log, IW_ERR_USAGE, "no nodes are aligned, so they are independent already");
    }
    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    independence.window = *window;
    independence.nodes = (question->result->ranks - 1) / iw_noise_set_ranks_per_node(question->set) + 1;
    independence.recorded_nodes = iwi_set_aligned_nodes(question->set);
    if (question->result->noiseless_ps > 0) {
        IW_TRY(find(log, &known, &independence));
    }
    *independence_p = independence;
    return IW_OK;
}
