/* Explains trials: where the time on their critical paths went; of the median trial, on those of all ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/choose.h"
#include "core/sim/flow/flow_paths.h"
#include "core/sim/plan.h"

/* So many of all trials explained take a few seconds at most. A count and no time, so that the same command
 * always explains the same trials. */
static const double CHOSEN_MESSAGES = 5e7;

/* More threads than one only where the paths that they all keep stay below this. */
static const double THREADS_BYTES = 0x1p30, STEPS_BYTES = 0x1p27;

/* Pointers into the array of makespans: by time, then by trial. */
IWI_COMPARE(compare_trials, iw_time *const, IWI_ORDER(**left, **right), IWI_ORDER(*left, *right))

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
    iwi_sort(order, (size_t)result->trials, compare_trials);
    *trial_p = (uint64_t)(order[(result->trials - 1) / 2] - result->makespan_ps);
    free(order);
    return IW_OK;
}

/* What trials put their paths into. */
struct explaining {
    iw_explain *explain;
    uint32_t ranks;
    uint64_t median, first_trial; /* numbers of trials */
    uint64_t from_trial;          /* the first of those that run now */
};

static uint32_t last_rank(const iw_time *end_ps, uint32_t ranks)
{
    uint32_t last = 0;

    for (uint32_t rank = 1; rank < ranks; rank++) {
        last = end_ps[rank] > end_ps[last] ? rank : last;
    }
    return last;
}

static void average_ranks(const iw_split *split, uint32_t ranks, iw_explain *explain)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (size_t part = 0; part < IW_PARTS; part++) {
            explain->mean_ps[part] += (double)split[rank].part_ps[part] / ranks;
        }
        for (size_t level = 0; level < IW_NET_INNER_MAX; level++) {
            for (size_t part = 0; part < IW_NET_PARTS; part++) {
                explain->mean_inner_ps[level][part] += (double)split[rank].inner_ps[level][part] / ranks;
            }
        }
        explain->mean_hops += (double)split[rank].hops / ranks;
    }
}

/* Threads have different trials, so nothing here is written by two. */
static void take_paths(void *arg, uint64_t index, const iw_split *split, const iw_time *end_ps)
{
    const struct explaining *e = arg;
    const uint32_t last = last_rank(end_ps, e->ranks);
    const iw_path path = {e->from_trial + index, last, end_ps[last], split[last]};

    if (path.trial == e->median) {
        e->explain->median = path;
        average_ranks(split, e->ranks, e->explain);
    }
    if (path.trial - e->first_trial < e->explain->path_count) {
        e->explain->paths[path.trial - e->first_trial] = path;
    }
}

uint64_t iwi_explain_trials(uint64_t messages, uint32_t ranks, uint64_t trials, uint64_t wanted)
{
    const double fitting = CHOSEN_MESSAGES / ((double)messages + ranks);
    const uint64_t chosen = fitting < (double)trials ? (uint64_t)fitting : trials;
    const uint64_t count = wanted != 0 ? wanted : chosen;

    return count < 1 ? 1 : count < trials ? count : trials;
}

/* Sums are kept of up to five times of each operation; or of each rank's CPU and gaps, twice with as many
 * steps, and of its end, besides numbers for messages (src/core/sim/flow/README.md). */
double iwi_explain_bytes(const struct iwi_batches *batches)
{
    const struct iwi_schedule *schedule = batches->plan->schedule;
    const iw_program *program = batches->job.program;

    return schedule != NULL ? 5.0 * (double)schedule->first_node[schedule->ranks] * sizeof(iw_split)
                            : STEPS_BYTES + 8.5 * program->ranks * sizeof(iw_split) +
                                  (double)iwi_elements_per_lane(program, IWI_KEPT_FOR_PATHS) *
                                      sizeof(struct iwi_path_step);
}

static uint32_t choose_threads(const struct iwi_batches *batches, uint64_t trials)
{
    const double fitting = THREADS_BYTES / iwi_explain_bytes(batches);
    uint32_t threads = batches->threads < trials ? batches->threads : (uint32_t)trials;

    return fitting < threads ? (uint32_t)iwi_max(1, (iw_time)fitting) : threads;
}

static iw_status explain_trials(const iw_log *log, const struct iwi_batches *batches, uint64_t from_trial,
                                uint64_t trials, struct explaining *e)
{
    struct iwi_batches again = *batches;
    iw_status status;

    again.job.first_trial = e->from_trial = from_trial;
    again.job.steps = NULL;
    again.team = NULL;
    again.link = NULL;
    again.trials = trials;
    again.lanes = 1;
    again.threads = choose_threads(batches, trials);
    again.end_ps = NULL;
    again.paths = (struct iwi_path_sink){take_paths, e};
    again.makespan_ps = iwi_new_array(log, (size_t)trials, sizeof(iw_time));
    status = again.makespan_ps == NULL ? IW_ERR_NOMEM : iwi_batches_run(log, &again);
    free(again.makespan_ps);
    return status;
}

/* One path alone is that of the median trial: nothing is averaged. */
iw_status iwi_explain_run(const iw_log *log, const struct iwi_batches *batches, uint64_t trials,
                          iw_sim_result *result)
{
    const uint64_t count = iwi_explain_trials(result->messages, result->ranks, result->trials, trials);
    iw_explain *explain = iwi_new_array(log, 1, sizeof *explain);
    struct explaining e = {.explain = explain, .ranks = result->ranks, .first_trial = result->first_trial};
    uint64_t median = 0;

    result->explain = explain;
    if (explain == NULL) {
        return IW_ERR_NOMEM;
    }
    explain->path_count = count;
    explain->paths = iwi_new_array(log, (size_t)count, sizeof *explain->paths);
    if (explain->paths == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(median_trial(log, result, &median));
    e.median = result->first_trial + median;
    if (count > 1) {
        IW_TRY(explain_trials(log, batches, result->first_trial, count, &e));
    }
    if (count == 1 || median >= count) {
        IW_TRY(explain_trials(log, batches, e.median, 1, &e));
    }
    explain->paths[0] = count == 1 ? explain->median : explain->paths[0];
    return IW_OK;
}

static void forget_paths(void *arg, uint64_t index, const iw_split *split, const iw_time *end_ps)
{
    (void)arg;
    (void)index;
    (void)split;
    (void)end_ps;
}

iw_status iwi_explain_sample(const iw_log *log, const struct iwi_batches *batches)
{
    struct iwi_batches again = *batches;

    again.paths = (struct iwi_path_sink){forget_paths, NULL};
    return iwi_batches_run(log, &again);
}

void iwi_explain_free(iw_explain *explain)
{
    if (explain != NULL) {
        free(explain->paths);
        free(explain);
    }
}
