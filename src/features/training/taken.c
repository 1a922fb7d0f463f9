/* What sources of jitter take from ranks, whether or not it reaches the step.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "core/noise/node_speed.h"
#include "features/training/step_run.h"

/* Detours of a source that are visited in a trial; a step that was begun is finished. */
static const uint64_t BUDGET = UINT64_C(1) << 22;

iw_status iwi_train_watch(const iw_log *log, struct iwi_train_run *run)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    if (run->jitter == NULL || run->jitter->count == 0) {
        return IW_OK;
    }
    run->watched = iwi_new_array(log, ranks * run->jitter->count, sizeof *run->watched);
    for (uint32_t i = 0; i < run->jitter->count; i++) {
        IW_TRY(iwi_train_walk_new(log, run->jitter->sources[i].noise, ranks, &run->watch_walks[i]));
    }
    return run->watched != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_train_watch_begin(struct iwi_train_run *run, bool is_watched)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    run->is_watched = is_watched && run->watched != NULL;
    for (uint32_t i = 0; run->is_watched && i < run->jitter->count; i++) {
        struct iwi_walk *walk = &run->watch_walks[i];

        memset(run->watched + i * ranks, 0, ranks * sizeof *run->watched);
        run->watch_budget[i] = BUDGET;
        for (size_t k = 0; k < ranks; k++) {
            walk->next[k] =
                iwi_noise_begin(walk->noise, iwi_train_stream(run, i, k), walk->words + k * walk->words_each);
        }
    }
}

/* Time that detours of a rank take of [start, end). */
static iw_time detoured(struct iwi_train_run *run, uint32_t source, size_t index, iw_time start, iw_time end)
{
    struct iwi_walk *walk = &run->watch_walks[source];
    const struct iwi_stream_id id = iwi_train_stream(run, source, index);
    iw_time lost = 0, t = start;

    while (t < end && walk->next[index] < end) { /* never past `end`: the next step begins there */
        const struct iwi_stream_detour detour =
            iwi_noise_detour(walk->noise, id, walk->words + index * walk->words_each, &walk->next[index], t);

        lost += iwi_max(0, iwi_min(detour.end, end) - iwi_max(detour.start, t));
        t = detour.end;
        run->watch_budget[source] -= run->watch_budget[source] > 0;
    }
    return lost;
}

static iw_time taken_by(struct iwi_train_run *run, uint32_t source, size_t index, iw_time start, iw_time end)
{
    iw_time *taken = &run->watched[source * (size_t)run->plan->pp * run->width + index];
    const int64_t factor = run->jitter->sources[source].factor;
    iw_time lost = *taken;

    *taken = 0;
    if (!iwi_noise_has_phases(run->walks[source].noise)) {
        lost = detoured(run, source, index, start, end);
    }
    /* of a time w in which everything takes f as long, w (1 - 1/f) is lost */
    return factor > 0 ? lost - (iw_time)((double)lost * IWI_FACTOR_UNIT / (double)factor) : lost;
}

/* Ranks that share a timeline are asked once; of phases and loaders all are. */
static size_t stride_of(const struct iwi_train_run *run, uint32_t source)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    if (iwi_noise_has_phases(run->walks[source].noise) ||
        run->jitter->sources[source].where == IW_TRAINING_LOADER) {
        return 1;
    }
    switch (run->jitter->sources[source].scope) {
    case IW_TRAINING_EACH_NODE: return run->jitter->node_gpus;
    case IW_TRAINING_ALL_RANKS: return run->jitter->sources[source].is_skewed ? 1 : ranks;
    default: return 1;
    }
}

static void watch_source(struct iwi_train_run *run, uint32_t source, iw_time start, iw_time end,
                         struct iwi_train_taken *taken)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;
    const size_t stride = stride_of(run, source);
    const bool is_loader = run->jitter->sources[source].where == IW_TRAINING_LOADER;
    double sum = 0, count = 0;
    iw_time longest = 0;

    for (size_t i = 0; i < ranks; i += stride) {
        if (!is_loader || iwi_train_has_loader(run, i)) {
            const iw_time lost = taken_by(run, source, i, start, end);

            sum += (double)lost;
            count++;
            longest = iwi_max(longest, lost);
        }
    }
    taken->mean_ns[source] += sum / count / 1e3;
    taken->longest_ns[source] += (double)longest / 1e3;
    taken->steps[source]++;
}

void iwi_train_watch_step(struct iwi_train_run *run, iw_time start, iw_time end,
                          struct iwi_train_taken *taken)
{
    for (uint32_t i = 0; run->is_watched && i < run->jitter->count; i++) {
        if (run->watch_budget[i] > 0) {
            watch_source(run, i, start, end, taken);
        }
    }
}
