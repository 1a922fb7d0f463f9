/* Phases under the noise of a recording, and how many ranks it speaks for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/model.h>

#include "core/base/base.h"
#include "features/model/law.h"
#include "features/model/window_model.h"
#include "kit/facts/longest.h"

/* The mean of the largest of N rests on the losses that one of N phases exceeds. So many independent clusters
 * of them must have been seen: fewer, and resampling them says too little of what might have been. */
enum { LEAST_CLUSTERS = 50 };

/* Intervals of the tail were shown to hold so far behind (src/features/model/tests/slowest_coverage_test.c).
 */
static const double TAIL_REACH = 100.0;

/* A source that rules the tail must have been seen so often, and rules it if it alone is worse than any of
 * those that were by this factor. */
static const uint64_t LEAST_EVENTS = 30;
static const double RULING = 1.25;

static int64_t shortest_ns(const struct iwi_window_cpus *cpus)
{
    int64_t shortest = INT64_MAX;

    for (size_t i = 0; i < cpus->count; i++) {
        shortest = iwi_min(shortest, cpus->cpus[i].length_ns);
    }
    return shortest;
}

/* The events of a source that was seen too seldom and rules the largest of n; 0: there is none. */
static uint64_t rare_ruler(const struct iw_window_model *model, double n)
{
    const struct iwi_source_law *source = &model->sources[iwi_window_dominant(model, n)];
    const double ruler_ns = iwi_source_mean_max_ns(source, n, model->horizon.observed_ranks);

    if (source->events == 0 || source->events >= LEAST_EVENTS) {
        return 0;
    }
    for (size_t i = 0; i < model->source_count; i++) {
        const struct iwi_source_law *other = &model->sources[i];

        if (other->events >= LEAST_EVENTS &&
            iwi_source_mean_max_ns(other, n, model->horizon.observed_ranks) * RULING > ruler_ns) {
            return 0;
        }
    }
    return source->events;
}

/* Clusters count by how long they last: a is the time that a lone detour adds to its excess (tail.h). */
static double equal_clusters(const struct iwi_peaks *peaks, size_t count, double above_ns)
{
    double excess_ns = 0.0, sum = 0.0, squares = 0.0, extra_ns;

    for (size_t i = 0; i < count; i++) {
        excess_ns += peaks->loss_ns[i] - peaks->loss_ns[count - 1];
    }
    extra_ns = fmax((above_ns - excess_ns) / (double)count, 0.0);
    for (size_t i = 0; i < count; i++) {
        const double time_ns = extra_ns + peaks->loss_ns[i] - peaks->loss_ns[count - 1];

        sum += time_ns;
        squares += time_ns * time_ns;
    }
    return squares > 0.0 ? sum * sum / squares : (double)count;
}

/* One of LEAST_CLUSTERS phases where detours are short against phases, fewer where they are not: phases that
 * begin in the same detour are not independent. */
static double supported_ranks(const struct iwi_peaks *peaks, double watched_ns, double phases)
{
    double ranks = phases / LEAST_CLUSTERS;

    for (size_t count = 2; count <= peaks->count; count++) {
        const bool is_last = count == peaks->count;

        if (count >= LEAST_CLUSTERS || is_last) {
            const double above_ns = iwi_peaks_time_above_ns(peaks, peaks->loss_ns[count - 1]);
            const double equal = equal_clusters(peaks, count, above_ns);

            if (equal >= LEAST_CLUSTERS || is_last) {
                ranks = fmin(ranks, watched_ns / fmax(above_ns, 1.0) * fmin(equal / LEAST_CLUSTERS, 1.0));
                break;
            }
        }
    }
    return fmax(floor(ranks), 1.0);
}

/* As far as any simulation from this recording gives an estimate (stats/longest.h): what may be unseen is a
 * small part of what a phase loses. */
static double reached_ranks(const struct iwi_window_cpus *cpus, const struct iwi_window_law *law,
                            int64_t work_ns, double ranks)
{
    int64_t room[IWI_LONGEST_ROOM];
    struct iwi_longest longest = {room, IWI_LONGEST_ROOM, 0, 0};

    for (size_t i = 0; i < cpus->count; i++) {
        for (size_t k = 0; k < cpus->cpus[i].count; k++) {
            iwi_longest_add(&longest, cpus->cpus[i].duration_ns[k]);
        }
    }
    while (ranks > 1.0) {
        const double work_s = (double)work_ns * 1e-9;
        const double longest_s = 1e-9 * iwi_window_mean_max_ns(law, law->share, ranks, HUGE_VAL);

        if (iwi_unseen(&longest, ranks / (cpus->watched_ns * 1e-9),
                       &(struct iwi_met_job){work_s, 1.0, longest_s}) <=
            iwi_unseen_allowed(longest_s / work_s)) {
            break;
        }
        ranks = floor(0.95 * ranks);
    }
    return fmax(ranks, 1.0);
}

static void judge(struct iw_window_model *model, const struct iwi_tail_choice *choice, double length_s,
                  double rarest_s, bool names_sources)
{
    iw_window_horizon *horizon = &model->horizon;
    const double reach = TAIL_REACH * horizon->observed_ranks;
    const uint64_t rare = names_sources && model->source_count > 0 ? rare_ruler(model, reach) : 0;

    model->has_tail = choice->refusal == IW_REFUSAL_NONE;
    model->tail = choice->tail;
    horizon->refusal = choice->refusal;
    horizon->record_s = choice->refusal != IW_REFUSAL_NONE ? choice->times_longer * length_s : 0.0;
    if (rare > 0 && choice->refusal != IW_REFUSAL_HEAVY) {
        horizon->refusal = IW_REFUSAL_MIXTURE;
        horizon->record_s = fmax(horizon->record_s, 1.5 * (double)LEAST_EVENTS / (double)rare * length_s);
    }
    if (length_s < 3.0 * rarest_s) {
        horizon->refusal = IW_REFUSAL_SHORT;
        horizon->record_s = fmax(horizon->record_s, 3.0 * rarest_s);
    }
    if (horizon->refusal == IW_REFUSAL_NONE) {
        horizon->tail_ranks = reach;
        horizon->tail_shape = choice->tail.mode.gpd.xi;
        horizon->tail_from_ns = choice->tail.mode.from_ns;
    }
}

iw_status iwi_recording_limit(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                              double rarest_s, const struct iwi_blocks *blocks, bool names_sources,
                              struct iw_window_model *model)
{
    const double phases = cpus->watched_ns / (double)work_ns;
    struct iwi_tail_choice choice;
    struct iwi_peaks peaks;
    double observed;

    IW_TRY(iwi_peaks_new(log, cpus, work_ns, &model->law, blocks, IWI_TAIL_PEAKS, &peaks));
    iwi_tail_choose(&peaks, cpus->watched_ns, blocks->count, &choice);
    observed = reached_ranks(cpus, &model->law, work_ns, supported_ranks(&peaks, cpus->watched_ns, phases));
    iwi_peaks_release(&peaks);
    model->horizon = (iw_window_horizon){.phases = phases,
                                         .observed_ranks = observed,
                                         .tail_ranks = observed,
                                         .tail_shape = NAN,
                                         .tail_from_ns = NAN};
    judge(model, &choice, (double)shortest_ns(cpus) * 1e-9, rarest_s, names_sources);
    return IW_OK;
}

/* The mean time of a phase under the noise of a recording: its slowest rank, put into theorem 1. */

iw_status iw_window_model_answer(const iw_log *log, const iw_window_model *model,
                                 const iw_model_question *question, uint64_t ranks, iw_model_row *row_p,
                                 size_t *dominant_p)
{
    const double leaves = iwi_slowest_of(question->barrier, (double)ranks);
    iw_window_answer of_leaves, of_all;

    IW_TRY(iwi_question_check(log, question, (double)ranks));
    IW_TRY(iw_window_model_mean_max(log, model, leaves, &of_leaves));
    IW_TRY(iw_window_model_mean_max(log, model, (double)ranks, &of_all));
    iwi_fill_row(question, ranks, of_leaves.slowest_ns, of_all.slowest_ns, row_p);
    row_p->support = of_all.support;
    *dominant_p = of_all.dominant;
    return IW_OK;
}
