/* What is ordinary in a timeline: computation, waiting and length of a step, and from where on waiting is a
 * wave's.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Waves are rare in most timelines but not in all (18 ranks, 20 steps, every rank hit once), so what is
 * ordinary comes from quantiles in the middle, of the steps that are not plainly a wave's:
 *     exec       median of the computation
 *     waiting    median of the rank's (of all ranks', if the rank has few steps)
 *     threshold  8 (q75 - q50) of all waiting (of exponential waits 0.4 % are longer than that beyond the
 *                median), at least 1 % of the period, and at least 5 % of the shortest delay but not more
 *                than a quarter of exec for that: what is left where two waves all but cancel is no wave.
 *     period     mean length of the steps whose waiting is below the threshold; their median where the
 *                quartiles agree.
 * Once the waves are known, period and waiting are refined: wave_refine.c.
 */
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/stats/select.h"
#include "features/wave/wave_view.h"

enum {
    THRESHOLD_SPREADS = 8,
    TRACED_SPREADS = 20,     /* of computation, beyond which it is a delay */
    CUT_SPREADS = 16,        /* of waiting, beyond which it is plainly no ordinary one */
    LEAST_OWN_STEPS = 8,     /* for a median of the rank's own */
    THRESHOLD_PERIODS = 100, /* it is at least a hundredth of one */
    QUIET_PERIODS = 100,     /* waiting that spreads less than a hundredth hardly varies */
    THRESHOLD_DELAYS = 20,   /* or a twentieth of the shortest delay */
    AGREEING_PERIODS = 100   /* quartiles of the length that are closer than a hundredth agree */
};

#define MOST_THRESHOLD_PS (INT64_MAX / 4) /* can be added to times */

typedef bool (*pick_fn)(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                        const iw_step *step, double *value_p);

/* Values of the steps that are picked; returns how many. */
static size_t collect(const struct iwi_wave_view *view, pick_fn pick, double *values)
{
    size_t count = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];

        for (size_t k = 0; k < rank->count; k++) {
            count += pick(view, rank, &rank->steps[k], &values[count]);
        }
    }
    return count;
}

static bool pick_compute(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                         const iw_step *step, double *value_p)
{
    (void)view;
    (void)rank;
    *value_p = (double)step->state_ps[IW_STATE_COMPUTE];
    return true;
}

/* Who is late waits for nobody: such steps say nothing of the others' waiting. */
static bool pick_wait(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank, const iw_step *step,
                      double *value_p)
{
    (void)rank;
    *value_p = (double)step->state_ps[IW_STATE_WAIT];
    return iwi_step_delay(view, step) < view->least_delay_ps;
}

static bool pick_any_length(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                            const iw_step *step, double *value_p)
{
    (void)view;
    (void)rank;
    *value_p = (double)(iw_step_end(step) - step->begin_ps);
    return true;
}

static bool pick_length(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                        const iw_step *step, double *value_p)
{
    *value_p = (double)(iw_step_end(step) - step->begin_ps);
    return iwi_step_is_ordinary(view, rank, step);
}

static bool pick_delay(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                       const iw_step *step, double *value_p)
{
    const iw_time delay_ps = iwi_step_delay(view, step);

    (void)rank;
    *value_p = (double)delay_ps;
    return delay_ps >= view->least_delay_ps;
}

iw_time iwi_step_delay(const struct iwi_wave_view *view, const iw_step *step)
{
    return view->is_traced ? (iw_time)iwi_max(step->state_ps[IW_STATE_COMPUTE] - view->exec_ps, 0)
                           : step->state_ps[IW_STATE_DELAY];
}

bool iwi_step_is_ordinary(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                          const iw_step *step)
{
    return iwi_step_delay(view, step) < view->least_delay_ps &&
           step->state_ps[IW_STATE_WAIT] - rank->ordinary_ps <= view->threshold_ps;
}

/* At least 1 ps, so that no delay is none. In traces what computation spreads by itself is no delay. */
static void set_compute(struct iwi_wave_view *view, const iw_wave_opts *opts, double *values)
{
    const size_t count = collect(view, pick_compute, values);
    const double exec_ps = iwi_select_quantile(values, count, 0.5);
    const double spread_ps = iwi_select_quantile(values, count, 0.75) - exec_ps;

    view->exec_ps = (iw_time)exec_ps;
    if (opts->least_delay_ps > 0) {
        view->least_delay_ps = opts->least_delay_ps;
    } else if (view->is_traced) {
        view->least_delay_ps =
            iwi_max(iwi_min((iw_time)(TRACED_SPREADS * spread_ps), view->exec_ps * 3 / 2), view->exec_ps / 2);
    } else {
        view->least_delay_ps = view->exec_ps / 4;
    }
    view->least_delay_ps = iwi_max(view->least_delay_ps, 1);
}

/* exec if there is none. */
static double shortest_delay(const struct iwi_wave_view *view, double *values)
{
    const size_t count = collect(view, pick_delay, values);

    return count > 0 ? iwi_select_quantile(values, count, 0.0) : (double)view->exec_ps;
}

/* Waiting beyond the median by more than this is plainly no ordinary one: a quarter of the shortest delay,
 * unless waiting spreads so much (below the median, where waves are not seen). */
static double cut_of(double shortest_ps, double *waits, size_t wait_count)
{
    const double spread_ps =
        iwi_select_quantile(waits, wait_count, 0.5) - iwi_select_quantile(waits, wait_count, 0.25);

    return shortest_ps / 4 > CUT_SPREADS * spread_ps ? shortest_ps / 4 : CUT_SPREADS * spread_ps;
}

/* The ends of an open chain, for instance, have fewer partners and wait otherwise than the rest. */
static void set_own_waits(struct iwi_wave_view *view, double ordinary_ps, double cut_ps, double *values)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        struct iwi_wave_rank *rank = &view->rank[i];
        size_t count = 0;

        rank->ordinary_ps = (iw_time)ordinary_ps;
        for (size_t k = 0; k < rank->count; k++) {
            count += pick_wait(view, rank, &rank->steps[k], &values[count]);
        }
        if (count >= LEAST_OWN_STEPS) {
            const double own_ps = iwi_select_quantile(values, count, 0.5);

            rank->ordinary_ps = (iw_time)(own_ps - ordinary_ps <= cut_ps ? own_ps : ordinary_ps);
        }
    }
}

/* Returns the spread of ordinary waiting, q75 - q50. */
static double set_waits(struct iwi_wave_view *view, double *values, double *waits)
{
    const size_t wait_count = collect(view, pick_wait, waits);
    double median_ps, cut_ps, spread_ps;
    size_t kept = 0;

    if (wait_count == 0) { /* every step has a delay */
        return 0.0;
    }
    median_ps = iwi_select_quantile(waits, wait_count, 0.5);
    cut_ps = cut_of(shortest_delay(view, values), waits, wait_count);
    for (size_t i = 0; i < wait_count; i++) {
        if (waits[i] <= median_ps + cut_ps) {
            waits[kept++] = waits[i];
        }
    }
    median_ps = iwi_select_quantile(waits, kept, 0.5);
    spread_ps = iwi_select_quantile(waits, kept, 0.75) - median_ps;
    set_own_waits(view, median_ps, cut_ps, values);
    return spread_ps;
}

iw_time iwi_period_of(double *lengths, size_t count)
{
    double median, spread, sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += lengths[i];
    }
    median = iwi_select_quantile(lengths, count, 0.5);
    spread = iwi_select_quantile(lengths, count, 0.75) - iwi_select_quantile(lengths, count, 0.25);
    return (iw_time)(spread * AGREEING_PERIODS <= median ? median : sum / (double)count);
}

static void set_thresholds(struct iwi_wave_view *view, const iw_wave_opts *opts, double spread_ps,
                           double *values)
{
    const iw_time of_delay_ps = (iw_time)(shortest_delay(view, values) / THRESHOLD_DELAYS);

    view->is_quiet = spread_ps * QUIET_PERIODS <= (double)view->period_ps;
    view->has_threshold = opts->threshold_ps > 0;
    if (view->has_threshold) {
        view->threshold_ps = view->floor_ps = iwi_min(opts->threshold_ps, MOST_THRESHOLD_PS);
        return;
    }
    view->floor_ps =
        iwi_max((iw_time)(THRESHOLD_SPREADS * spread_ps), view->period_ps / THRESHOLD_PERIODS + 1);
    view->threshold_ps = iwi_max(view->floor_ps, iwi_min(of_delay_ps, view->exec_ps / 4));
}

static void set_noise(struct iwi_wave_view *view)
{
    double sum_ps = 0.0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        for (size_t k = 0; k < view->rank[i].count; k++) {
            sum_ps += (double)view->rank[i].steps[k].state_ps[IW_STATE_NOISE];
        }
    }
    view->noise_ps = sum_ps / (double)view->step_count;
    view->is_silent = !view->is_traced && sum_ps == 0.0;
}

iw_status iwi_wave_ordinary(const iw_log *log, const iw_wave_opts *opts, struct iwi_wave_view *view)
{
    double *values = iwi_new_array(log, view->step_count, sizeof *values);
    double *waits = iwi_new_array(log, view->step_count, sizeof *waits);

    if (values != NULL && waits != NULL) {
        set_noise(view);
        set_compute(view, opts, values);

        const double spread_ps = set_waits(view, values, waits);

        /* at first without looking at waiting: the threshold's floor is a share of the period */
        view->period_ps = iwi_period_of(values, collect(view, pick_any_length, values));
        set_thresholds(view, opts, spread_ps, values);

        const size_t count = collect(view, pick_length, values);

        if (count > 0) {
            view->period_ps = iwi_period_of(values, count);
        }
        if (opts->least_delay_ps <= 0 && !view->is_traced) {
            view->least_delay_ps = iwi_max(view->least_delay_ps, view->threshold_ps);
        }
    }
    free(waits);
    free(values);
    return values != NULL && waits != NULL ? IW_OK : IW_ERR_NOMEM;
}
