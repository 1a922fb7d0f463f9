/* Speed and decay of waves: what their fronts gain from rank to rank, in the mean.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Speed: time per distance, one point a step: the first rank that is reached in it (of the last step, which a
 * border may cut short, the last one would say less), at the time at which idle time begins. Of the trailing
 * edge the same over the time at which idle time ends. Decay: idle time per distance, one point a rank,
 * counted positive if it is lost.
 *
 * A front inherits the noise of all ranks before it, so that times and idle times are random walks around
 * their laws, not points with errors of their own around a line. Of walks with independent increments, as in
 * noise that has lasted for long (last-passage percolation, in its stationary state), the drift is that of
 * the law of such waves, and its interval comes from the variance of the increments. In noise that began
 * shortly before, ranks far apart still know of their common start: the walk is narrower, and the interval
 * too wide.
 *
 * A wave that has run over a weaker one goes on with the difference, among ranks that are late already and
 * need not be in step: the walks go up to the first rank that another wave reached before, if that leaves
 * three points; if not, such ranks are pieces of their own, and all pieces share the drift. The last ranks of
 * an open chain have fewer partners, so other times; they are left out too if two points remain (a drift,
 * though without interval).
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/stats/drift_fit.h"
#include "features/wave/wave_view.h"

enum { LEAST_POINTS = 3 };

static double seconds(iw_time ps)
{
    return (double)ps / (double)IW_PS_PER_S;
}

struct points {
    double *x, *y;
    uint32_t *group; /* of the points */
    uint32_t *piece; /* of the fronts */
};

static void points_release(struct points *points)
{
    free(points->x);
    free(points->y);
    free(points->group);
    free(points->piece);
}

static iw_status points_init(const iw_log *log, struct points *points, size_t count)
{
    points->x = iwi_new_array(log, count, sizeof *points->x);
    points->y = iwi_new_array(log, count, sizeof *points->y);
    points->group = iwi_new_array(log, count, sizeof *points->group);
    points->piece = iwi_new_array(log, count, sizeof *points->piece);
    if (points->x == NULL || points->y == NULL || points->group == NULL || points->piece == NULL) {
        points_release(points);
        return IW_ERR_NOMEM;
    }
    return IW_OK;
}

/* Pieces change where the wave comes to ranks that another one, or a delay, has reached before, and where it
 * leaves them. */
static void set_pieces(const struct iwi_wave_view *view, const iw_wave *wave, uint32_t *piece)
{
    bool was_before = false;

    for (size_t i = 0; i < wave->front_count; i++) {
        const iw_front *front = &wave->fronts[i];
        const bool is_before = iwi_view_rank(view, front->rank)->touched < front->step;

        piece[i] = (i > 0 ? piece[i - 1] : 0) + (is_before != was_before);
        was_before = is_before;
    }
}

/* Steps in which the first `front_count` fronts come. */
static size_t count_steps(const iw_wave *wave, size_t front_count)
{
    size_t count = 0;

    for (size_t i = 0; i < front_count; i++) {
        count += i == 0 || wave->fronts[i].step != wave->fronts[i - 1].step;
    }
    return count;
}

/* How many of the fronts count. */
static size_t count_usable(const struct iwi_wave_view *view, const iw_wave *wave, const uint32_t *piece)
{
    size_t usable = wave->front_count, first = 0;

    while (first < usable && piece[first] == 0) {
        first++;
    }
    if (count_steps(wave, first) >= LEAST_POINTS) {
        usable = first;
    }
    if (wave->end == IW_WAVE_BORDER && usable == wave->front_count && usable > view->distance &&
        count_steps(wave, usable - view->distance) >= 2) {
        usable -= view->distance;
    }
    return usable;
}

/* Of seconds per rank. If these may be none, there is no upper limit; if they are, there is no speed. */
static iw_estimate speed_of(const iw_estimate *slowness)
{
    if (!(slowness->value > 0.0)) {
        return (iw_estimate){NAN, NAN, NAN};
    }
    return (iw_estimate){1.0 / slowness->value, 1.0 / slowness->high,
                         slowness->low <= 0.0 ? (double)INFINITY : 1.0 / slowness->low};
}

/* The first front of each step: lead or trail, which are taken from the wave's first for the sake of digits,
 * over distance. */
static iw_estimate fit_speed(const iw_wave *wave, size_t front_count, bool is_trail, struct points *points)
{
    const iw_front *fronts = wave->fronts;
    iw_estimate slowness;
    size_t count = 0;

    for (size_t i = 0; i < front_count; i++) {
        if (i > 0 && fronts[i].step == fronts[i - 1].step) {
            continue;
        }
        points->x[count] = (double)fronts[i].distance;
        points->y[count] = is_trail ? seconds(fronts[i].trail_ps - fronts[0].trail_ps)
                                    : seconds(fronts[i].lead_ps - fronts[0].lead_ps);
        points->group[count++] = points->piece[i];
    }
    slowness = iwi_fit_drift(points->x, points->y, points->group, count);
    return speed_of(&slowness);
}

/* The rank on which two waves meet waits as long as the stronger one makes it: it is left out. */
static size_t count_decaying(const iw_wave *wave, size_t usable)
{
    return wave->end == IW_WAVE_MET && usable == wave->front_count && usable > LEAST_POINTS ? usable - 1
                                                                                            : usable;
}

static iw_estimate fit_decay(const iw_wave *wave, size_t front_count, struct points *points)
{
    iw_estimate drift;

    for (size_t i = 0; i < front_count; i++) {
        points->x[i] = (double)wave->fronts[i].distance;
        points->y[i] = seconds(wave->fronts[i].idle_ps);
    }
    drift = iwi_fit_drift(points->x, points->y, points->piece, front_count);
    return (iw_estimate){0.0 - drift.value, 0.0 - drift.high, 0.0 - drift.low}; /* no negative zero */
}

iw_status iwi_wave_fits(const iw_log *log, const struct iwi_wave_view *view, iw_waves *waves)
{
    const double period_s = seconds(view->period_ps);

    for (size_t i = 0; i < waves->wave_count; i++) {
        iw_wave *wave = &waves->waves[i];
        struct points points;
        size_t usable;

        IW_TRY(points_init(log, &points, wave->front_count));
        set_pieces(view, wave, points.piece);
        usable = count_usable(view, wave, points.piece);
        wave->speed = fit_speed(wave, usable, false, &points);
        wave->trail_speed = fit_speed(wave, usable, true, &points);
        wave->speed_points = count_steps(wave, usable);
        wave->decay_points = count_decaying(wave, usable);
        wave->decay_s = fit_decay(wave, wave->decay_points, &points);
        wave->ranks_per_step = (iw_estimate){wave->speed.value * period_s, wave->speed.low * period_s,
                                             wave->speed.high * period_s};
        points_release(&points);
    }
    return IW_OK;
}

/* How far apart the ranks are, step by step. */

/* Sums over the begins of one step; times are taken from the first rank's. */
struct begins {
    uint32_t count;
    iw_time base_ps, first_ps, last_ps;
    double sum, squares, cosine, sine;
};

static void add_begin(struct begins *begins, iw_time begin_ps, iw_time period_ps)
{
    double offset, angle;

    if (begins->count++ == 0) {
        begins->base_ps = begins->first_ps = begins->last_ps = begin_ps;
    }
    offset = (double)(begin_ps - begins->base_ps);
    angle = period_ps > 0
                ? 2.0 * M_PI * (double)((begin_ps - begins->base_ps) % period_ps) / (double)period_ps
                : 0.0;
    begins->first_ps = iwi_min(begins->first_ps, begin_ps);
    begins->last_ps = iwi_max(begins->last_ps, begin_ps);
    begins->sum += offset;
    begins->squares += offset * offset;
    begins->cosine += cos(angle);
    begins->sine += sin(angle);
}

/* To 1e-12, and at most 1: the last digits of sines differ between processors and C libraries. */
static double round_order(double order)
{
    return fmin(round(order * 1e12) / 1e12, 1.0);
}

static iw_desync desync_of(const struct begins *begins, uint64_t step)
{
    const double count = begins->count, mean = begins->sum / count;

    return (iw_desync){.step = step,
                       .spread_ps = begins->last_ps - begins->first_ps,
                       .deviation_ps = (iw_time)sqrt(fmax(begins->squares / count - mean * mean, 0.0)),
                       .order = round_order(hypot(begins->cosine, begins->sine) / count)};
}

/* Numbers of the first and one past the last step of any rank. */
static void step_range(const struct iwi_wave_view *view, uint64_t *first_p, uint64_t *end_p)
{
    *first_p = UINT64_MAX;
    *end_p = 0;
    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];

        if (rank->count > 0) {
            *first_p = rank->first < *first_p ? rank->first : *first_p;
            *end_p = rank->first + rank->count > *end_p ? rank->first + rank->count : *end_p;
        }
    }
}

/* Steps that fewer than half of the ranks have, at the edges of a window of time, say nothing. Numbers that
 * are as far apart as no rank has steps are those of a broken file. */
iw_status iwi_wave_desync(const iw_log *log, const struct iwi_wave_view *view, iw_waves *waves)
{
    uint64_t first, end;
    struct begins *begins;

    step_range(view, &first, &end);
    if (end <= first || end - first > view->step_count) {
        return IW_OK;
    }
    begins = iwi_new_array(log, end - first, sizeof *begins);
    waves->desync = iwi_new_array(log, end - first, sizeof *waves->desync);
    if (begins == NULL || waves->desync == NULL) {
        free(begins);
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];

        for (size_t k = 0; k < rank->count; k++) {
            add_begin(&begins[rank->first + k - first], rank->steps[k].begin_ps, view->period_ps);
        }
    }
    for (uint64_t step = first; step < end; step++) {
        if (begins[step - first].count * UINT64_C(2) >= view->rank_count && begins[step - first].count > 0) {
            waves->desync[waves->desync_count++] = desync_of(&begins[step - first], step);
        }
    }
    free(begins);
    return IW_OK;
}
