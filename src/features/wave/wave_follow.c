/* Follows a wave from rank to rank: who waits in which step because of whom.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank is reached by a wave of direction +1 in step n if in that step
 * - it waits beyond the ordinary by more than the threshold,
 * - one of the `reach` ranks below it has its own work done later than this rank has (the cause), and later
 *   than all of the `reach` ranks above: otherwise it waits for those, which is another wave,
 * - its waiting does not end before the cause is done,
 * - and it is not the small rest of waiting in the step before.
 * For -1 the same the other way round. Where two waves meet on a rank both causes are equally late, or differ
 * by less than a quarter of the waiting, and the rank belongs to both.
 *
 * Where ranks wait for other reasons too, in noise and in traces, the wave is the one that is followed only
 * if
 * - the idle time is comparable: at least a third of that on the rank before (of the delay, at first), and no
 * more than half as much again as the most so far; where the wave is expected, in the step after that of the
 * rank before, from a sixth to three times,
 * - it is explained: the cause is later than this rank by at least half of it,
 * - and the cause had been reached before this step: on the way into it a rank is late by its own doing.
 *
 * `reach` is sigma d. Where nobody has said what sigma is, it is d; and a rank may also be reached in the
 * step in which the one before it was, by a cause up to 2 d away, if its waiting ends no earlier than that
 * one's, is about as long, and it is not reached in the next step.
 *
 * The next rank is reached in the same step (reach above 1) or in the next; later only if the wave has shown
 * in its first two ranks that it is so slow. A rank that is missed may be jumped over: noise of its own may
 * have made it late by itself.
 *
 * The idle time of a front is that of the step in which it comes (of as many as the delay was spread over).
 * What the rank waits for in later steps came by other ways, with the noise of those: on a front the delay is
 * known to have come by the straight one. Without noise all ways are alike, and idle time of successive steps
 * is one front's.
 */
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/stats/select.h"
#include "features/wave/wave_view.h"

enum {
    MOST_STEPS_BETWEEN = 4,
    MOST_BETWEEN_CHOOSY = 2, /* the more steps, the more other waits */
    LEARNING_FRONTS = 2,
    SMALL_PART = 4,      /* less than a quarter */
    COMPARABLE_PART = 3, /* of the idle time before: less is another wait */
    EXPECTED_PART = 6,   /* the same in the step in which the wave is expected, */
    MOST_EXPECTED = 3,   /* and how many times as much may be the wave there */
    EXPLAINED_PART = 2,  /* of the idle time: by so much the cause has to be later */
    TRACED_PART = 12     /* of the delay: a threshold for traces whose waiting spreads more than that */
};

struct follower {
    const struct iwi_wave_view *view;
    uint32_t origin_rank, dimension;
    int direction;
    iw_wave *wave;
    size_t capacity;
    uint32_t reach;
    uint64_t delay_steps; /* that the delay was spread over */
    bool is_choosy;       /* there are other reasons to wait */
    iw_time threshold_ps; /* of the view, or less for this delay */
    iw_time floor_ps;
    iw_time last_ps;        /* idle time of the last front, or the delay */
    iw_time most_ps;        /* of all of them */
    uint64_t last_step;     /* of the last front, or of the origin */
    uint64_t steps_between; /* two fronts, at most */
};

#define NEVER (INT64_MIN / 2) /* thresholds can be taken from it */

/* A rank at some distance from the origin, in a step of it. */
struct place {
    uint32_t distance, rank;
    uint64_t step;
};

/* Whether the rank at that distance was reached before the step, or was jumped over, or is the origin. */
static bool is_behind(const struct follower *f, uint32_t distance, uint64_t number)
{
    for (size_t i = f->wave->front_count; i-- > 0 && f->wave->fronts[i].distance >= distance;) {
        if (f->wave->fronts[i].distance == distance) {
            return f->wave->fronts[i].step < number;
        }
    }
    return true;
}

/* The latest of the `reach` ranks on one side; NEVER if none is known. */
static iw_time latest_ready(const struct follower *f, uint32_t reach, struct place at, int side)
{
    const bool is_cause = side != f->direction;
    iw_time latest_ps = NEVER;

    for (uint32_t i = 1; i <= reach && i < f->view->extents[f->dimension]; i++) {
        const iw_step *step;
        uint32_t other;

        if (!iwi_view_neighbour(f->view, at.rank, f->dimension, (int64_t)side * i, &other)) {
            break;
        }
        if (is_cause && f->is_choosy && i < at.distance && !is_behind(f, at.distance - i, at.step)) {
            continue;
        }
        step = iwi_view_step(f->view, other, at.step);
        if (step != NULL) {
            latest_ps = iwi_max(latest_ps, iwi_step_ready(step));
        }
    }
    return latest_ps;
}

static iw_time idle_in(const struct iwi_wave_rank *rank, const iw_step *step)
{
    return step != NULL ? step->state_ps[IW_STATE_WAIT] - rank->ordinary_ps : 0;
}

/* Whether so much waiting can be the wave's: neither a stray wait nor a longer wave. */
static bool is_comparable(const struct follower *f, uint64_t number, iw_time idle_ps)
{
    const bool is_expected = number == f->last_step + (f->wave->front_count > 0);

    if (!f->is_choosy) {
        return true;
    }
    if (is_expected) {
        return idle_ps >= f->last_ps / EXPECTED_PART && idle_ps / MOST_EXPECTED <= f->most_ps;
    }
    return idle_ps >= f->last_ps / COMPARABLE_PART &&
           idle_ps <= f->most_ps + f->most_ps / 2 + f->threshold_ps;
}

/* By how much later than the rank its cause has to be done. */
static iw_time least_lateness(const struct follower *f, iw_time idle_ps)
{
    const iw_time least_ps = f->threshold_ps / 2;

    return f->is_choosy ? (iw_time)iwi_max(least_ps, idle_ps / EXPLAINED_PART) : least_ps;
}

static bool is_reached(const struct follower *f, uint32_t reach, struct place at)
{
    const struct iwi_wave_rank *of_rank = iwi_view_rank(f->view, at.rank);
    const iw_step *step = iwi_view_step(f->view, at.rank, at.step);
    const iw_time threshold_ps = f->threshold_ps, idle_ps = idle_in(of_rank, step);
    iw_time cause_ps, other_ps;

    if (idle_ps <= threshold_ps || !is_comparable(f, at.step, idle_ps) ||
        (at.step > 0 && idle_ps < idle_in(of_rank, iwi_rank_step(of_rank, at.step - 1)) / SMALL_PART)) {
        return false;
    }
    cause_ps = latest_ready(f, reach, at, -f->direction);
    other_ps = latest_ready(f, reach, at, f->direction);
    return cause_ps - least_lateness(f, idle_ps) > iwi_step_ready(step) &&
           cause_ps >= other_ps - iwi_max(threshold_ps, idle_ps / SMALL_PART) &&
           cause_ps <= iw_step_end(step) + threshold_ps;
}

/* Two hops in one step, where nobody knows whether the wave does that. One that does, does so from the first
 * two ranks on. */
static bool is_reached_at_once(const struct follower *f, struct place at)
{
    const iw_front *fronts = f->wave->fronts;
    const iw_front *last = f->wave->front_count > 0 ? &fronts[f->wave->front_count - 1] : NULL;
    const iw_step *step = iwi_view_step(f->view, at.rank, at.step);
    const struct place next = {at.distance, at.rank, at.step + 1};
    const iw_time idle_ps = idle_in(iwi_view_rank(f->view, at.rank), step);

    if (f->wave->front_count > 1 && fronts[1].step != fronts[0].step) {
        return false;
    }
    return f->reach < f->view->reach && last != NULL && step != NULL && last->step == at.step &&
           iw_step_end(step) >= last->trail_ps - f->threshold_ps / 2 && 3 * idle_ps >= 2 * last->idle_ps &&
           2 * idle_ps <= 3 * last->idle_ps && is_reached(f, f->view->reach, at) &&
           !is_reached(f, f->reach, next);
}

/* Whether the waiting of that step is small against that of the steps right behind it: noise made the rank
 * wait in the step before the wave comes. */
static bool is_before_wave(const struct follower *f, uint32_t rank, uint64_t number)
{
    const struct iwi_wave_rank *of_rank = iwi_view_rank(f->view, rank);
    const iw_time first_ps = idle_in(of_rank, iwi_rank_step(of_rank, number));
    iw_time idle_ps = first_ps, largest_ps = first_ps;

    while (idle_ps > f->floor_ps) {
        largest_ps = iwi_max(largest_ps, idle_ps);
        idle_ps = idle_in(of_rank, iwi_rank_step(of_rank, ++number));
    }
    return first_ps < largest_ps / SMALL_PART;
}

static void fill_front(const struct follower *f, uint32_t rank, uint64_t number, iw_front *front)
{
    const struct iwi_wave_rank *of_rank = iwi_view_rank(f->view, rank);
    const iw_step *step = iwi_rank_step(of_rank, number);

    front->rank = rank;
    front->step = number;
    front->lead_ps = iwi_step_ready(step) + step->state_ps[IW_STATE_COMM];
    front->trail_ps = iw_step_end(step);
    front->idle_ps = idle_in(of_rank, step);
    for (uint64_t i = 1; f->view->is_silent || i < f->delay_steps; i++) {
        const iw_time idle_ps = idle_in(of_rank, step = iwi_rank_step(of_rank, number + i));

        if (idle_ps <= f->floor_ps) {
            break;
        }
        front->idle_ps += idle_ps;
        front->trail_ps = idle_ps > f->threshold_ps ? iw_step_end(step) : front->trail_ps;
    }
}

static iw_status add_front(const iw_log *log, struct follower *f, const iw_front *front)
{
    iw_wave *wave = f->wave;

    IW_TRY(iwi_grow(log, (void **)&wave->fronts, &f->capacity, wave->front_count + 1, sizeof *wave->fronts));
    wave->fronts[wave->front_count++] = *front;
    if (wave->front_count <= LEARNING_FRONTS) {
        const uint64_t between = front->step - f->last_step;

        f->steps_between = wave->front_count == 1 || between > f->steps_between ? between : f->steps_between;
        f->steps_between = f->steps_between > 1 ? f->steps_between : 1;
    }
    f->last_step = front->step;
    f->last_ps = front->idle_ps;
    f->most_ps = iwi_max(f->most_ps, front->idle_ps);
    return IW_OK;
}

/* The first step in which a wave that does not go more than sigma d ranks a step can come so far. */
static uint64_t earliest_step(const struct follower *f, uint32_t distance, uint32_t jumped)
{
    const uint32_t reach = jumped > 0 ? f->reach : f->view->reach;

    if (!f->is_choosy) {
        return f->last_step;
    }
    return f->last_step + (f->wave->front_count > 0
                               ? (distance - f->wave->fronts[f->wave->front_count - 1].distance) / reach
                               : (distance - 1) / reach);
}

/* Whether `distance` is reached in time. */
static bool find_front(const struct follower *f, uint32_t distance, uint32_t jumped, iw_front *front_p)
{
    const uint64_t most = f->is_choosy ? MOST_BETWEEN_CHOOSY : MOST_STEPS_BETWEEN;
    const uint64_t between =
        f->wave->front_count < LEARNING_FRONTS ? most : f->steps_between * (jumped + UINT64_C(1));
    uint32_t rank;

    if (!iwi_view_neighbour(f->view, f->origin_rank, f->dimension, (int64_t)f->direction * distance, &rank)) {
        return false;
    }
    front_p->distance = distance;
    for (uint64_t step = earliest_step(f, distance, jumped); step < f->last_step + f->delay_steps + between;
         step++) {
        const struct place at = {distance, rank, step};

        if ((is_reached(f, f->reach, at) || is_reached_at_once(f, at)) && !is_before_wave(f, rank, step)) {
            fill_front(f, rank, step, front_p);
            return true;
        }
    }
    return false;
}

/* In a trace waiting may spread so much that nothing is unusual, and a long delay is seen nevertheless: less
 * than a part of it counts. */
static void set_threshold(struct follower *f, iw_time delay_ps)
{
    const iw_time most_ps =
        f->view->is_traced && !f->view->has_threshold ? delay_ps / TRACED_PART : INT64_MAX;

    f->threshold_ps = iwi_min(f->view->threshold_ps, most_ps);
    f->floor_ps = iwi_min(f->view->floor_ps, most_ps);
}

static struct follower start(const struct iwi_wave_view *view, const struct iwi_wave_origin *origin,
                             iw_wave *wave)
{
    struct follower f = {.view = view,
                         .origin_rank = origin->rank,
                         .dimension = wave->dimension,
                         .direction = wave->direction,
                         .wave = wave,
                         .reach = view->expected_reach > 0 ? view->reach : view->distance,
                         .delay_steps = origin->step_count,
                         .is_choosy = view->is_traced || !view->is_quiet,
                         .last_ps = origin->delay_ps,
                         .most_ps = origin->delay_ps,
                         .last_step = origin->step,
                         .steps_between = 1};

    set_threshold(&f, origin->delay_ps);
    return f;
}

iw_status iwi_wave_follow(const iw_log *log, const struct iwi_wave_view *view,
                          const struct iwi_wave_origin *origin, uint32_t dimension, int direction,
                          iw_wave *wave_p)
{
    const uint32_t extent = view->extents[dimension];
    struct follower f;

    *wave_p = (iw_wave){.origin_rank = origin->rank,
                        .origin_step = origin->step,
                        .delay_ps = origin->delay_ps,
                        .dimension = dimension,
                        .direction = direction,
                        .met = -1};
    f = start(view, origin, wave_p);
    for (uint32_t distance = 1, jumped = 0; distance < extent && jumped <= f.reach; distance++) {
        iw_front front;

        if (!find_front(&f, distance, jumped, &front)) {
            jumped++;
            continue;
        }
        const iw_status status = add_front(log, &f, &front);

        if (status != IW_OK) {
            free(wave_p->fronts);
            return status;
        }
        jumped = 0;
    }
    return IW_OK;
}

/* How waves end: at borders, around the ring, at other waves, in noise, with the run. */

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

/* What is ordinary ahead of waves: they run through steps in which nobody was late yet.
 *
 * Other steps may differ: behind an eager wave, and behind the open end of a chain that sends one way, ranks
 * come later than their messages and wait for nothing. So the period is that of the steps on ranks that waves
 * come to, before they do, if there are enough of them. In quiet runs, where few steps tell it, ordinary
 * waiting too.
 */

enum {
    LEAST_AHEAD = 16,    /* steps for a period */
    LEAST_OWN_AHEAD = 3, /* for a median of the rank's own */
};

static void touch(const struct iwi_wave_view *view, uint32_t number, uint64_t step)
{
    struct iwi_wave_rank *rank = iwi_view_rank(view, number);

    rank->touched = step < rank->touched ? step : rank->touched;
}

void iwi_wave_touch(const struct iwi_wave_view *view, const iw_waves *waves)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        view->rank[i].touched = UINT64_MAX;
    }
    for (size_t i = 0; i < waves->wave_count; i++) {
        const iw_wave *wave = &waves->waves[i];

        touch(view, wave->origin_rank, wave->origin_step);
        for (size_t k = 0; k < wave->front_count; k++) {
            touch(view, wave->fronts[k].rank, wave->fronts[k].step);
        }
    }
}

/* Lengths and waiting of a rank's ordinary steps before its first wave; returns how many. */
static size_t collect_ahead(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                            double *lengths, double *waits)
{
    size_t count = 0;

    for (size_t k = 0; k < rank->count && rank->touched != UINT64_MAX && rank->first + k < rank->touched;
         k++) {
        const iw_step *step = &rank->steps[k];

        if (iwi_step_is_ordinary(view, rank, step)) {
            lengths[count] = (double)(iw_step_end(step) - step->begin_ps);
            waits[count++] = (double)step->state_ps[IW_STATE_WAIT];
        }
    }
    return count;
}

/* The rank's own median, or that of all. */
static void refine_waits(struct iwi_wave_view *view, double *lengths, double *waits, double all_ps)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        struct iwi_wave_rank *rank = &view->rank[i];
        const size_t count = collect_ahead(view, rank, lengths, waits);

        if (count >= LEAST_OWN_AHEAD) {
            rank->ordinary_ps = (iw_time)iwi_select_quantile(waits, count, 0.5);
        } else if (rank->touched != UINT64_MAX) {
            rank->ordinary_ps = (iw_time)all_ps;
        }
    }
}

iw_status iwi_wave_refine(const iw_log *log, const iw_waves *waves, struct iwi_wave_view *view)
{
    double *lengths = iwi_new_array(log, view->step_count, sizeof *lengths);
    double *waits = iwi_new_array(log, view->step_count, sizeof *waits);
    size_t count = 0;

    if (lengths != NULL && waits != NULL) {
        iwi_wave_touch(view, waves);
        for (uint32_t i = 0; i < view->rank_count; i++) {
            count += collect_ahead(view, &view->rank[i], &lengths[count], &waits[count]);
        }
        if (count >= LEAST_AHEAD) {
            view->period_ps = iwi_period_of(lengths, count);
        }
        if (count >= LEAST_AHEAD && view->is_quiet) {
            refine_waits(view, lengths, waits, iwi_select_quantile(waits, count, 0.5));
        }
    }
    free(waits);
    free(lengths);
    return lengths != NULL && waits != NULL ? IW_OK : IW_ERR_NOMEM;
}
