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
#include <math.h>
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/select.h"
#include "features/wave/wave_view.h"
#include "kit/timeline/step_gap.h"
#include "kit/timeline/timeline.h"

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

static iw_time step_delay(const struct iwi_wave_view *view, const iw_step *step);

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
    return step_delay(view, step) < view->least_delay_ps;
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
    const iw_time delay_ps = step_delay(view, step);

    (void)rank;
    *value_p = (double)delay_ps;
    return delay_ps >= view->least_delay_ps;
}

/* The delay of a step in the eyes of this view: injected, or in traces computation beyond the ordinary. */
static iw_time step_delay(const struct iwi_wave_view *view, const iw_step *step)
{
    return view->is_traced ? (iw_time)iwi_max(step->state_ps[IW_STATE_COMPUTE] - view->exec_ps, 0)
                           : step->state_ps[IW_STATE_DELAY];
}

bool iwi_step_is_ordinary(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                          const iw_step *step)
{
    return step_delay(view, step) < view->least_delay_ps &&
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

/* What noise does to speed and decay, against the same run without noise.
 *
 * Who waits for neighbours goes on at the pace of the latest path of work, noise and messages through all of
 * them: with noise of mean N in each phase a step takes not N longer but growth x N (exponential noise: 2 if
 * a rank waits for one neighbour, 2.384 if it waits for both). So fronts are slower by that. A front comes by
 * one path, the straight one, which has only N a step: it loses the difference, (growth - 1) N, each time it
 * goes on by sigma d ranks.
 */

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

/* Where waves begin: delays that were injected, or in traces one rank that computes far longer than usual. */

enum { SMALL_PART = 2 }; /* less than half */

struct origins {
    struct iwi_wave_origin *list;
    size_t count, capacity;
};

/* Longest first, then in the order of steps and ranks. */
IWI_COMPARE(compare, struct iwi_wave_origin, IWI_FALLING(delay_ps), IWI_RISING(step), IWI_RISING(rank))

/* Computation that is long on half of the ranks is the program's and delays nobody against the others. */
static bool is_common(const struct iwi_wave_view *view, uint64_t number, iw_time delay_ps)
{
    uint32_t known = 0, as_long = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const iw_step *step = iwi_rank_step(&view->rank[i], number);

        if (step != NULL) {
            known++;
            as_long += step_delay(view, step) >= delay_ps / 2;
        }
    }
    return as_long > 1 && as_long * UINT64_C(2) >= known;
}

/* Delays in successive steps of a rank are one. In traces, where any long computation may be a delay, only if
 * neither is small beside the other. */
static bool belongs_to(const struct iwi_wave_view *view, iw_time delay_ps,
                       const struct iwi_wave_origin *before)
{
    return !view->is_traced ||
           (delay_ps >= before->delay_ps / SMALL_PART && before->delay_ps >= delay_ps / SMALL_PART);
}

static iw_status add_rank(const iw_log *log, const struct iwi_wave_view *view, uint32_t index,
                          struct origins *origins)
{
    const struct iwi_wave_rank *rank = &view->rank[index];
    bool is_going_on = false;

    for (size_t k = 0; k < rank->count; k++) {
        const iw_time delay_ps = step_delay(view, &rank->steps[k]);

        if (delay_ps < view->least_delay_ps ||
            (view->is_traced && is_common(view, rank->first + k, delay_ps))) {
            is_going_on = false;
            continue;
        }
        if (is_going_on && belongs_to(view, delay_ps, &origins->list[origins->count - 1])) {
            origins->list[origins->count - 1].delay_ps += delay_ps;
            origins->list[origins->count - 1].step_count++;
            continue;
        }
        IW_TRY(iwi_grow(log, (void **)&origins->list, &origins->capacity, origins->count + 1,
                        sizeof *origins->list));
        origins->list[origins->count++] = (struct iwi_wave_origin){
            iw_timeline_exact_rank(view->timeline, index), rank->first + k, 1, delay_ps};
        is_going_on = true;
    }
    return IW_OK;
}

iw_status iwi_wave_origins(const iw_log *log, const struct iwi_wave_view *view,
                           struct iwi_wave_origin **origins_p, size_t *count_p)
{
    struct origins origins = {NULL, 0, 0};
    iw_status status = IW_OK;

    for (uint32_t i = 0; i < view->rank_count && status == IW_OK; i++) {
        status = add_rank(log, view, i, &origins);
    }
    if (status != IW_OK) {
        free(origins.list);
        return status;
    }
    iwi_sort(origins.list, origins.count, compare);
    *origins_p = origins.list;
    *count_p = origins.count;
    return IW_OK;
}

/* Steps that are too small to be ones become part of the step before.
 *
 * Simulated traces compute between any two calls: a step of the program is several steps of the timeline, and
 * a wave that goes one rank a step seems to need many. So steps are joined by the rule by which a trace
 * itself is cut into steps. Their numbers are counted anew, from the first step of the run on; of timelines
 * without that one, whose ranks may begin with different ones, they stay as they are.
 */

static iw_status find_gap(const iw_log *log, const struct iwi_wave_view *view, iw_time *shortest_ps_p,
                          iw_time *gap_ps_p)
{
    struct iwi_gap *gaps = iwi_new_array(log, view->step_count, sizeof *gaps);
    size_t count = 0;
    iw_status status;

    if (gaps == NULL) {
        return IW_ERR_NOMEM;
    }
    *shortest_ps_p = INT64_MAX;
    for (uint32_t i = 0; i < view->rank_count; i++) {
        for (size_t k = 0; k < view->rank[i].count; k++) {
            const iw_time time_ps = view->rank[i].steps[k].state_ps[IW_STATE_COMPUTE];

            if (time_ps > 0) {
                gaps[count++] = (struct iwi_gap){time_ps, i};
                *shortest_ps_p = iwi_min(*shortest_ps_p, time_ps);
            }
        }
    }
    status = iwi_step_gap(log, gaps, count, view->rank_count, gap_ps_p);
    free(gaps);
    return status;
}

static bool has_all_beginnings(const struct iwi_wave_view *view)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        if (view->rank[i].first > 0) {
            return false;
        }
    }
    return true;
}

/* Returns how many are left. What comes before the first large step is one of its own. */
static size_t join_rank(const struct iwi_wave_rank *rank, iw_time gap_ps, iw_step *joined)
{
    size_t count = 0;

    for (size_t k = 0; k < rank->count; k++) {
        const iw_step *step = &rank->steps[k];

        if (k == 0 || step->state_ps[IW_STATE_COMPUTE] >= gap_ps) {
            joined[count++] = *step;
            continue;
        }
        for (int state = 0; state < IW_STATES; state++) {
            joined[count - 1].state_ps[state] += step->state_ps[state];
        }
    }
    return count;
}

iw_status iwi_wave_join(const iw_log *log, struct iwi_wave_view *view)
{
    iw_time shortest_ps, gap_ps;
    size_t at = 0;

    if (view->is_traced || !has_all_beginnings(view)) {
        return IW_OK;
    }
    IW_TRY(find_gap(log, view, &shortest_ps, &gap_ps));
    if (gap_ps == 0 || gap_ps <= shortest_ps) {
        return IW_OK;
    }
    view->joined = iwi_new_array(log, view->step_count, sizeof *view->joined);
    if (view->joined == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < view->rank_count; i++) {
        struct iwi_wave_rank *rank = &view->rank[i];

        rank->count = join_rank(rank, gap_ps, &view->joined[at]);
        rank->steps = &view->joined[at];
        at += rank->count;
    }
    view->step_count = at;
    view->joined_below_ps = gap_ps;
    return IW_OK;
}
