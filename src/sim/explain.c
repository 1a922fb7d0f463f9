/* Explains the median trial: where the time on the critical paths of its ranks went.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/base.h"
#include "sim/plan.h"

/* Pointers into the array of makespans: by time, then by trial. */
static int compare_trials(const void *left, const void *right)
{
    const iw_time *a = *(const iw_time *const *)left;
    const iw_time *b = *(const iw_time *const *)right;

    return *a != *b ? (*a > *b) - (*a < *b) : (a > b) - (a < b);
}

/* The trial whose makespan is the lower median. */
static iw_status median_trial(const iw_log *log, const iw_sim_result *result, uint64_t *trial_p)
{
    const iw_time **order = iwi_new_array(log, (size_t)result->trials, sizeof(iw_time *));

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t t = 0; t < result->trials; t++) {
        order[t] = &result->makespan_ps[t];
    }
    qsort(order, (size_t)result->trials, sizeof *order, compare_trials);
    *trial_p = (uint64_t)(order[(result->trials - 1) / 2] - result->makespan_ps);
    free(order);
    return IW_OK;
}

static void summarize_splits(const struct iwi_batches *batches, const iw_split *split, const iw_time *end,
                             iw_explain *explain)
{
    const uint32_t ranks = batches->job.program->ranks;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (end[rank] > end[explain->last_rank]) {
            explain->last_rank = rank;
        }
        for (size_t part = 0; part < IW_PARTS; part++) {
            explain->mean_ps[part] += (double)split[rank].part_ps[part] / ranks;
        }
        explain->mean_hops += (double)split[rank].hops / ranks;
    }
    explain->last = split[explain->last_rank];
}

iw_status iwi_explain_run(const iw_log *log, const struct iwi_batches *batches, iw_sim_result *result)
{
    const uint32_t ranks = result->ranks;
    struct iwi_batches explaining = *batches;
    uint64_t trial = 0;
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(median_trial(log, result, &trial));
    result->explain = iwi_new_array(log, 1, sizeof *result->explain);
    explaining.job.first_trial += trial;
    explaining.job.ticker = NULL;
    explaining.job.steps = NULL;
    explaining.team = NULL;
    explaining.link = NULL;
    explaining.trials = 1;
    explaining.lanes = explaining.threads = 1;
    explaining.end_ps = iwi_new_array(log, ranks, sizeof(iw_time));
    explaining.job.split = iwi_new_array(log, ranks, sizeof(iw_split));
    if (result->explain != NULL && explaining.end_ps != NULL && explaining.job.split != NULL) {
        explaining.makespan_ps = &result->explain->makespan_ps;
        status = iwi_batches_run(log, &explaining);
    }
    if (status == IW_OK) {
        result->explain->trial = explaining.job.first_trial;
        summarize_splits(batches, explaining.job.split, explaining.end_ps, result->explain);
    }
    free(explaining.end_ps);
    free(explaining.job.split);
    return status;
}
