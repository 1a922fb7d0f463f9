/* What each activity of a run waited for: the latest of what it may have needed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "features/explain/arrivals/rerun_parts.h"

static const struct iwi_activity *find(const struct iwi_rerun *rerun, uint32_t activity)
{
    return activity == IWI_RERUN_NONE ? NULL : &rerun->activities[activity];
}

/* What ended last on the lanes of a rank but `lane`; its time in *at_ps_p. */
static uint32_t last_ended(const struct iwi_rerun *rerun, uint32_t rank, uint32_t lane, iw_time *at_ps_p)
{
    uint32_t last = IWI_RERUN_NONE;

    for (uint32_t l = rerun->first_lane[rank]; l < rerun->first_lane[rank + 1]; l++) {
        const struct iwi_activity *ended = find(rerun, rerun->lanes[l].last_ended);

        if (l != lane && ended != NULL && (last == IWI_RERUN_NONE || ended->end_ps > *at_ps_p)) {
            last = rerun->lanes[l].last_ended;
            *at_ps_p = ended->end_ps;
        }
    }
    return last;
}

static void bind_to(struct iwi_activity *activity, enum iwi_rerun_bind bind, iw_time at_ps)
{
    if (activity->bind == IWI_BIND_TRACED || at_ps > activity->bound_ps) {
        activity->bind = (uint8_t)bind;
        activity->bound_ps = at_ps;
    }
}

/* Where computation on the other lanes had come to at `at_ps`: the point that is latest. */
static struct iwi_rerun_point computed_until(const struct iwi_rerun *rerun,
                                             const struct iwi_activity *activity, iw_time at_ps)
{
    struct iwi_rerun_point point = {.activity = IWI_RERUN_NONE};

    for (uint32_t l = rerun->first_lane[activity->rank]; l < rerun->first_lane[activity->rank + 1]; l++) {
        uint32_t begun = rerun->lanes[l].last_begun;

        if (l == activity->lane || !rerun->lanes[l].computes) {
            continue;
        }
        while (begun != IWI_RERUN_NONE && rerun->activities[begun].start_ps > at_ps) {
            begun = rerun->activities[begun].previous;
        }
        if (begun != IWI_RERUN_NONE) {
            const bool is_inside = rerun->activities[begun].end_ps > at_ps;
            const iw_time time_ps = is_inside ? at_ps : rerun->activities[begun].end_ps;

            if (point.activity == IWI_RERUN_NONE || time_ps > point.at_ps) {
                point = (struct iwi_rerun_point){begun, is_inside, time_ps};
            }
        }
    }
    return point;
}

/* Computation that a visit needed. */
static void bind_to_computation(const struct iwi_rerun *rerun, struct iwi_activity *activity)
{
    const bool is_told = activity->ready_ps > 0;
    const struct iwi_rerun_point point =
        computed_until(rerun, activity, activity->start_ps - activity->ready_ps);
    const bool is_prompt =
        activity->bind != IWI_BIND_TRACED && activity->start_ps - activity->bound_ps <= IWI_RERUN_PROMPT_PS;

    if (point.activity != IWI_RERUN_NONE && (is_told || !point.is_inside || !is_prompt)) {
        activity->ready = point;
        bind_to(activity, IWI_BIND_READY, point.at_ps);
    }
}

/* Computation that stood still when something else ended may have needed it, though it began later. */
static bool is_in_gap(const struct iwi_activity *activity, const struct iwi_activity *previous, iw_time at_ps)
{
    return activity->encounter == IWI_RERUN_NONE && (previous == NULL || at_ps > previous->end_ps);
}

/* Visits of a lane that come and go together are of one kernel: messages of a batch. */
static void bind_together(struct iwi_rerun *rerun, uint32_t index, uint32_t before)
{
    struct iwi_activity *activity = &rerun->activities[index];

    if (before != IWI_RERUN_NONE && activity->encounter != IWI_RERUN_NONE &&
        rerun->activities[before].encounter != IWI_RERUN_NONE &&
        activity->start_ps == rerun->activities[before].start_ps &&
        activity->end_ps == rerun->activities[before].end_ps && activity->end_ps > activity->start_ps &&
        activity->ahead_ps == 0 && rerun->activities[before].ahead_ps == 0) {
        rerun->activities[before].together = index;
        activity->is_with_before = true;
    }
}

static void bind_start(struct iwi_rerun *rerun, uint32_t index)
{
    struct iwi_activity *activity = &rerun->activities[index];
    struct iwi_rerun_lane *lane = &rerun->lanes[activity->lane];
    const struct iwi_activity *previous;
    iw_time at_ps = 0;

    /* lanes may overlap where a file has several things on one stream: only what has ended is before */
    activity->previous = lane->last_ended;
    previous = find(rerun, activity->previous);
    if (previous != NULL) {
        bind_to(activity, IWI_BIND_PREVIOUS, previous->end_ps);
    }
    if (activity->is_launched) {
        bind_to(activity, IWI_BIND_LAUNCH, activity->launched_ps);
    }
    if (activity->encounter != IWI_RERUN_NONE) {
        bind_to_computation(rerun, activity);
    }
    activity->other = last_ended(rerun, activity->rank, activity->lane, &at_ps);
    if (activity->other != IWI_RERUN_NONE) {
        bind_to(activity, IWI_BIND_OTHER, at_ps);
    }
    if (activity->bind != IWI_BIND_OTHER && !is_in_gap(activity, previous, at_ps)) {
        activity->other = IWI_RERUN_NONE;
    }
    bind_together(rerun, index, lane->last_begun);
    lane->last_begun = index;
}

/* Of a visit: whom it waited for, and what its rank did before it waited. */
static void bind_end(struct iwi_rerun *rerun, struct iwi_activity *activity)
{
    const iw_time waited_ps = activity->start_ps + activity->ahead_ps;
    uint32_t ended = activity->ahead_ps > 0 ? rerun->lanes[activity->lane].last_ended : IWI_RERUN_NONE;

    while (ended != IWI_RERUN_NONE && rerun->activities[ended].end_ps > waited_ps) {
        ended = rerun->activities[ended].previous;
    }
    if (ended != IWI_RERUN_NONE && rerun->activities[ended].end_ps > activity->start_ps) {
        activity->went_on = ended;
    }
    activity->met_ps = activity->root != IWI_RERUN_NONE ? rerun->activities[activity->root].start_ps
                                                        : rerun->met_ps[activity->encounter];
    activity->met_ps = iwi_max(activity->met_ps, waited_ps);
}

void iwi_rerun_bind(struct iwi_rerun *rerun)
{
    for (size_t i = 0; i < rerun->event_count; i++) {
        const struct iwi_rerun_event *event = &rerun->events[i];
        struct iwi_activity *activity = &rerun->activities[event->index];

        if (event->kind == IWI_EVENT_START) {
            bind_start(rerun, event->index);
            if (activity->encounter != IWI_RERUN_NONE) {
                rerun->met_ps[activity->encounter] = event->at_ps;
            }
        } else if (event->kind == IWI_EVENT_END || event->kind == IWI_EVENT_EMPTY_END) {
            if (activity->encounter != IWI_RERUN_NONE) {
                bind_end(rerun, activity);
            }
            rerun->lanes[activity->lane].last_ended = event->index;
        }
    }
}
