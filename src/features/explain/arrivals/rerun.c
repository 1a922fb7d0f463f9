/* Runs over again: what each activity waited for, and when all would have been without some of the time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/rerun.h"

#include <stdlib.h>

/* ---- what each activity waited for: the latest of what it may have needed ---- */

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

static void rerun_bind(struct iwi_rerun *rerun);

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

static void rerun_bind(struct iwi_rerun *rerun)
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

/* ---- running again, in the order of the trace ---- */

void iwi_rerun_free(struct iwi_rerun *rerun)
{
    if (rerun == NULL) {
        return;
    }
    free(rerun->activities);
    free(rerun->events);
    free(rerun->lanes);
    free(rerun->first_lane);
    free(rerun->has_launches);
    free(rerun->step_numbers);
    free(rerun->start_ps);
    free(rerun->end_ps);
    free(rerun->launched_ps);
    free(rerun->met_ps);
    free(rerun->host_ps);
    free(rerun->host_traced_ps);
    free(rerun);
}

static iw_status make(struct iwi_rerun *rerun)
{
    const struct iwi_visits *visits = rerun->visits;

    IW_TRY(iwi_rerun_order(rerun));
    rerun->start_ps = iwi_new_array(visits->log, rerun->activity_count, sizeof rerun->start_ps[0]);
    rerun->end_ps = iwi_new_array(visits->log, rerun->activity_count, sizeof rerun->end_ps[0]);
    rerun->launched_ps = iwi_new_array(visits->log, rerun->activity_count, sizeof rerun->launched_ps[0]);
    rerun->met_ps = iwi_new_array(visits->log, visits->encounter_count, sizeof rerun->met_ps[0]);
    rerun->host_ps = iwi_new_array(visits->log, visits->rank_count, sizeof rerun->host_ps[0]);
    rerun->host_traced_ps = iwi_new_array(visits->log, visits->rank_count, sizeof rerun->host_traced_ps[0]);
    if (rerun->start_ps == NULL || rerun->end_ps == NULL || rerun->launched_ps == NULL ||
        rerun->met_ps == NULL || rerun->host_ps == NULL || rerun->host_traced_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    rerun_bind(rerun);
    return iwi_rerun_run(rerun, NULL, NULL);
}

iw_status iwi_rerun_new(const struct iwi_visits *visits, struct iwi_rerun **rerun_p)
{
    struct iwi_rerun *rerun = iwi_new_array(visits->log, 1, sizeof *rerun);
    iw_status status;

    if (rerun == NULL) {
        return IW_ERR_NOMEM;
    }
    rerun->visits = visits;
    status = make(rerun);
    if (status != IW_OK) {
        iwi_rerun_free(rerun);
        return status;
    }
    *rerun_p = rerun;
    return IW_OK;
}

/* ---- one event after the other ---- */

/* `at_ps` of what holds an activity back; what binds it does so with the time that passed in between. What
 * ended shortly after it began, at `traced_ps`, lets it begin as much before. */
static iw_time held_until(const struct iwi_cuts *cuts, const struct iwi_activity *activity,
                          enum iwi_rerun_bind by, iw_time at_ps, iw_time traced_ps)
{
    at_ps += iwi_min(0, activity->start_ps - traced_ps);
    return activity->bind == by ? at_ps + iwi_cuts_left_ps(cuts, activity->rank, IWI_CUT_GAP,
                                                           activity->bound_ps, activity->start_ps)
                                : at_ps;
}

static iw_time time_of_point(const struct iwi_rerun *rerun, const struct iwi_cuts *cuts,
                             const struct iwi_rerun_point *point)
{
    const struct iwi_activity *activity = &rerun->activities[point->activity];

    return point->is_inside
               ? rerun->start_ps[point->activity] +
                     iwi_cuts_left_ps(cuts, activity->rank, IWI_CUT_COMPUTE, activity->start_ps, point->at_ps)
               : rerun->end_ps[point->activity];
}

static void start(struct iwi_rerun *rerun, const struct iwi_cuts *cuts, uint32_t index)
{
    const struct iwi_activity *activity = &rerun->activities[index];
    iw_time start_ps = INT64_MIN;

    if (activity->bind == IWI_BIND_TRACED) {
        start_ps = rerun->first_ps +
                   iwi_cuts_left_ps(cuts, activity->rank, IWI_CUT_GAP, rerun->first_ps, activity->start_ps);
    }
    if (activity->previous != IWI_RERUN_NONE) {
        start_ps =
            iwi_max(start_ps, held_until(cuts, activity, IWI_BIND_PREVIOUS, rerun->end_ps[activity->previous],
                                         rerun->activities[activity->previous].end_ps));
    }
    if (activity->is_launched) {
        start_ps = iwi_max(start_ps, held_until(cuts, activity, IWI_BIND_LAUNCH, rerun->launched_ps[index],
                                                activity->launched_ps));
    }
    if (activity->ready.activity != IWI_RERUN_NONE) {
        start_ps = iwi_max(start_ps,
                           held_until(cuts, activity, IWI_BIND_READY,
                                      time_of_point(rerun, cuts, &activity->ready), activity->ready.at_ps));
    }
    if (activity->other != IWI_RERUN_NONE) {
        start_ps =
            iwi_max(start_ps, held_until(cuts, activity, IWI_BIND_OTHER, rerun->end_ps[activity->other],
                                         rerun->activities[activity->other].end_ps));
    }
    rerun->start_ps[index] = start_ps;
    if (activity->encounter != IWI_RERUN_NONE) {
        rerun->met_ps[activity->encounter] = iwi_max(rerun->met_ps[activity->encounter], start_ps);
    }
}

/* When all had come whom a visit waits for, and it waited itself. */
static iw_time meet(const struct iwi_rerun *rerun, const struct iwi_activity *activity, uint32_t index)
{
    const uint32_t before = activity->went_on;
    const iw_time others_ps = activity->root != IWI_RERUN_NONE ? rerun->start_ps[activity->root]
                                                               : rerun->met_ps[activity->encounter];
    const iw_time self_ps = before == IWI_RERUN_NONE
                                ? rerun->start_ps[index] + activity->ahead_ps
                                : rerun->end_ps[before] + activity->start_ps + activity->ahead_ps -
                                      rerun->activities[before].end_ps;

    return iwi_max(others_ps, self_ps);
}

/* A kernel ends as long as it did after the last of its visits had met. */
static void end_visits(struct iwi_rerun *rerun, uint32_t first)
{
    const struct iwi_activity *of = rerun->activities;
    iw_time met_ps = INT64_MIN, traced_ps = INT64_MIN;

    for (uint32_t i = first; i != IWI_RERUN_NONE; i = of[i].together) {
        met_ps = iwi_max(met_ps, meet(rerun, &of[i], i));
        traced_ps = iwi_max(traced_ps, of[i].met_ps);
    }
    for (uint32_t i = first; i != IWI_RERUN_NONE; i = of[i].together) {
        rerun->end_ps[i] = met_ps + of[i].end_ps - traced_ps;
    }
}

static void end(struct iwi_rerun *rerun, const struct iwi_cuts *cuts, uint32_t index)
{
    const struct iwi_activity *activity = &rerun->activities[index];

    if (activity->encounter != IWI_RERUN_NONE) {
        if (!activity->is_with_before) {
            end_visits(rerun, index);
        }
    } else {
        rerun->end_ps[index] =
            rerun->start_ps[index] +
            iwi_cuts_left_ps(cuts, activity->rank, IWI_CUT_COMPUTE, activity->start_ps, activity->end_ps);
    }
    rerun->lanes[activity->lane].last_ended = index;
}

/* The host of a rank gets on until a time of the trace. */
static void advance_host(struct iwi_rerun *rerun, const struct iwi_cuts *cuts, uint32_t rank,
                         iw_time until_ps)
{
    if (rerun->host_traced_ps[rank] == INT64_MIN) { /* nothing was seen of it before */
        rerun->host_ps[rank] = until_ps;
    } else {
        rerun->host_ps[rank] +=
            iwi_cuts_left_ps(cuts, rank, IWI_CUT_HOST, rerun->host_traced_ps[rank], until_ps);
    }
    rerun->host_traced_ps[rank] = iwi_max(rerun->host_traced_ps[rank], until_ps);
}

/* The host goes on when all has ended that its device ended meanwhile. */
static void end_wait(struct iwi_rerun *rerun, const struct iwi_cuts *cuts, const struct iwi_host_wait *wait)
{
    const uint32_t rank = wait->rank;
    iw_time begin_ps;

    advance_host(rerun, cuts, rank, wait->begin_ps);
    begin_ps = rerun->host_traced_ps[rank];
    for (uint32_t l = rerun->first_lane[rank]; l < rerun->first_lane[rank + 1]; l++) {
        const uint32_t ended = rerun->lanes[l].last_ended;
        const iw_time end_ps = ended != IWI_RERUN_NONE ? rerun->activities[ended].end_ps : INT64_MIN;

        if (ended != IWI_RERUN_NONE && end_ps >= begin_ps) {
            const iw_time early_ps = iwi_min(0, wait->end_ps - end_ps);

            rerun->host_ps[rank] = iwi_max(rerun->host_ps[rank], rerun->end_ps[ended] + early_ps);
            rerun->host_traced_ps[rank] = iwi_max(rerun->host_traced_ps[rank], end_ps + early_ps);
        }
    }
    advance_host(rerun, cuts, rank, wait->end_ps);
}

static void walk(struct iwi_rerun *rerun, const struct iwi_cuts *cuts)
{
    for (size_t i = 0; i < rerun->event_count; i++) {
        const struct iwi_rerun_event *event = &rerun->events[i];

        switch (event->kind) {
        case IWI_EVENT_START: start(rerun, cuts, event->index); break;
        case IWI_EVENT_END:
        case IWI_EVENT_EMPTY_END: end(rerun, cuts, event->index); break;
        case IWI_EVENT_WAIT: end_wait(rerun, cuts, &rerun->visits->host_waits[event->index]); break;
        case IWI_EVENT_LAUNCH: {
            const uint32_t rank = rerun->activities[event->index].rank;

            advance_host(rerun, cuts, rank, event->at_ps);
            rerun->launched_ps[event->index] = rerun->host_ps[rank];
            break;
        }
        default: break;
        }
    }
}

static void measure_steps(const struct iwi_rerun *rerun, iw_time *steps_ps)
{
    iw_time before_ps = rerun->first_ps;

    for (size_t k = 0; k < rerun->step_count; k++) {
        steps_ps[k] = INT64_MIN;
    }
    for (size_t i = 0; i < rerun->activity_count; i++) {
        const uint32_t step = rerun->activities[i].step;

        if (step != IWI_RERUN_NONE) {
            steps_ps[step] = iwi_max(steps_ps[step], rerun->end_ps[i]);
        }
    }
    for (size_t k = 0; k < rerun->step_count; k++) {
        const iw_time end_ps = steps_ps[k];

        steps_ps[k] -= before_ps;
        before_ps = end_ps;
    }
}

/* Hosts begin with their first steps, where these are known. */
static void begin_hosts(struct iwi_rerun *rerun)
{
    const struct iwi_visits *visits = rerun->visits;

    for (size_t i = 0; i < visits->rank_count; i++) {
        rerun->host_traced_ps[i] = INT64_MIN;
    }
    for (size_t i = 0; i < visits->step_count; i++) {
        iw_time *at_ps = &rerun->host_traced_ps[visits->steps[i].rank];

        *at_ps = *at_ps == INT64_MIN ? visits->steps[i].begin_ps : iwi_min(*at_ps, visits->steps[i].begin_ps);
    }
    for (size_t i = 0; i < visits->rank_count; i++) {
        rerun->host_ps[i] = rerun->host_traced_ps[i];
    }
}

iw_status iwi_rerun_run(struct iwi_rerun *rerun, const bool *is_left_out, iw_time *steps_ps)
{
    struct iwi_cuts cuts;
    const iw_status status = iwi_cuts_new(rerun, is_left_out, &cuts);

    if (status == IW_OK) {
        for (size_t i = 0; i < rerun->visits->encounter_count; i++) {
            rerun->met_ps[i] = INT64_MIN;
        }
        for (size_t i = 0; i < rerun->lane_count; i++) {
            rerun->lanes[i].last_ended = IWI_RERUN_NONE;
        }
        begin_hosts(rerun);
        walk(rerun, &cuts);
        if (steps_ps != NULL) {
            measure_steps(rerun, steps_ps);
        }
    }
    iwi_cuts_release(&cuts);
    return status;
}

size_t iwi_rerun_step_count(const struct iwi_rerun *rerun)
{
    return rerun->step_count;
}

uint32_t iwi_rerun_step_number(const struct iwi_rerun *rerun, size_t step)
{
    return rerun->step_numbers[step];
}

void iwi_rerun_visit(const struct iwi_rerun *rerun, size_t index, iw_time *enter_ps_p, iw_time *leave_ps_p)
{
    *enter_ps_p = rerun->start_ps[index];
    *leave_ps_p = rerun->end_ps[index];
}

void iwi_rerun_stretch(const struct iwi_rerun *rerun, size_t index, iw_time *begin_ps_p, iw_time *end_ps_p)
{
    iwi_rerun_visit(rerun, rerun->visits->visit_count + index, begin_ps_p, end_ps_p);
}

bool iwi_rerun_waits_for_launch(const struct iwi_rerun *rerun, size_t stretch)
{
    return rerun->activities[rerun->visits->visit_count + stretch].bind == IWI_BIND_LAUNCH;
}

bool iwi_rerun_waits_for_stream(const struct iwi_rerun *rerun, size_t visit)
{
    return rerun->activities[visit].bind == IWI_BIND_PREVIOUS;
}
