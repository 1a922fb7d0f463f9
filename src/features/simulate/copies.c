/* One recorded CPU for several ranks of a node: what the job costs if noise hits all of them together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise_set.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/noise/source.h"
#include "core/stats/mean_interval.h"
#include "features/simulate/experiment.h"
#include "features/simulate/job_again.h"
#include "features/simulate/reach.h"

/* A text trace, or the recording of one CPU. */
static bool has_one_cpu(const struct iwi_set_input *input)
{
    if (input->fit != NULL) { /* laws are drawn for each rank */
        return false;
    }
    for (size_t node = 0; node < input->node_count; node++) {
        if (input->recordings[node]->cpu_count == 1) {
            return true;
        }
    }
    return input->node_count == 0 && !iwi_noise_is_spec(input->text);
}

bool iw_node_wide_is_asked(const iw_noise_set *set)
{
    bool is_any = false;

    for (size_t i = 0; i < set->input_count; i++) {
        is_any |= has_one_cpu(&set->inputs[i]);
    }
    return is_any && set->cores_per_node > 1 && set->sync == IW_SYNC_NONE;
}

uint64_t iw_node_wide_trials(const iw_noise_set *set, uint64_t trials)
{
    return iw_node_wide_is_asked(set) ? trials : 0;
}

static iw_status simulate(const iw_log *log, const iw_certainty_question *q, double *slowdowns)
{
    static const struct iwi_variant joined = {.is_joined = true};
    struct iwi_inquiry inquiry = {.log = log, .set = q->set, .job = iwi_certainty_job(q)};
    struct iwi_experiment experiment;

    IW_TRY(iwi_experiment_init(&inquiry, 0, q->result->trials, 0, &experiment));
    experiment.noiseless_ps = q->result->noiseless_ps;
    inquiry.work_total = iw_program_messages(q->program) * q->result->trials;
    return iwi_experiment_run_trials(&experiment, &joined, slowdowns);
}

static iw_status find(const iw_log *log, const iw_certainty_question *q, double *slowdowns,
                      iw_estimate *node_wide_p)
{
    const iw_sim_result *result = q->result;
    const struct iwi_exposure exposure = {.ranks = result->ranks,
                                          .quiet_s = (double)result->noiseless_ps / (double)IW_PS_PER_S,
                                          .is_joined = true};

    IW_TRY(simulate(log, q, slowdowns));
    if (result->trials < IW_CERTAINTY_LEAST_TRIALS) {
        node_wide_p->value = iwi_mean_estimate(slowdowns, (size_t)result->trials).value;
        return IW_OK;
    }
    return iwi_count_recording(log, q->set, &exposure, slowdowns, (size_t)result->trials, result->seed,
                               node_wide_p, NULL);
}

iw_status iw_node_wide_find(const iw_log *log, const iw_certainty_question *question,
                            iw_estimate *node_wide_p)
{
    iw_estimate node_wide = {NAN, NAN, NAN};
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    double *slowdowns;
    iw_status status = IW_OK;

    if (!iw_node_wide_is_asked(question->set)) {
        return iwi_fail(log, IW_ERR_USAGE, "ranks of a node do not share one recorded CPU");
    }
    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    slowdowns = iwi_new_array(log, (size_t)question->result->trials, sizeof *slowdowns);
    if (slowdowns == NULL) {
        return IW_ERR_NOMEM;
    }
    if (question->result->noiseless_ps > 0) {
        status = find(log, &known, slowdowns, &node_wide);
    }
    free(slowdowns);
    if (status == IW_OK) {
        *node_wide_p = node_wide;
    }
    return status;
}
