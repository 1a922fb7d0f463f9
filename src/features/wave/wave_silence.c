/* What noise does to speed and decay, against the same run without noise.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits for neighbours goes on at the pace of the latest path of work, noise and messages through all of
 * them: with noise of mean N in each phase a step takes not N longer but growth x N (exponential noise: 2 if
 * a rank waits for one neighbour, 2.384 if it waits for both). So fronts are slower by that. A front comes by
 * one path, the straight one, which has only N a step: it loses the difference, (growth - 1) N, each time it
 * goes on by sigma d ranks.
 */
#include <math.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/wave_view.h"
#include "kit/timeline/timeline.h"

/* Steps of a rank in the whole run. */
static double steps_a_rank(const struct iwi_wave_view *view)
{
    return view->joined_below_ps > 0
               ? (double)view->step_count / (double)view->rank_count
               : (double)view->timeline->step_count / (double)view->timeline->about.ranks;
}

/* NaN: not known. Along an open chain that sends one way ranks begin one after the other, which takes time
 * once, not in each step: no step is longer without noise than with it. */
static double silent_period_ps(const struct iwi_wave_view *view)
{
    const double all_ps = (double)view->timeline->about.noiseless_ps;

    return all_ps > 0.0 ? fmin(all_ps / steps_a_rank(view), (double)view->period_ps) : (double)NAN;
}

static uint64_t first_origin_step(const iw_waves *waves)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < waves->wave_count; i++) {
        first = waves->waves[i].origin_step < first ? waves->waves[i].origin_step : first;
    }
    return first;
}

/* Mean length of the steps that waves run through: from the first delay on, until a wave comes to the rank;
 * NaN: there are none. Here those in which a rank waits unusually long belong to it: noise makes them. */
static double period_ahead_ps(const struct iwi_wave_view *view, const iw_waves *waves)
{
    const uint64_t from = first_origin_step(waves);
    double sum_ps = 0.0, count = 0.0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];
        const iw_step *first = iwi_rank_step(rank, from), *last = NULL;

        if (rank->touched != UINT64_MAX && rank->touched > from) {
            last = iwi_rank_step(rank, rank->touched - 1);
        }
        if (first != NULL && last != NULL) {
            sum_ps += (double)(iw_step_end(last) - first->begin_ps);
            count += (double)(rank->touched - from);
        }
    }
    return count > 0.0 ? sum_ps / count : (double)NAN;
}

void iwi_wave_silence(const struct iwi_wave_view *view, iw_waves *waves)
{
    const double per_s = (double)IW_PS_PER_S, reach = (double)view->expected_reach;
    const double silent_s = silent_period_ps(view) / per_s;

    waves->silent_period_s = silent_s;
    waves->silent_speed = reach > 0.0 ? reach / silent_s : (double)NAN;
    waves->noise_s = view->is_traced ? (double)NAN : view->noise_ps / per_s;
    waves->growth = waves->noise_s > 0.0 ? (period_ahead_ps(view, waves) / per_s - silent_s) / waves->noise_s
                                         : (double)NAN;
    waves->expected_decay_s = reach > 0.0 ? (waves->growth - 1.0) * waves->noise_s / reach : (double)NAN;
}
