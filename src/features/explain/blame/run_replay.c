/* Runs the traced run again, without what some sources took.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With ' for times of the replay:
 *
 *     enter'(k) = leave'(k-1) + gap(k) - lost in the gap
 *     start'(k) = max(enter'(k), enter'(d) of all d that k waits for)
 *     leave'(k) = start'(k) + rest(k) - lost in the rest - min(lost in the rest of a d, excess of the rest)
 *
 * A large message also needs the other end to be in calls and to have a CPU: what that end lost during the
 * rest counts as what is lost in the rest of a d.
 *
 * With nothing removed each time is that of the run, to the nanosecond. Losses while waiting cost nothing.
 */
#include <stdlib.h>

#include "features/explain/blame/run.h"

#define UNKNOWN INT64_MIN

struct replay {
    const struct iwi_blamed_run *run;
    const bool *is_removed;
    int64_t *enter_ns; /* UNKNOWN: not yet there */
    int64_t *leave_ns; /* of each rank, of its last call */
    uint64_t *next;    /* of each rank */
};

/* Removed from the gap and from the rest of a call. */
static void sum_losses(const struct replay *r, uint64_t call, int64_t *gap_ns_p, int64_t *rest_ns_p)
{
    const struct iwi_blamed_run *run = r->run;

    *gap_ns_p = *rest_ns_p = 0;
    for (uint64_t i = run->first_loss[call]; i < run->first_loss[call + 1]; i++) {
        if (r->is_removed[run->losses[i].source]) {
            *gap_ns_p += run->losses[i].gap_ns;
            *rest_ns_p += run->losses[i].rest_ns;
        }
    }
}

int64_t iwi_run_excess_ns(const struct iwi_blamed_run *run, uint64_t call, int64_t own_ns)
{
    return iwi_max(0,
                   run->leave_ns[call] - run->start_ns[call] - own_ns - run->usual_rest_ns[run->alike[call]]);
}

/* The latest enter of what a call waits for; false: one of them is not there yet. `other_ns_p`: the most that
 * one of them lost in the rest of its call. */
static bool latest(const struct replay *r, uint64_t dep, int64_t *enter_ns_p, int64_t *other_ns_p)
{
    const struct iwi_blamed_run *run = r->run;
    const bool is_group = (dep & IWI_RUN_IS_GROUP) != 0;
    const struct iwi_run_group *group = is_group ? &run->groups[dep & ~IWI_RUN_IS_GROUP] : NULL;
    const uint64_t count = is_group ? group->count : 1;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t call = is_group ? run->members[group->first + i] : dep;
        int64_t gap_ns, rest_ns;

        if (r->enter_ns[call] == UNKNOWN) {
            return false;
        }
        *enter_ns_p = iwi_max(*enter_ns_p, r->enter_ns[call]);
        sum_losses(r, call, &gap_ns, &rest_ns);
        *other_ns_p = iwi_max(*other_ns_p, rest_ns);
    }
    return true;
}

/* The most that one who has to move the messages of a call on lost during its rest. */
static int64_t lost_by_helpers(const struct replay *r, uint64_t call)
{
    const struct iwi_blamed_run *run = r->run;
    int64_t most_ns = 0;

    for (uint64_t i = run->first_helper[call]; i < run->first_helper[call + 1]; i++) {
        const uint32_t rank = run->helpers[i];
        const size_t end = (size_t)run->first_loss[run->first[rank + 1]];
        int64_t sum_ns = 0, during_ns;

        for (size_t k = iwi_run_loss_after(run, rank, run->start_ns[call]);
             k < end && (during_ns = iwi_run_loss_during(run, &run->losses[k], call)) > 0; k++) {
            sum_ns += r->is_removed[run->losses[k].source] ? during_ns : 0;
        }
        most_ns = iwi_max(most_ns, sum_ns);
    }
    return most_ns;
}

/* The next call of a rank; false: it has to wait for others, unless it `may_skip` that. */
static bool step(struct replay *r, uint32_t rank, bool may_skip)
{
    const struct iwi_blamed_run *run = r->run;
    const uint64_t call = r->next[rank];
    int64_t gap_ns, rest_ns, start_ns, other_ns = 0;

    sum_losses(r, call, &gap_ns, &rest_ns);
    if (r->enter_ns[call] == UNKNOWN) {
        r->enter_ns[call] = r->leave_ns[rank] + run->enter_ns[call] - iwi_run_before_ns(run, call) - gap_ns;
    }
    start_ns = r->enter_ns[call];
    for (uint64_t i = run->first_dep[call]; i < run->first_dep[call + 1]; i++) {
        if (!latest(r, run->deps[i], &start_ns, &other_ns) && !may_skip) {
            return false;
        }
    }
    other_ns = iwi_max(other_ns, lost_by_helpers(r, call));
    other_ns = iwi_min(iwi_max(other_ns - rest_ns, 0), iwi_run_excess_ns(run, call, rest_ns));
    r->leave_ns[rank] = start_ns + run->leave_ns[call] - run->start_ns[call] - rest_ns - other_ns;
    r->next[rank]++;
    return true;
}

/* A trace whose calls wait for each other in a circle, as clocks that disagree can make it, goes on all the
 * same. */
static void run_all(struct replay *r)
{
    const struct iwi_blamed_run *run = r->run;
    bool is_done = false, may_skip = false;

    while (!is_done) {
        bool has_moved = false;

        is_done = true;
        for (uint32_t rank = 0; rank < run->trace->rank_count; rank++) {
            while (r->next[rank] < run->first[rank + 1] && step(r, rank, may_skip)) {
                has_moved = true;
                may_skip = false;
            }
            is_done = is_done && r->next[rank] == run->first[rank + 1];
        }
        may_skip = !has_moved;
    }
}

iw_status iwi_run_replay(const struct iwi_blamed_run *run, const bool *is_removed, int64_t *end_ns_p)
{
    const uint32_t ranks = run->trace->rank_count;
    struct replay r = {.run = run,
                       .is_removed = is_removed,
                       .enter_ns = iwi_new_array(run->log, iwi_run_calls(run), sizeof *r.enter_ns),
                       .leave_ns = iwi_new_array(run->log, ranks, sizeof *r.leave_ns),
                       .next = iwi_new_array(run->log, ranks, sizeof *r.next)};
    const bool has_room = r.enter_ns != NULL && r.leave_ns != NULL && r.next != NULL;

    if (has_room) {
        for (uint64_t i = 0; i < iwi_run_calls(run); i++) {
            r.enter_ns[i] = UNKNOWN;
        }
        for (uint32_t rank = 0; rank < ranks; rank++) {
            r.leave_ns[rank] = run->begin_ns[rank];
            r.next[rank] = run->first[rank];
        }
        run_all(&r);
        *end_ns_p = INT64_MIN;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            *end_ns_p = iwi_max(*end_ns_p, r.leave_ns[rank]);
        }
    }
    free(r.enter_ns);
    free(r.leave_ns);
    free(r.next);
    return has_room ? IW_OK : IW_ERR_NOMEM;
}
