/* The activities of a run by lane, its steps, all that happens in the order of the trace, and the time that
 * is left out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/arrivals/rerun.h"

static int order_times(iw_time left, iw_time right)
{
    return (left > right) - (left < right);
}

IWI_COMPARE(compare_lanes, struct iwi_rerun_lane, IWI_RISING(rank), IWI_RISING(stream))

IWI_COMPARE(compare_events, struct iwi_rerun_event, order_times(left->at_ps, right->at_ps), IWI_RISING(kind),
            IWI_RISING(index))

/* ---- activities ---- */

static struct iwi_activity activity_of(uint32_t rank, uint32_t step, iw_time start_ps, iw_time end_ps,
                                       iw_time queued_ps)
{
    return (struct iwi_activity){.rank = rank,
                                 .step = step,
                                 .encounter = IWI_RERUN_NONE,
                                 .previous = IWI_RERUN_NONE,
                                 .other = IWI_RERUN_NONE,
                                 .root = IWI_RERUN_NONE,
                                 .went_on = IWI_RERUN_NONE,
                                 .together = IWI_RERUN_NONE,
                                 .ready = {.activity = IWI_RERUN_NONE},
                                 .is_launched = queued_ps > 0,
                                 .start_ps = start_ps,
                                 .end_ps = iwi_max(start_ps, end_ps),
                                 .needed_ps = iwi_max(start_ps, end_ps - IWI_RERUN_OVERLAP_PS),
                                 .launched_ps = start_ps - queued_ps};
}

/* The visit of the root, if it was traced and came before `visit` left. */
static uint32_t find_root(const struct iwi_visits *visits, const struct iwi_encounter *encounter,
                          const struct iwi_visit *visit)
{
    size_t at;

    if (!visit->has_root || visit->root == visit->rank) {
        return IWI_RERUN_NONE;
    }
    IWI_FIRST_NOT(at, encounter->first, encounter->first + encounter->count,
                  visits->visits[at].rank < visit->root);
    return at < encounter->first + encounter->count && visits->visits[at].rank == visit->root &&
                   visits->visits[at].enter_ps < visit->leave_ps
               ? (uint32_t)at
               : IWI_RERUN_NONE;
}

/* A visit ends after all have come whom it waited for, and after it began to wait. */
static iw_time visit_needed_ps(const struct iwi_activity *visit, iw_time last_ps)
{
    const iw_time waited_ps = iwi_max(last_ps, visit->start_ps + visit->ahead_ps);

    return waited_ps < visit->end_ps ? iwi_max(visit->needed_ps, waited_ps + 1) : visit->end_ps;
}

static void list_encounter(struct iwi_rerun *rerun, size_t index)
{
    const struct iwi_visits *visits = rerun->visits;
    const struct iwi_encounter *encounter = &visits->encounters[index];
    const iw_time last_ps = iwi_encounter_start_ps(visits, encounter);

    for (uint64_t v = encounter->first; v < encounter->first + encounter->count; v++) {
        rerun->activities[v].encounter = (uint32_t)index;
        rerun->activities[v].root = find_root(visits, encounter, &visits->visits[v]);
        rerun->activities[v].needed_ps = visit_needed_ps(&rerun->activities[v], last_ps);
    }
}

static void list_activities(struct iwi_rerun *rerun)
{
    const struct iwi_visits *visits = rerun->visits;

    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        rerun->activities[i] =
            activity_of(visit->rank, visit->step, visit->enter_ps, visit->leave_ps, visit->queued_ps);
        rerun->activities[i].ready_ps = visit->ready_ps;
        rerun->activities[i].ahead_ps = visit->ahead_ps;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        list_encounter(rerun, i);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        const struct iwi_stretch *stretch = &visits->stretches[i];

        rerun->activities[visits->visit_count + i] =
            activity_of(stretch->rank, stretch->step, stretch->begin_ps, stretch->end_ps, stretch->queued_ps);
    }
}

/* ---- lanes ---- */

static uint16_t stream_of(const struct iwi_visits *visits, size_t activity)
{
    return activity < visits->visit_count ? visits->visits[activity].stream
                                          : visits->stretches[activity - visits->visit_count].stream;
}

/* One lane for each activity, sorted; then each only once. */
static void unite_lanes(struct iwi_rerun *rerun)
{
    size_t kept = 0;

    iwi_sort(rerun->lanes, rerun->lane_count, compare_lanes);
    for (size_t i = 0; i < rerun->lane_count; i++) {
        if (kept > 0 && compare_lanes(&rerun->lanes[kept - 1], &rerun->lanes[i]) == 0) {
            rerun->lanes[kept - 1].computes |= rerun->lanes[i].computes;
        } else {
            rerun->lanes[kept++] = rerun->lanes[i];
        }
    }
    rerun->lane_count = kept;
    for (size_t i = 0; i < kept; i++) {
        rerun->first_lane[rerun->lanes[i].rank + 1] = (uint32_t)i + 1;
    }
    for (size_t rank = 0; rank < rerun->visits->rank_count; rank++) {
        rerun->first_lane[rank + 1] = rerun->first_lane[rank + 1] > rerun->first_lane[rank]
                                          ? rerun->first_lane[rank + 1]
                                          : rerun->first_lane[rank];
    }
}

static uint32_t find_lane(const struct iwi_rerun *rerun, uint32_t rank, uint16_t stream)
{
    uint32_t lane = rerun->first_lane[rank];

    while (rerun->lanes[lane].stream != stream) {
        lane++;
    }
    return lane;
}

static void make_lanes(struct iwi_rerun *rerun)
{
    const struct iwi_visits *visits = rerun->visits;

    rerun->lane_count = rerun->activity_count;
    for (size_t i = 0; i < rerun->activity_count; i++) {
        rerun->lanes[i] = (struct iwi_rerun_lane){.rank = rerun->activities[i].rank,
                                                  .stream = stream_of(visits, i),
                                                  .computes = i >= visits->visit_count,
                                                  .last_begun = IWI_RERUN_NONE,
                                                  .last_ended = IWI_RERUN_NONE};
    }
    unite_lanes(rerun);
    for (size_t i = 0; i < rerun->activity_count; i++) {
        struct iwi_activity *activity = &rerun->activities[i];

        activity->lane = find_lane(rerun, activity->rank, stream_of(visits, i));
        rerun->has_launches[activity->rank] |= activity->is_launched;
    }
}

/* ---- events ---- */

static void add_event(struct iwi_rerun *rerun, iw_time at_ps, size_t index, enum iwi_rerun_event_kind kind)
{
    rerun->events[rerun->event_count++] =
        (struct iwi_rerun_event){.at_ps = at_ps, .index = (uint32_t)index, .kind = (uint8_t)kind};
}

static void list_events(struct iwi_rerun *rerun)
{
    for (size_t i = 0; i < rerun->activity_count; i++) {
        const struct iwi_activity *activity = &rerun->activities[i];

        add_event(rerun, activity->start_ps, i, IWI_EVENT_START);
        add_event(rerun, activity->needed_ps, i,
                  activity->needed_ps > activity->start_ps ? IWI_EVENT_END : IWI_EVENT_EMPTY_END);
        if (activity->is_launched) {
            add_event(rerun, activity->launched_ps, i, IWI_EVENT_LAUNCH);
        }
        rerun->first_ps = i == 0 ? activity->start_ps : iwi_min(rerun->first_ps, activity->start_ps);
    }
    for (size_t i = 0; i < rerun->visits->step_count; i++) {
        rerun->first_ps = iwi_min(rerun->first_ps, rerun->visits->steps[i].begin_ps);
    }
    for (size_t i = 0; i < rerun->visits->host_wait_count; i++) {
        add_event(rerun, rerun->visits->host_waits[i].end_ps, i, IWI_EVENT_WAIT);
    }
    iwi_sort(rerun->events, rerun->event_count, compare_events);
}

/* ---- steps: as the file has them, or the time between two collectives of as many ranks as meet ---- */

static size_t find_step(const struct iwi_rerun *rerun, uint32_t number)
{
    const uint32_t *found = iwi_find(&number, rerun->step_numbers, rerun->step_count, iwi_compare_u32);

    return (size_t)(found - rerun->step_numbers);
}

/* Numbers of steps become their indices. */
static void number_steps(struct iwi_rerun *rerun)
{
    size_t count = 0;

    for (size_t i = 0; i < rerun->activity_count; i++) {
        const uint32_t step = rerun->activities[i].step;

        if (step != IWI_VISIT_NO_STEP && (count == 0 || rerun->step_numbers[count - 1] != step)) {
            rerun->step_numbers[count++] = step;
        }
    }
    iwi_sort(rerun->step_numbers, count, iwi_compare_u32);
    for (size_t i = 0; i < count; i++) {
        if (rerun->step_count == 0 || rerun->step_numbers[rerun->step_count - 1] != rerun->step_numbers[i]) {
            rerun->step_numbers[rerun->step_count++] = rerun->step_numbers[i];
        }
    }
    for (size_t i = 0; i < rerun->activity_count; i++) {
        struct iwi_activity *activity = &rerun->activities[i];

        activity->step =
            activity->step == IWI_VISIT_NO_STEP ? IWI_RERUN_NONE : (uint32_t)find_step(rerun, activity->step);
    }
}

/* ---- where the file has none ---- */

/* Of each rank the group with the most traced members, if as many as the largest of all has; of several the
 * one that was made first. */
static void find_groups(const struct iwi_rerun *rerun, uint32_t *group_of)
{
    const struct iwi_visits *visits = rerun->visits;
    uint32_t most = 2;

    for (size_t i = 0; i < visits->visit_count; i++) {
        const uint32_t count = visits->groups[visits->visits[i].group].count;

        most = count > most ? count : most;
    }
    for (size_t i = 0; i < visits->rank_count; i++) {
        group_of[i] = IWI_RERUN_NONE;
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        if (visits->groups[visit->group].count == most && visit->op != IWI_VISIT_MESSAGE &&
            visit->group < group_of[visit->rank]) {
            group_of[visit->rank] = visit->group;
        }
    }
}

struct mark {
    iw_time at_ps;
    uint32_t activity;
};

IWI_COMPARE(compare_marks, struct mark, IWI_RISING(at_ps), IWI_RISING(activity))

/* The n-th collective of its group that a rank comes to ends its n-th step. */
static iw_status make_steps(struct iwi_rerun *rerun)
{
    const struct iwi_visits *visits = rerun->visits;
    uint32_t *group_of = iwi_new_array(visits->log, visits->rank_count, sizeof *group_of);
    uint32_t *step_of = iwi_new_array(visits->log, visits->rank_count, sizeof *step_of);
    struct mark *marks = iwi_new_array(visits->log, rerun->activity_count, sizeof *marks);
    const iw_status status = group_of != NULL && step_of != NULL && marks != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        find_groups(rerun, group_of);
        for (uint32_t i = 0; i < rerun->activity_count; i++) {
            marks[i] = (struct mark){rerun->activities[i].start_ps, i};
        }
        iwi_sort(marks, rerun->activity_count, compare_marks);
        for (size_t i = 0; i < rerun->activity_count; i++) {
            struct iwi_activity *activity = &rerun->activities[marks[i].activity];

            activity->step = step_of[activity->rank];
            step_of[activity->rank] += activity->encounter != IWI_RERUN_NONE &&
                                       visits->visits[marks[i].activity].op != IWI_VISIT_MESSAGE &&
                                       visits->visits[marks[i].activity].group == group_of[activity->rank];
        }
        number_steps(rerun);
    }
    free(group_of);
    free(step_of);
    free(marks);
    return status;
}

static iw_status find_steps(struct iwi_rerun *rerun)
{
    number_steps(rerun);
    return rerun->step_count > 0 ? IW_OK : make_steps(rerun);
}

/* ---- all of it ---- */

iw_status iwi_rerun_order(struct iwi_rerun *rerun)
{
    const struct iwi_visits *visits = rerun->visits;
    const size_t count = visits->visit_count + visits->stretch_count;

    if (count >= UINT32_MAX || visits->host_wait_count >= UINT32_MAX) {
        return iwi_fail(visits->log, IW_ERR_RANGE, "more than 2^32 activities in one run");
    }
    rerun->activity_count = count;
    rerun->activities = iwi_new_array(visits->log, count, sizeof rerun->activities[0]);
    rerun->lanes = iwi_new_array(visits->log, count, sizeof rerun->lanes[0]);
    rerun->events = iwi_new_array(visits->log, 3 * count + visits->host_wait_count, sizeof rerun->events[0]);
    rerun->step_numbers = iwi_new_array(visits->log, count, sizeof rerun->step_numbers[0]);
    rerun->first_lane = iwi_new_array(visits->log, visits->rank_count + 1, sizeof rerun->first_lane[0]);
    rerun->has_launches = iwi_new_array(visits->log, visits->rank_count, sizeof rerun->has_launches[0]);
    if (rerun->activities == NULL || rerun->lanes == NULL || rerun->events == NULL ||
        rerun->step_numbers == NULL || rerun->first_lane == NULL || rerun->has_launches == NULL) {
        return IW_ERR_NOMEM;
    }
    list_activities(rerun);
    make_lanes(rerun);
    IW_TRY(find_steps(rerun));
    list_events(rerun);
    return IW_OK;
}

/* ---- which time a run leaves out, of hosts, of computation, of gaps ---- */

struct interval {
    uint32_t rank;
    iw_time begin_ps, end_ps;
};

struct intervals {
    struct interval *of;
    size_t count, capacity;
};

IWI_COMPARE(compare_intervals, struct interval, IWI_RISING(rank), IWI_RISING(begin_ps))

static iw_status add(const iw_log *log, struct intervals *to, uint32_t rank, iw_time begin_ps, iw_time end_ps)
{
    if (end_ps <= begin_ps) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&to->of, &to->capacity, to->count + 1, sizeof to->of[0]));
    to->of[to->count++] = (struct interval){rank, begin_ps, end_ps};
    return IW_OK;
}

/* Sorts, and joins what overlaps. */
static void unite(struct intervals *intervals)
{
    size_t kept = 0;

    if (intervals->count == 0) {
        return;
    }
    iwi_sort(intervals->of, intervals->count, compare_intervals);
    for (size_t i = 1; i < intervals->count; i++) {
        struct interval *last = &intervals->of[kept];
        const struct interval *next = &intervals->of[i];

        if (next->rank == last->rank && next->begin_ps <= last->end_ps) {
            last->end_ps = iwi_max(last->end_ps, next->end_ps);
        } else {
            intervals->of[++kept] = *next;
        }
    }
    intervals->count = kept + 1;
}

/* Adds [begin, end] of a rank, but for what `named` (united) has of it. */
static iw_status add_unnamed(const iw_log *log, struct intervals *to, const struct iwi_pause *gap,
                             const struct intervals *named)
{
    iw_time begin_ps = gap->begin_ps;
    const struct interval *of = named->of;
    size_t i;

    IWI_FIRST_NOT(i, 0, named->count,
                  of[i].rank < gap->rank || (of[i].rank == gap->rank && of[i].end_ps <= gap->begin_ps));
    for (; i < named->count && of[i].rank == gap->rank && of[i].begin_ps < gap->end_ps; i++) {
        IW_TRY(add(log, to, gap->rank, begin_ps, of[i].begin_ps));
        begin_ps = of[i].end_ps;
    }
    return add(log, to, gap->rank, begin_ps, gap->end_ps);
}

/* Hosts' pauses that stay: late launches within them are not late by themselves. */
static iw_status list_named(const struct iwi_visits *visits, const bool *is_left_out, struct intervals *named)
{
    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (pause->is_on_host && !is_left_out[i]) {
            IW_TRY(add(visits->log, named, pause->rank, pause->begin_ps, pause->end_ps));
        }
    }
    unite(named);
    return IW_OK;
}

/* A gap of the device; what the host did meanwhile is not known. */
static bool is_late_launch(const struct iwi_pause *pause)
{
    return pause->cause == IWI_PAUSE_LAUNCH && !pause->is_on_host;
}

static bool shortens(const struct iwi_rerun *rerun, const struct iwi_pause *pause, unsigned layer)
{
    const bool has_launches = rerun->has_launches[pause->rank];

    if (is_late_launch(pause)) {
        return layer == IWI_CUT_GAP || (layer == IWI_CUT_HOST && has_launches);
    }
    if (pause->is_on_host && has_launches) {
        return layer == IWI_CUT_HOST;
    }
    return layer != IWI_CUT_HOST;
}

static iw_status list_layer(const struct iwi_rerun *rerun, const bool *is_left_out, unsigned layer,
                            const struct intervals *named, struct intervals *list)
{
    const struct iwi_visits *visits = rerun->visits;

    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (!is_left_out[i] || !shortens(rerun, pause, layer)) {
            continue;
        }
        if (is_late_launch(pause)) {
            IW_TRY(add_unnamed(visits->log, list, pause, named));
        } else {
            IW_TRY(add(visits->log, list, pause->rank, pause->begin_ps, pause->end_ps));
        }
    }
    unite(list);
    return IW_OK;
}

static iw_status make_layer(const struct iwi_visits *visits, const struct intervals *list,
                            struct iwi_cut **of_p, size_t **first_p)
{
    struct iwi_cut *of = *of_p = iwi_new_array(visits->log, list->count, sizeof *of);
    size_t *first = *first_p = iwi_new_array(visits->log, visits->rank_count + 1, sizeof *first);
    iw_time before_ps = 0;

    if (of == NULL || first == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct interval *interval = &list->of[i];

        before_ps = i > 0 && list->of[i - 1].rank == interval->rank ? before_ps : 0;
        of[i] = (struct iwi_cut){interval->begin_ps, interval->end_ps, before_ps};
        before_ps += interval->end_ps - interval->begin_ps;
        first[interval->rank + 1]++;
    }
    for (size_t rank = 0; rank < visits->rank_count; rank++) {
        first[rank + 1] += first[rank];
    }
    return IW_OK;
}

iw_status iwi_cuts_new(const struct iwi_rerun *rerun, const bool *is_left_out, struct iwi_cuts *cuts_p)
{
    struct intervals named = {.of = NULL};
    iw_status status = IW_OK;

    *cuts_p = (struct iwi_cuts){.of = {NULL}};
    if (is_left_out == NULL) {
        return IW_OK;
    }
    status = list_named(rerun->visits, is_left_out, &named);
    for (unsigned layer = 0; layer < IWI_CUT_LAYERS && status == IW_OK; layer++) {
        struct intervals list = {.of = NULL};

        status = list_layer(rerun, is_left_out, layer, &named, &list);
        if (status == IW_OK) {
            status = make_layer(rerun->visits, &list, &cuts_p->of[layer], &cuts_p->first[layer]);
        }
        free(list.of);
    }
    free(named.of);
    return status;
}

void iwi_cuts_release(struct iwi_cuts *cuts)
{
    for (unsigned layer = 0; layer < IWI_CUT_LAYERS; layer++) {
        free(cuts->of[layer]);
        free(cuts->first[layer]);
    }
}

/* What is left out of (-infinity, at]. */
static iw_time cut_before(const struct iwi_cut *of, size_t first, size_t end, iw_time at_ps)
{
    size_t i;

    IWI_FIRST_NOT(i, first, end, of[i].begin_ps < at_ps);
    return i == first ? 0 : of[i - 1].before_ps + iwi_min(at_ps, of[i - 1].end_ps) - of[i - 1].begin_ps;
}

iw_time iwi_cuts_left_ps(const struct iwi_cuts *cuts, uint32_t rank, enum iwi_cut_layer layer,
                         iw_time from_ps, iw_time to_ps)
{
    const size_t *first = cuts->first[layer];

    if (to_ps <= from_ps || first == NULL || first[rank] == first[rank + 1]) {
        return iwi_max(0, to_ps - from_ps);
    }
    return to_ps - from_ps -
           (cut_before(cuts->of[layer], first[rank], first[rank + 1], to_ps) -
            cut_before(cuts->of[layer], first[rank], first[rank + 1], from_ps));
}
