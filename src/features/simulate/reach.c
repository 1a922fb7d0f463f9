/* How far recordings reach: stats/longest.h and stats/length_bins.h have the equations.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In W' the longest detour grows as (W'/W)^xi, so that an estimate takes W' = W (m/allowed)^(1/(1 - xi)),
 * with m = 3 E D / W, which unseen comes to as W' grows. Advice aims at half of what is allowed: short
 * recordings show too little of their tail.
 */
#include <idlewave/noise_set.h>

#include <math.h>

#include "core/base/base.h"
#include "features/simulate/met.h"
#include "features/simulate/sensitivity.h"

/* Advice is given for tails up to this index: beyond it lengths would be those of months. */
static const double MOST_ADVISED_INDEX = 0.5;

/* ---- a job ---- */

/* One recorded input as a job meets it. */
struct view {
    double rate_hz, events; /* of a detour */
    int64_t room[IWI_LONGEST_ROOM];
    struct iwi_longest longest;
    struct iwi_length_bins *bins; /* of all inputs */
};

static void take_detour(void *arg, size_t node, int64_t start_ns, int64_t length_ns)
{
    struct view *view = arg;

    (void)node;
    (void)start_ns;
    iwi_longest_add(&view->longest, length_ns);
    iwi_bins_add(view->bins, length_ns, view->rate_hz, view->events);
}

/* Lengths of the input that was watched least. */
static void tell_watched(const iw_noise_set *set, const struct iwi_set_input *input, iw_reach *reach)
{
    const uint64_t cpus = iwi_met_cpus(set, input);
    const double length_s = (double)input->length_ns * 1e-9, watched_s = length_s * (double)cpus;

    if (watched_s > 0.0 && (reach->watched_s == 0.0 || watched_s < reach->watched_s)) {
        reach->watched_s = watched_s;
        reach->recorded_s = length_s;
        reach->cpus = cpus;
    }
}

/* Fills the views of recorded inputs; returns how many there are. */
static size_t look_at(const iw_noise_set *set, const struct iwi_exposure *exposure,
                      struct iwi_length_bins *bins, struct view views[IW_NOISE_MAX_SOURCES], iw_reach *reach)
{
    size_t count = 0;

    for (size_t i = 0; i < set->input_count && count < IW_NOISE_MAX_SOURCES; i++) {
        const struct iwi_set_input *input = &set->inputs[i];
        struct view *view = &views[count];

        if (input->node_count > 0) {
            *view = (struct view){.rate_hz = iwi_met_rate_hz(set, input, exposure),
                                  .events = iwi_met_events(set, input),
                                  .bins = bins};
            view->longest = (struct iwi_longest){view->room, IWI_LONGEST_ROOM, 0, 0};
            tell_watched(set, input, reach);
            iwi_met_detours(set, input, &exposure->filter, take_detour, view);
            reach->longest_ns = iwi_max(reach->longest_ns, view->longest.count > 0 ? view->room[0] : 0);
            count++;
        }
    }
    return count;
}

static struct iwi_met_job job_of(const struct iwi_length_bins *bins, double quiet_s, double slowdown)
{
    const double phases = iwi_bins_phases(bins, quiet_s, slowdown);

    return (struct iwi_met_job){quiet_s, phases, iwi_bins_longest_s(bins, quiet_s / phases)};
}

iw_reach iwi_reach_for(const iw_noise_set *set, const struct iwi_exposure *exposure, double value)
{
    const double allowed = iwi_unseen_allowed(value);
    iw_reach reach = {.is_extrapolated = set->law_count > 0, .laws = set->laws, .law_count = set->law_count};
    struct iwi_length_bins bins = {0};
    struct view views[IW_NOISE_MAX_SOURCES];
    const size_t count = look_at(set, exposure, &bins, views, &reach);
    double index = 0.0, most_unseen = 0.0;

    if (count > 0 && exposure->quiet_s > 0.0) {
        const struct iwi_met_job job = job_of(&bins, exposure->quiet_s, value);

        for (size_t i = 0; i < count; i++) {
            reach.unseen += iwi_unseen(&views[i].longest, views[i].rate_hz, &job);
            most_unseen += iwi_most_unseen(&views[i].longest, views[i].rate_hz);
            index = fmax(index, iwi_tail_index(&views[i].longest));
        }
    }
    reach.is_bound = !reach.is_extrapolated && reach.unseen > allowed;
    reach.sensitivity = iwi_sensitivity_of(&reach);
    if (reach.is_bound) {
        reach.record_s = reach.recorded_s *
                         pow(2.0 * most_unseen / allowed, 1.0 / (1.0 - fmin(index, MOST_ADVISED_INDEX)));
    }
    return reach;
}

iw_reach iw_reach_of(const iw_noise_set *set, uint32_t ranks, iw_time noiseless_ps, double slowdown)
{
    return iwi_reach_for(
        set, &(struct iwi_exposure){.ranks = ranks, .quiet_s = (double)noiseless_ps / (double)IW_PS_PER_S},
        slowdown);
}
