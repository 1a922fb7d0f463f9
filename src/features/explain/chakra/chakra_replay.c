/* Start times of a trace that has none: its nodes again, as soon as what they depend on has ended.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A lane, a thread of the host or a stream of the device, does one node at a time: of those that are ready
 * the first, and its collectives in the order of the file. Whoever meets leaves together, so that each takes
 * as long as it took: leave = the latest of start + duration, enter = leave - duration.
 */
#include <stdlib.h>

#include "core/base/heap.h"
#include "core/base/order.h"
#include "features/explain/chakra/chakra.h"

#define NONE UINT32_MAX

struct act_state {
    uint32_t pending; /* acts that have to end before */
    uint32_t lane;    /* among all */
    uint32_t comm;    /* or NONE */
    uint32_t parked;  /* behind it in the queue of a lane that is held; NONE: the last */
    int64_t ready_us, end_us;
};

struct lane {
    uint32_t parked; /* the first act that waits for it, or NONE */
    bool is_held;    /* by a collective that others have not come to */
    int64_t free_us;
};

/* What follows what. */
struct link {
    uint32_t before, after;
};

struct replay {
    const struct iwi_chakra *all;
    struct iwi_visits *visits;
    struct act_state *states;
    struct lane *lanes;
    struct link *links;
    size_t link_count, link_capacity, lane_count;
    struct ready {
        int64_t at_us;
        uint32_t act;
    } * heap; /* acts that are ready */
    size_t heap_count;
    uint32_t *encounter_of; /* of each comm */
    uint32_t *come;         /* to each encounter */
    size_t done;
};

/* ---- acts that are ready, by time and file ---- */

static bool is_before(const struct ready *a, const struct ready *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->act < b->act;
}

IWI_HEAP(heap, ready, is_before)

static void push(struct replay *r, uint32_t act)
{
    heap_put(r->heap, r->heap_count++, (struct ready){r->states[act].ready_us, act});
}

/* ---- going on ---- */

IWI_COMPARE(compare_links, struct link, IWI_RISING(before))

/* The first link of what comes behind an act. */
static size_t first_link(const struct replay *r, uint32_t act)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, r->link_count, r->links[at].before < act);
    return at;
}

static void end_act(struct replay *r, uint32_t act, int64_t end_us)
{
    struct act_state *state = &r->states[act];
    struct lane *lane = &r->lanes[state->lane];

    state->end_us = lane->free_us = end_us;
    lane->is_held = false;
    r->done++;
    for (uint32_t next = lane->parked; next != NONE; next = r->states[next].parked) {
        push(r, next);
    }
    lane->parked = NONE;
    for (size_t i = first_link(r, act); i < r->link_count && r->links[i].before == act; i++) {
        struct act_state *after = &r->states[r->links[i].after];

        after->ready_us = iwi_max(after->ready_us, end_us);
        if (--after->pending == 0) {
            push(r, r->links[i].after);
        }
    }
}

/* All who meet have come: states have their starts in end_us. */
static void leave(struct replay *r, const struct iwi_encounter *encounter)
{
    int64_t leave_us = 0;

    for (uint32_t k = 0; k < encounter->count; k++) {
        const struct iwi_chakra_comm *comm = &r->all->comms[r->visits->visits[encounter->first + k].enter_ps];

        leave_us = iwi_max(leave_us, r->states[comm->act].end_us + comm->took_us);
    }
    for (uint32_t k = 0; k < encounter->count; k++) {
        end_act(r, (uint32_t)r->all->comms[r->visits->visits[encounter->first + k].enter_ps].act, leave_us);
    }
}

static void start(struct replay *r, uint32_t act)
{
    struct act_state *state = &r->states[act];
    struct lane *lane = &r->lanes[state->lane];
    const int64_t start_us = iwi_max(state->ready_us, lane->free_us);

    if (lane->is_held) {
        state->parked = lane->parked;
        lane->parked = act;
    } else if (state->comm == NONE) {
        end_act(r, act, start_us + r->all->acts[act].took_us);
    } else {
        const uint32_t encounter = r->encounter_of[state->comm];

        lane->is_held = true;
        state->end_us = start_us;
        if (++r->come[encounter] == r->visits->encounters[encounter].count) {
            leave(r, &r->visits->encounters[encounter]);
        }
    }
}

/* ---- what follows what ---- */

IWI_COMPARE(compare_ids, struct iwi_chakra_act, IWI_RISING(id))

static iw_status add_link(struct replay *r, uint32_t before, uint32_t after)
{
    IW_TRY(
        iwi_grow(r->all->log, (void **)&r->links, &r->link_capacity, r->link_count + 1, sizeof r->links[0]));
    r->links[r->link_count++] = (struct link){before, after};
    r->states[after].pending++;
    return IW_OK;
}

/* Acts of a file are acts[first ... end - 1]; by_id is a copy of them in the order of their ids, whose `file`
 * is where they were. */
static iw_status link_file(struct replay *r, size_t first, size_t end, struct iwi_chakra_act *by_id)
{
    const size_t count = end - first;

    for (size_t i = 0; i < count; i++) {
        by_id[i] = r->all->acts[first + i];
        by_id[i].file = (uint32_t)(first + i);
    }
    iwi_sort(by_id, count, compare_ids);
    for (size_t i = first; i < end; i++) {
        const struct iwi_chakra_act *act = &r->all->acts[i];

        for (uint32_t k = 0; k < act->dep_count; k++) {
            const struct iwi_chakra_act key = {.id = r->all->deps[act->first_dep + k]};
            const struct iwi_chakra_act *before = iwi_find(&key, by_id, count, compare_ids);

            if (before != NULL && before->file != i) {
                IW_TRY(add_link(r, before->file, (uint32_t)i));
            }
        }
    }
    return IW_OK;
}

struct seat {
    uint32_t file, lane, act;
};

IWI_COMPARE(compare_seats, struct seat, IWI_RISING(file), IWI_RISING(lane), IWI_RISING(act))

/* Numbers the lanes, and puts the collectives of each in order. */
static iw_status number_lanes(struct replay *r, struct seat *seats)
{
    uint32_t last_comm = NONE;

    for (uint32_t i = 0; i < r->all->act_count; i++) {
        seats[i] = (struct seat){r->all->acts[i].file, r->all->acts[i].lane, i};
    }
    iwi_sort(seats, r->all->act_count, compare_seats);
    for (size_t i = 0; i < r->all->act_count; i++) {
        struct act_state *state = &r->states[seats[i].act];

        if (i == 0 || seats[i].file != seats[i - 1].file || seats[i].lane != seats[i - 1].lane) {
            r->lanes[r->lane_count++] = (struct lane){.parked = NONE};
            last_comm = NONE;
        }
        state->lane = (uint32_t)r->lane_count - 1;
        if (state->comm != NONE) {
            IW_TRY(last_comm != NONE ? add_link(r, last_comm, seats[i].act) : IW_OK);
            last_comm = seats[i].act;
        }
    }
    return IW_OK;
}

static iw_status link_all(struct replay *r)
{
    struct iwi_chakra_act *by_id = iwi_new_array(r->all->log, r->all->act_count, sizeof *by_id);
    struct seat *seats = iwi_new_array(r->all->log, r->all->act_count, sizeof *seats);
    iw_status status = by_id != NULL && seats != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t c = 0; c < r->all->comm_count; c++) {
        r->states[r->all->comms[c].act].comm = (uint32_t)c;
    }
    for (size_t first = 0, end = 0; status == IW_OK && first < r->all->act_count; first = end) {
        while (end < r->all->act_count && r->all->acts[end].file == r->all->acts[first].file) {
            end++;
        }
        status = link_file(r, first, end, by_id);
    }
    if (status == IW_OK) {
        status = number_lanes(r, seats);
    }
    if (status == IW_OK && r->link_count > 0) {
        iwi_sort(r->links, r->link_count, compare_links);
    }
    free(by_id);
    free(seats);
    return status;
}

/* ---- all of it ---- */

static iw_status make(struct replay *r)
{
    const struct iwi_chakra *all = r->all;

    r->states = iwi_new_array(all->log, all->act_count, sizeof *r->states);
    r->lanes = iwi_new_array(all->log, all->act_count, sizeof *r->lanes);
    r->heap = iwi_new_array(all->log, all->act_count, sizeof *r->heap);
    r->encounter_of = iwi_new_array(all->log, all->comm_count, sizeof *r->encounter_of);
    r->come = iwi_new_array(all->log, r->visits->encounter_count, sizeof *r->come);
    if (r->states == NULL || r->lanes == NULL || r->heap == NULL || r->encounter_of == NULL ||
        r->come == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < all->act_count; i++) {
        r->states[i].comm = r->states[i].parked = NONE;
    }
    for (size_t e = 0; e < r->visits->encounter_count; e++) {
        for (uint32_t k = 0; k < r->visits->encounters[e].count; k++) {
            r->encounter_of[r->visits->visits[r->visits->encounters[e].first + k].enter_ps] = (uint32_t)e;
        }
    }
    return link_all(r);
}

static void go(struct replay *r)
{
    for (uint32_t i = 0; i < r->all->act_count; i++) {
        if (r->states[i].pending == 0) {
            push(r, i);
        }
    }
    while (r->heap_count > 0) {
        start(r, heap_take(r->heap, r->heap_count--).act);
    }
}

static void release(struct replay *r)
{
    free(r->states);
    free(r->lanes);
    free(r->links);
    free(r->heap);
    free(r->encounter_of);
    free(r->come);
}

/* No time can be later than all durations together. */
static bool fits(const struct iwi_chakra *all)
{
    double sum_us = 0;

    for (size_t i = 0; i < all->act_count; i++) {
        sum_us += (double)all->acts[i].took_us;
    }
    return sum_us < 1e18 && all->act_count > 0 && all->act_count < NONE;
}

/* When each act ends, by durations and dependences: end_us[acts]. `visits` are finished, and each has the
 * index of its comm for `enter`. Not done: they cannot make progress that way, and end_us has nothing. */
static iw_status chakra_replay(const struct iwi_chakra *all, struct iwi_visits *visits, int64_t *end_us,
                               bool *is_done_p)
{
    struct replay r = {.all = all, .visits = visits};
    iw_status status = IW_OK;

    *is_done_p = false;
    if (fits(all)) {
        status = make(&r);
        if (status == IW_OK) {
            go(&r);
            *is_done_p = r.done == all->act_count;
        }
        for (size_t i = 0; *is_done_p && i < all->act_count; i++) {
            end_us[i] = r.states[i].end_us;
        }
    }
    release(&r);
    return status;
}

/* ---- by durations alone ---- */

/* Encounters by the first of their nodes. */
struct turn {
    uint64_t encounter;
    iw_time first;
};

IWI_COMPARE(compare_turns, struct turn, IWI_RISING(first), IWI_RISING(encounter))

/* All who meet leave together, as soon as the last of them can: enter = leave - duration. False: that is more
 * than 10 days. */
static bool place(struct iwi_visits *visits, const struct iwi_encounter *encounter, iw_time *at)
{
    iw_time leave_ps = 0;

    for (uint32_t k = 0; k < encounter->count; k++) {
        const struct iwi_visit *visit = &visits->visits[encounter->first + k];

        leave_ps = iwi_max(leave_ps, at[visit->rank] + visit->leave_ps); /* leave_ps: its duration so far */
    }
    for (uint32_t k = 0; k < encounter->count; k++) {
        struct iwi_visit *visit = &visits->visits[encounter->first + k];

        visit->enter_ps = leave_ps - visit->leave_ps;
        visit->leave_ps = at[visit->rank] = leave_ps;
    }
    return leave_ps <= IW_TIME_INPUT_MAX;
}

static iw_status place_all(const struct iwi_chakra *all, struct iwi_visits *visits)
{
    struct turn *turns = iwi_new_array(all->log, visits->encounter_count, sizeof *turns);
    iw_time *at = iwi_new_array(all->log, visits->rank_count, sizeof *at);
    iw_status status = turns != NULL && at != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        turns[i] = (struct turn){i, INT64_MAX};
        for (uint32_t k = 0; k < encounter->count; k++) {
            const struct iwi_chakra_comm *comm = &all->comms[visits->visits[encounter->first + k].enter_ps];

            turns[i].first = iwi_min(turns[i].first, (iw_time)comm->number);
        }
    }
    if (status == IW_OK) {
        iwi_sort(turns, visits->encounter_count, compare_turns);
        for (size_t i = 0; status == IW_OK && i < visits->encounter_count; i++) {
            if (!place(visits, &visits->encounters[turns[i].encounter], at)) {
                status = iwi_fail(all->log, IW_ERR_RANGE, "the collectives of a rank take more than 10 days");
            }
        }
    }
    free(turns);
    free(at);
    return status;
}

/* ---- replayed ---- */

/* What was replayed: visits, and what the device computes. */
static iw_status take_replay(struct iwi_chakra *all, struct iwi_visits *visits, const int64_t *end_us)
{
    for (size_t i = 0; i < all->act_count; i++) {
        if (end_us[i] > IW_TIME_INPUT_MAX / IW_PS_PER_US) {
            return iwi_fail(all->log, IW_ERR_RANGE, "the nodes of a rank take more than 10 days");
        }
    }
    for (size_t v = 0; v < visits->visit_count; v++) {
        struct iwi_visit *visit = &visits->visits[v];
        const iw_time took_ps = visit->leave_ps;

        visit->leave_ps = end_us[all->comms[visit->enter_ps].act] * IW_PS_PER_US;
        visit->enter_ps = visit->leave_ps - took_ps;
    }
    for (size_t i = 0; i < all->act_count; i++) {
        const struct iwi_chakra_act *act = &all->acts[i];

        if (i == 0 || act->file != all->acts[i - 1].file) {
            iwi_chakra_merge(all);
            all->first_kernel = all->kernel_count;
        }
        if (act->is_kernel && act->took_us > 0) {
            IW_TRY(iwi_grow(all->log, (void **)&all->kernels, &all->kernel_capacity, all->kernel_count + 1,
                            sizeof all->kernels[0]));
            all->kernels[all->kernel_count++] = (struct iwi_chakra_kernel){
                act->file, (uint16_t)act->lane, end_us[i] - act->took_us, end_us[i]};
        }
    }
    iwi_chakra_merge(all);
    return IW_OK;
}

/* By replay; where that does not go on, by durations alone. */
iw_status iwi_chakra_make_times(struct iwi_chakra *all, struct iwi_visits *visits)
{
    int64_t *end_us = iwi_new_array(all->log, all->act_count, sizeof *end_us);
    bool is_replayed = false;
    iw_status status = end_us != NULL ? chakra_replay(all, visits, end_us, &is_replayed) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = is_replayed ? take_replay(all, visits, end_us) : place_all(all, visits);
    }
    free(end_us);
    IW_TRY(status);
    iwi_visits_note(
        visits, is_replayed
                    ? "Start times are missing and were computed from durations and dependencies, assuming "
                      "that ranks leave each collective together; time without a node is missing."
                    : "Start times are missing, and dependencies contradict each other: ranks are assumed to "
                      "leave each collective together; time between collectives is unknown.");
    return IW_OK;
}

IWI_COMPARE(compare_kernels, struct iwi_chakra_kernel, IWI_RISING(stream), IWI_RISING(begin_us))

/* Kernels of a stream that follow each other within the microsecond to which times are told are one. */
void iwi_chakra_merge(struct iwi_chakra *all)
{
    const size_t count = all->kernel_count - all->first_kernel;
    struct iwi_chakra_kernel *kernels;
    size_t kept = 0;

    if (count == 0) {
        return;
    }
    kernels = all->kernels + all->first_kernel;
    iwi_sort(kernels, count, compare_kernels);
    for (size_t i = 1; i < count; i++) {
        if (kernels[i].stream == kernels[kept].stream && kernels[i].begin_us <= kernels[kept].end_us + 1) {
            kernels[kept].end_us = iwi_max(kernels[kept].end_us, kernels[i].end_us);
        } else {
            kernels[++kept] = kernels[i];
        }
    }
    all->kernel_count = all->first_kernel + kept + 1;
}
