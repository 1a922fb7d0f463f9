/* Who made the others wait in a run: the public functions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/change_points.h"
#include "features/explain/arrivals/rerun.h"
#include "features/explain/waits/waited_run.h"

/* ---- facts beside the waits ---- */

enum { MOST_CHANGES = 16, MOST_TIMES = 4096 };

/* Changes of iteration times: how often a run without any has one, and the least that is worth telling. */
static const double CHANGE_ERROR_RATE = 0.01, LEAST_CHANGE = 0.01;

static double ns(double ps)
{
    return ps / IW_PS_PER_NS;
}

/* ---- arrivals ---- */

/* Arrivals at collectives against the median rank's, of each rank one behind another. */
struct arrivals {
    double *late; /* by visit, then sorted into ranks */
    size_t *first, *next;
    double *scratch;
};

static void add_encounter(const struct iwi_waited_run *run, const struct iwi_encounter *encounter,
                          iw_waits_rank *by_index, struct arrivals *arrivals)
{
    const struct iwi_visit *visits = &run->visits->visits[encounter->first];
    double middle;

    for (uint32_t i = 0; i < encounter->count; i++) {
        arrivals->scratch[i] = (double)visits[i].enter_ps;
    }
    /* of two in the middle the earlier one: of two ranks, it is the other that is late */
    middle = iwi_select(arrivals->scratch, encounter->count, (encounter->count - 1) / 2);
    for (uint32_t i = 0; i < encounter->count; i++) {
        const uint32_t r = visits[i].rank;

        arrivals->late[arrivals->next[r]++] = (double)visits[i].enter_ps - middle;
        by_index[r].met++;
    }
    by_index[run->visits->visits[encounter->last].rank].last++;
}

static void take_arrivals(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index,
                          struct arrivals *arrivals)
{
    const struct iwi_visits *visits = run->visits;

    for (size_t i = 0; i < visits->visit_count; i++) {
        arrivals->first[visits->visits[i].rank + 1]++;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        arrivals->first[r + 1] += arrivals->first[r];
        arrivals->next[r] = arrivals->first[r];
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        waits->messages += encounter->count > 1 && !iwi_is_met(visits, encounter);
        if (iwi_is_met(visits, encounter)) {
            waits->collectives++;
            add_encounter(run, encounter, by_index, arrivals);
        }
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const size_t count = arrivals->next[r] - arrivals->first[r];

        by_index[r].usual_late_ns =
            count > 0 ? ns(iwi_select(&arrivals->late[arrivals->first[r]], count, count / 2)) : NAN;
    }
}

/* met, last, usual_late_ns of ranks, by index; collectives, messages. */
static iw_status waited_arrivals(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index)
{
    const size_t ranks = (size_t)run->rank_count + 1;
    struct arrivals arrivals = {.late =
                                    iwi_new_array(run->log, run->visits->visit_count, sizeof *arrivals.late),
                                .first = iwi_new_array(run->log, ranks, sizeof *arrivals.first),
                                .next = iwi_new_array(run->log, ranks, sizeof *arrivals.next),
                                .scratch = iwi_new_array(run->log, ranks, sizeof *arrivals.scratch)};
    iw_status status = IW_ERR_NOMEM;

    if (arrivals.late != NULL && arrivals.first != NULL && arrivals.next != NULL &&
        arrivals.scratch != NULL) {
        take_arrivals(run, waits, by_index, &arrivals);
        status = IW_OK;
    }
    free(arrivals.late);
    free(arrivals.first);
    free(arrivals.next);
    free(arrivals.scratch);
    return status;
}

/* ---- clocks ---- */

static bool ends_together(uint8_t op)
{
    return op == IWI_VISIT_ALLREDUCE || op == IWI_VISIT_BARRIER;
}

/* All have to come, but one may have its part before another. */
static bool ends_apart(uint8_t op)
{
    return op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_REDUCE_SCATTER || op == IWI_VISIT_ALLTOALL;
}

static size_t list_spreads(const struct iwi_waited_run *run, bool (*is_taken)(uint8_t op), double *spreads)
{
    const struct iwi_visits *visits = run->visits;
    size_t count = 0;

    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *visit = &visits->visits[encounter->first];
        iw_time least_ps = INT64_MAX, most_ps = INT64_MIN;
        bool is_blocking = is_taken(visit->op);

        for (uint32_t k = 0; k < encounter->count; k++) {
            least_ps = iwi_min(least_ps, visit[k].leave_ps);
            most_ps = iwi_max(most_ps, visit[k].leave_ps);
            is_blocking = is_blocking && visit[k].ahead_ps == 0;
        }
        if (is_blocking && encounter->count > 1) {
            spreads[count++] = (double)(most_ps - least_ps);
        }
    }
    return count;
}

/* Ranks leave a collective that needs all of them at about the same time: by how much their ends differ, in
 * the median, is a bound of what clocks (and transfers) are apart. */
static iw_status waited_clock(const struct iwi_waited_run *run, iw_waits *waits)
{
    double *spreads = iwi_new_array(run->log, run->visits->encounter_count, sizeof *spreads);
    size_t count;

    if (spreads == NULL) {
        return IW_ERR_NOMEM;
    }
    count = list_spreads(run, ends_together, spreads);
    count = count > 0 ? count : list_spreads(run, ends_apart, spreads);
    waits->clock_ns = count > 0 ? ns(iwi_select(spreads, count, count / 2)) : NAN;
    free(spreads);
    return IW_OK;
}

/* ---- iterations ---- */

static double iteration_ns(const struct iwi_waited_run *run, size_t i)
{
    const uint32_t ranks = run->iterations.is_shared ? 1 : run->rank_count;
    double sum = 0.0;

    for (uint32_t r = 0; r < ranks; r++) {
        const iw_time *borders = iwi_iteration_borders(run, r);

        sum += (double)(borders[i + 1] - borders[i]);
    }
    return ns(sum) / ranks;
}

static double median_of(const double *values, size_t count, double *scratch)
{
    memcpy(scratch, values, count * sizeof *values);
    return iwi_select(scratch, count, count / 2);
}

/* Of iterations from `from` to the next change, and back to the one before. */
static iw_status find_changes(const struct iwi_waited_run *run, const double *times, double *scratch,
                              iw_waits *waits)
{
    const size_t count = run->iterations.count;
    struct iwi_level_change found[MOST_CHANGES];
    size_t found_count, kept = 0;

    waits->changes = iwi_new_array(run->log, MOST_CHANGES, sizeof *waits->changes);
    if (waits->changes == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_find_changes(run->log, times, count, CHANGE_ERROR_RATE, found, MOST_CHANGES, &found_count));
    for (size_t i = 0; i < found_count; i++) {
        const size_t before = i > 0 ? found[i - 1].at : 0, at = found[i].at;
        const size_t after = i + 1 < found_count ? found[i + 1].at : count;
        const iw_waits_change change = {at, median_of(times + before, at - before, scratch),
                                        median_of(times + at, after - at, scratch), found[i].chance};

        if (fabs(change.after_ns - change.before_ns) >= LEAST_CHANGE * change.before_ns) {
            waits->changes[kept++] = change;
        }
    }
    waits->change_count = kept;
    return IW_OK;
}

static iw_status keep_times(const struct iwi_waited_run *run, const double *times, iw_waits *waits)
{
    const size_t count = run->iterations.count;
    const size_t per = (count + MOST_TIMES - 1) / MOST_TIMES;

    waits->iterations_per_time = per;
    waits->time_count = (count + per - 1) / per;
    waits->times_ns = iwi_new_array(run->log, waits->time_count, sizeof *waits->times_ns);
    if (waits->times_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < waits->time_count; i++) {
        const size_t end = (i + 1) * per < count ? (i + 1) * per : count;
        double sum = 0.0;

        for (size_t k = i * per; k < end; k++) {
            sum += times[k];
        }
        waits->times_ns[i] = sum / (double)(end - i * per);
    }
    return IW_OK;
}

/* iterations */
static iw_status waited_times(const struct iwi_waited_run *run, iw_waits *waits)
{
    const size_t count = run->iterations.count;
    double *times = iwi_new_array(run->log, count, sizeof *times);
    double *scratch = iwi_new_array(run->log, count, sizeof *scratch);
    iw_status status = times != NULL && scratch != NULL ? IW_OK : IW_ERR_NOMEM;

    waits->iterations = count;
    waits->iteration_ns = NAN;
    (void)snprintf(waits->iterated, sizeof waits->iterated, "%s", run->iterations.what);
    if (status == IW_OK && count > 0) {
        for (size_t i = 0; i < count; i++) {
            times[i] = iteration_ns(run, i);
        }
        waits->iteration_ns = median_of(times, count, scratch);
        status = find_changes(run, times, scratch, waits);
        status = status == IW_OK ? keep_times(run, times, waits) : status;
    }
    free(times);
    free(scratch);
    return status;
}

/* ---- what pauses cost ---- */

static const char *cause_name(uint8_t cause)
{
    return cause == IWI_PAUSE_CAUSES ? "all pauses" : iwi_pause_cause_name(cause);
}

static void describe_cost(const struct iwi_visits *visits, const struct iwi_pause_cost *from,
                          iw_waits_cost *to)
{
    *to = (iw_waits_cost){.ranks = from->ranks,
                          .pauses = from->pauses,
                          .paused_ns = from->paused_ns,
                          .saved_ns = from->saved_ns,
                          .share = from->share};
    (void)snprintf(to->cause, sizeof to->cause, "%s", cause_name(from->cause));
    if (from->node[0] != '\0') {
        (void)snprintf(to->where, sizeof to->where, "node %.*s", (int)sizeof to->where - 6, from->node);
    } else if (from->rank != IWI_PAUSE_EVERYWHERE) {
        (void)snprintf(to->where, sizeof to->where, "rank %" PRIu32, visits->ranks[from->rank].number);
    } else {
        (void)snprintf(to->where, sizeof to->where, "everywhere");
    }
}

/* "ranks 3, 17 and others": those of the rows that follow, as many as fit. */
static void name_culprits(const struct iwi_visits *visits, const struct iwi_pause_costs *costs, size_t whole,
                          iw_waits_cost *to)
{
    const size_t room = sizeof to->culprits - sizeof ", 4294967295 and others";
    size_t size = 0, count = 0;

    for (size_t i = whole + 1; i < costs->count && costs->of[i].cause == costs->of[whole].cause; i++) {
        if (costs->of[i].rank == IWI_PAUSE_EVERYWHERE) {
            continue;
        }
        if (size > room) {
            (void)snprintf(to->culprits + size, sizeof to->culprits - size, " and others");
            return;
        }
        size += (size_t)snprintf(to->culprits + size, sizeof to->culprits - size, "%s%" PRIu32,
                                 count++ > 0 ? ", " : "ranks ", visits->ranks[costs->of[i].rank].number);
    }
    if (count == 1) { /* "rank 3" */
        memmove(to->culprits + 4, to->culprits + 5, size - 4);
    }
}

/* What pauses cost. */
static iw_status waited_costs(const struct iwi_waited_run *run, iw_waits *waits)
{
    struct iwi_pause_costs costs;
    iw_status status = IW_OK;

    IW_TRY(iwi_pause_costs_find(run->visits, &costs));
    waits->costs = iwi_new_array(run->log, costs.count, sizeof *waits->costs);
    if (waits->costs == NULL) {
        status = IW_ERR_NOMEM;
    } else {
        waits->cost_count = costs.count;
        waits->steps = costs.step_count;
        waits->step_ns = costs.step_ns;
        for (size_t i = 0; i < costs.count; i++) {
            describe_cost(run->visits, &costs.of[i], &waits->costs[i]);
            if (strcmp(waits->costs[i].where, "everywhere") == 0) {
                name_culprits(run->visits, &costs, i, &waits->costs[i]);
            }
        }
    }
    iwi_pause_costs_release(&costs);
    return status;
}

/* ---- the public functions ---- */

static void waited_release(struct iwi_waited_run *run)
{
    free(run->awaited);
    free(run->segments);
    free(run->first_segment);
    free(run->iterations.begin_ps);
    free(run->block_end_ps);
    free(run->caused);
    free(run->busy_in_block);
    free(run->caused_in_iteration);
    free(run->waited_in_iteration);
    free(run->pauses);
    free(run->reach_ps);
    free(run->first_pause);
}

/* ---- ranks ---- */

static void add_times(const struct iwi_waited_run *run, uint32_t r, iw_waits_rank *rank, iw_waits *waits)
{
    double sum[IWI_DOINGS] = {0.0};

    for (size_t i = run->first_segment[r]; i < run->first_segment[r + 1]; i++) {
        const struct iwi_segment *segment = &run->segments[i];

        sum[segment->doing] += ns((double)(segment->end_ps - segment->begin_ps));
    }
    rank->computing_ns = sum[IWI_DOES_COMPUTE];
    rank->waiting_ns = sum[IWI_DOES_WAIT];
    rank->transfer_ns = sum[IWI_DOES_TRANSFER];
    rank->other_ns = sum[IWI_DOES_OTHER];
    rank->caused_ns = ns(run->caused[r]);
    waits->computing_ns += rank->computing_ns;
    waits->waiting_ns += rank->waiting_ns;
    waits->transfer_ns += rank->transfer_ns;
    waits->other_ns += rank->other_ns;
}

static void describe_ranks(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct iwi_visit_rank *from = &run->visits->ranks[r];

        by_index[r].rank = from->number;
        by_index[r].stage = from->stage == IWI_VISIT_NO_STAGE ? -1 : (int32_t)from->stage;
        (void)snprintf(by_index[r].node, sizeof by_index[r].node, "%s", from->node);
        add_times(run, r, &by_index[r], waits);
    }
}

/* ---- all of it ---- */

/* Those that are named by how much longer they were busy, then the others by what they caused. */
static int compare_ranks(const void *left, const void *right)
{
    const iw_waits_rank *a = left, *b = right;
    const bool is_named = a->pattern != IW_WAITS_ORDINARY;

    if (is_named != (b->pattern != IW_WAITS_ORDINARY)) {
        return is_named ? -1 : 1;
    }
    if (is_named && a->longer_ns != b->longer_ns) {
        return a->longer_ns < b->longer_ns ? 1 : -1;
    }
    return a->caused_ns != b->caused_ns ? (a->caused_ns < b->caused_ns ? 1 : -1)
                                        : (a->rank > b->rank) - (a->rank < b->rank);
}

static iw_status find_waits(struct iwi_waited_run *run, iw_waits *waits)
{
    IW_TRY(iwi_waited_await(run));
    IW_TRY(iwi_waited_segment(run));
    IW_TRY(iwi_waited_iterate(run));
    IW_TRY(iwi_waited_block(run));
    IW_TRY(iwi_waited_blame(run));
    waits->run_ns = ns((double)(run->end_ps - run->begin_ps));
    return IW_OK;
}

static void describe(const struct iwi_waited_run *run, iw_waits *waits)
{
    const struct iwi_visits *visits = run->visits;
    const uint32_t run_ranks = iwi_visits_least_ranks(visits);

    (void)snprintf(waits->origin, sizeof waits->origin, "%s", visits->origin);
    waits->rank_count = run->rank_count;
    waits->run_ranks = run_ranks > run->rank_count ? run_ranks : 0;
    iw_caveats_of_ranks(waits->name, run->rank_count, run_ranks > 0 ? run_ranks : run->rank_count,
                        &waits->caveats);
    waits->unmatched = visits->unmatched;
    waits->through_transfer_ns = ns(run->through_transfer_ps);
    for (size_t i = 0; i < visits->visit_count; i++) {
        waits->unordered += run->awaited[i].is_unordered;
    }
}

static iw_status answer(const struct iwi_waited_run *run, iw_waits *waits)
{
    waits->ranks = iwi_new_array(run->log, run->rank_count, sizeof *waits->ranks);
    if (waits->ranks == NULL) {
        return IW_ERR_NOMEM;
    }
    waits->ranks_count = run->rank_count;
    describe(run, waits);
    describe_ranks(run, waits, waits->ranks);
    IW_TRY(waited_arrivals(run, waits, waits->ranks));
    IW_TRY(waited_clock(run, waits));
    IW_TRY(iwi_waited_judge(run, waits, waits->ranks));
    IW_TRY(waited_times(run, waits));
    IW_TRY(iwi_waited_parts(run, waits->ranks, waits));
    IW_TRY(iwi_waited_map(run, waits));
    IW_TRY(waited_costs(run, waits));
    if (waits->collectives + waits->messages == 0) {
        IW_TRY(iwi_waited_bounds(run, waits));
    }
    iwi_sort(waits->ranks, waits->ranks_count, compare_ranks);
    return IW_OK;
}

static iw_status check(const iw_log *log, const char *name, const iw_visits *visits)
{
    return visits->visit_count == 0 || visits->rank_count == 0
               ? iwi_fail(log, IW_ERR_UNSUPPORTED,
                          "'%s': no waits to explain, because it has no collectives and no messages", name)
               : IW_OK;
}

iw_status iw_waits_run(const iw_log *log, const char *name, const iw_visits *visits,
                       const iw_waits_opts *opts, iw_waits **waits_p)
{
    struct iwi_waited_run run = {.log = log, .visits = visits, .rank_count = (uint32_t)visits->rank_count};
    iw_waits_opts known = IW_WAITS_OPTS_INIT;
    iw_waits *waits;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WAITS_OPTS_INIT", opts, &known));
    IW_TRY(check(log, name, visits));
    waits = iwi_new_array(log, 1, sizeof *waits);
    if (waits == NULL) {
        return IW_ERR_NOMEM;
    }
    waits->least_share = known.least_share;
    waits->top = known.top;
    waits->name = strdup(name);
    waits->lacks = strdup(visits->lacks);
    status = waits->name != NULL && waits->lacks != NULL ? find_waits(&run, waits)
                                                         : iwi_fail(log, IW_ERR_NOMEM, "out of memory");
    status = status == IW_OK ? answer(&run, waits) : status;
    waited_release(&run);
    if (status != IW_OK) {
        iw_waits_free(waits);
        return status;
    }
    *waits_p = waits;
    return IW_OK;
}

void iw_waits_free(iw_waits *waits)
{
    if (waits == NULL) {
        return;
    }
    for (size_t i = 0; waits->map != NULL && i < waits->row_count; i++) {
        free(waits->map[i].waiting);
        free(waits->map[i].caused);
    }
    free(waits->name);
    free(waits->lacks);
    free(waits->ranks);
    free(waits->nodes);
    free(waits->stages);
    free(waits->groups);
    free(waits->ops);
    free(waits->causes);
    free(waits->costs);
    free(waits->changes);
    free(waits->times_ns);
    free(waits->map);
    free(waits);
}
