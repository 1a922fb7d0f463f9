/* Facts of a run beside its waits: who came last how often, how far clocks can be trusted, iteration times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/numeric/numeric.h"
#include "core/stats/change_points.h"
#include "features/explain/waits/waited_run.h"

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

iw_status iwi_waited_arrivals(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index)
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
iw_status iwi_waited_clock(const struct iwi_waited_run *run, iw_waits *waits)
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

iw_status iwi_waited_times(const struct iwi_waited_run *run, iw_waits *waits)
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
