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
 * The next rank is reached in the same step (reach above 1) or in the next; later only if the wave has shown
 * in its first two ranks that it is so slow. A rank that is missed may be jumped over: noise of its own may
 * have made it late by itself.
 */
#include <stdlib.h>

#include "base/base.h"
#include "wave/wave_view.h"

enum { MOST_STEPS_BETWEEN = 4, LEARNING_FRONTS = 2, SMALL_PART = 4 /* less than a quarter */ };

struct follower {
    const struct iwi_wave_view *view;
    uint32_t origin_rank, dimension;
    int direction;
    iw_wave *wave;
    size_t capacity;
    uint64_t last_step;     /* of the last front, or of the origin */
    uint64_t last_idle;     /* step of its last idle time */
    uint64_t steps_between; /* two fronts, at most */
};

#define NEVER (INT64_MIN / 2) /* thresholds can be taken from it */

/* The latest of the `reach` ranks on one side; NEVER if none is known. */
static iw_time latest_ready(const struct follower *f, uint32_t rank, int side, uint64_t number)
{
    iw_time latest_ps = NEVER;

    for (uint32_t i = 1; i <= f->view->reach && i < f->view->extents[f->dimension]; i++) {
        const iw_step *step;
        uint32_t other;

        if (!iwi_view_neighbour(f->view, rank, f->dimension, (int64_t)side * i, &other)) {
            break;
        }
        step = iwi_view_step(f->view, other, number);
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

static bool is_reached(const struct follower *f, uint32_t rank, uint64_t number)
{
    const struct iwi_wave_rank *of_rank = iwi_view_rank(f->view, rank);
    const iw_step *step = iwi_view_step(f->view, rank, number);
    const iw_time threshold_ps = f->view->threshold_ps, idle_ps = idle_in(of_rank, step);
    iw_time cause_ps, other_ps;

    if (idle_ps <= threshold_ps ||
        (number > 0 && idle_ps < idle_in(of_rank, iwi_view_step(f->view, rank, number - 1)) / SMALL_PART)) {
        return false;
    }
    cause_ps = latest_ready(f, rank, -f->direction, number);
    other_ps = latest_ready(f, rank, f->direction, number);
    return cause_ps - threshold_ps / 2 > iwi_step_ready(step) &&
           cause_ps >= other_ps - iwi_max(threshold_ps, idle_ps / SMALL_PART) &&
           cause_ps <= iw_step_end(step) + threshold_ps;
}

/* Idle time lasts as long as successive steps have it. False: it begins with what is small against the rest
 * of it, that is, with waiting because of noise in the step before the wave comes. */
static bool front_of(const struct follower *f, uint32_t rank, uint64_t number, iw_front *front,
                     uint64_t *last_idle_p)
{
    const struct iwi_wave_rank *of_rank = iwi_view_rank(f->view, rank);
    const iw_step *step = iwi_view_step(f->view, rank, number);
    const iw_time first_ps = idle_in(of_rank, step);
    iw_time largest_ps = 0;

    front->rank = rank;
    front->step = number;
    front->lead_ps = iwi_step_ready(step) + step->state_ps[IW_STATE_COMM];
    front->idle_ps = 0;
    do {
        const iw_time idle_ps = idle_in(of_rank, step);

        front->idle_ps += idle_ps;
        largest_ps = iwi_max(largest_ps, idle_ps);
        if (idle_ps > f->view->threshold_ps) {
            front->trail_ps = iw_step_end(step);
            *last_idle_p = number;
        }
        step = iwi_view_step(f->view, rank, ++number);
    } while (idle_in(of_rank, step) > f->view->floor_ps);
    return first_ps >= largest_ps / SMALL_PART;
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
    return IW_OK;
}

/* Whether `distance` is reached in time. */
static bool find_front(struct follower *f, uint32_t distance, uint32_t jumped, iw_front *front_p)
{
    const uint64_t between = f->wave->front_count < LEARNING_FRONTS
                                 ? MOST_STEPS_BETWEEN
                                 : f->steps_between * (jumped + UINT64_C(1));
    uint32_t rank;

    if (!iwi_view_neighbour(f->view, f->origin_rank, f->dimension, (int64_t)f->direction * distance, &rank)) {
        return false;
    }
    front_p->distance = distance;
    for (uint64_t step = f->last_step; step <= f->last_idle + between; step++) {
        uint64_t last_idle = step;

        if (is_reached(f, rank, step) && front_of(f, rank, step, front_p, &last_idle)) {
            f->last_idle = last_idle;
            return true;
        }
    }
    return false;
}

iw_status iwi_wave_follow(const iw_log *log, const struct iwi_wave_view *view,
                          const struct iwi_wave_origin *origin, uint32_t dimension, int direction,
                          iw_wave *wave_p)
{
    const uint32_t extent = view->extents[dimension];
    struct follower f = {view, origin->rank, dimension, direction, wave_p, 0, origin->step, origin->step, 1};
    uint32_t distance = 1;

    *wave_p = (iw_wave){.origin_rank = origin->rank,
                        .origin_step = origin->step,
                        .delay_ps = origin->delay_ps,
                        .dimension = dimension,
                        .direction = direction,
                        .met = -1};
    for (uint32_t jumped = 0; distance < extent && jumped <= view->reach; distance++) {
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
