/* How waves end: at borders, around the ring, at other waves, in noise, with the run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"

#include "features/wave/wave_view.h"
#include <idlewave/wave.h>

enum {
    MOST_STEPS_APART = 2,   /* of two waves that meet */
    MOST_PERIODS_SHORT = 10 /* of the run's end, for steps that end with it */
};

/* The front of a wave on that rank, or NULL. */
static const iw_front *front_on(const iw_wave *wave, uint32_t rank)
{
    for (size_t i = 0; i < wave->front_count; i++) {
        if (wave->fronts[i].rank == rank) {
            return &wave->fronts[i];
        }
    }
    return NULL;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether `other` comes from the other side over `rank` when `wave` has got there. */
static bool is_met(const iw_wave *wave, const iw_wave *other, uint32_t rank)
{
    const iw_front *last = &wave->fronts[wave->front_count - 1];
    const iw_front *front = other->direction != wave->direction ? front_on(other, rank) : NULL;

    return front != NULL && apart(front->step, last->step) <= MOST_STEPS_APART;
}

/* Whether the delay that began `other` has made `rank`, which `wave` did not reach, late already: in the step
 * in which it could have come there the rank is no earlier than the last one that it reached. */
static bool is_late_itself(const struct iwi_wave_view *view, const iw_wave *wave, const iw_wave *other,
                           uint32_t rank)
{
    const iw_front *last = &wave->fronts[wave->front_count - 1];
    const iw_step *here, *there;

    if (other->origin_rank != rank || rank == last->rank || other->origin_step > last->step + 1 ||
        (other->origin_rank == wave->origin_rank && other->origin_step == wave->origin_step)) {
        return false;
    }
    here = iwi_view_step(view, last->rank, last->step + 1);
    there = iwi_view_step(view, rank, last->step + 1);
    return here != NULL && there != NULL &&
           iwi_step_ready(there) >= iwi_step_ready(here) - view->threshold_ps;
}

/* The wave that this one ran into, nearest rank first; -1: none. */
static int find_met(const struct iwi_wave_view *view, const iw_waves *waves, const iw_wave *wave)
{
    for (uint32_t ahead = 0; ahead <= view->reach; ahead++) {
        uint32_t rank;

        if (!iwi_view_neighbour(view, wave->end_rank, wave->dimension, (int64_t)wave->direction * ahead,
                                &rank)) {
            break;
        }
        for (size_t i = 0; i < waves->wave_count; i++) {
            const iw_wave *other = &waves->waves[i];

            if (other != wave && other->dimension == wave->dimension &&
                (is_met(wave, other, rank) || is_late_itself(view, wave, other, rank))) {
                return (int)i;
            }
        }
    }
    return -1;
}

/* Most ranks wait long in one step: with every rank that the wave could have reached that is no wave. */
static bool is_synced(const struct iwi_wave_view *view, uint64_t number)
{
    uint32_t idle = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];
        const iw_step *step = iwi_rank_step(rank, number);

        idle += step != NULL && step->state_ps[IW_STATE_WAIT] - rank->ordinary_ps > view->threshold_ps;
    }
    return idle > view->rank_count / 2 && idle > 4 * view->reach;
}

/* The rank has no step after that: the next one, in which it could have been reached, or the last one, whose
 * lateness could have been seen. */
static bool is_over(const struct iwi_wave_rank *rank, uint64_t last_step)
{
    return rank->count == 0 || rank->first + rank->count <= last_step + 1;
}

/* The window's steps end with the run, not with the window: some of its ranks, maybe not those that nobody
 * has delayed, work nearly until the end. */
static bool is_until_end(const struct iwi_wave_view *view)
{
    iw_time end_ps = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];

        end_ps = rank->count > 0 ? iwi_max(end_ps, iw_step_end(&rank->steps[rank->count - 1])) : end_ps;
    }
    return iw_timeline_is_whole(view->timeline) ||
           end_ps >= iw_timeline_end(view->timeline) - MOST_PERIODS_SHORT * view->period_ps;
}

static iw_wave_end end_of(const struct iwi_wave_view *view, const iw_wave *wave)
{
    const iw_front *last = &wave->fronts[wave->front_count - 1];
    const struct iwi_wave_rank *next_rank;
    uint32_t next;

    if (!iwi_view_neighbour(view, last->rank, wave->dimension, wave->direction, &next)) {
        return IW_WAVE_BORDER;
    }
    if (last->distance + 1 >= view->extents[wave->dimension]) {
        return IW_WAVE_ORIGIN;
    }
    if (wave->met >= 0) {
        return IW_WAVE_MET;
    }
    next_rank = iwi_view_rank(view, next);
    if (next_rank == NULL) {
        return IW_WAVE_WINDOW;
    }
    if (is_over(next_rank, last->step) || is_over(iwi_view_rank(view, last->rank), last->step)) {
        return is_until_end(view) ? IW_WAVE_RUNS : IW_WAVE_WINDOW;
    }
    return is_synced(view, last->step) || is_synced(view, last->step + 1) ? IW_WAVE_SYNCED : IW_WAVE_DECAYED;
}

void iwi_wave_ends(const struct iwi_wave_view *view, iw_waves *waves)
{
    for (size_t i = 0; i < waves->wave_count; i++) {
        iw_wave *wave = &waves->waves[i];
        const iw_front *last = &wave->fronts[wave->front_count - 1];

        wave->end_rank = last->rank;
        wave->end_ps = last->lead_ps;
    }
    for (size_t i = 0; i < waves->wave_count; i++) {
        iw_wave *wave = &waves->waves[i];

        wave->met = find_met(view, waves, wave);
        wave->end = end_of(view, wave);
        if (wave->end != IW_WAVE_MET) {
            wave->met = -1;
        }
    }
}
