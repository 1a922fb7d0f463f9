/* Iterations of a run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

/* ---- steps of the trace ---- */

IWI_COMPARE(compare_steps, struct iwi_visit_step, IWI_RISING(rank), IWI_RISING(begin_ps))

/* All ranks have the same ones, and at least two. Sorted. */
static bool are_common(const struct iwi_waited_run *run, const struct iwi_visit_step *steps)
{
    const size_t count = run->visits->step_count / run->rank_count;

    if (count < 2 || count * run->rank_count != run->visits->step_count) {
        return false;
    }
    for (size_t i = 0; i < run->visits->step_count; i++) {
        if (steps[i].rank != i / count || steps[i].number != steps[i % count].number) {
            return false;
        }
    }
    return true;
}

static iw_status take_borders(struct iwi_waited_run *run, const struct iwi_visit_step *steps)
{
    struct iwi_iterations *iterations = &run->iterations;
    const size_t count = run->visits->step_count / run->rank_count;

    iterations->begin_ps =
        iwi_new_array(run->log, (count + 1) * run->rank_count, sizeof *iterations->begin_ps);
    if (iterations->begin_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct iwi_visit_step *own = &steps[r * count];

        for (size_t i = 0; i < count; i++) {
            iterations->begin_ps[r * (count + 1) + i] = own[i].begin_ps;
        }
        iterations->begin_ps[r * (count + 1) + count] =
            iwi_max(own[count - 1].end_ps, own[count - 1].begin_ps);
    }
    iterations->count = count;
    (void)snprintf(iterations->what, sizeof iterations->what, "steps");
    return IW_OK;
}

static iw_status iterate_by_steps(struct iwi_waited_run *run)
{
    struct iwi_visit_step *steps = iwi_new_array(run->log, run->visits->step_count, sizeof *steps);
    iw_status status = IW_OK;

    if (steps == NULL) {
        return IW_ERR_NOMEM;
    }
    if (run->visits->step_count > 0) {
        memcpy(steps, run->visits->steps, run->visits->step_count * sizeof *steps);
        iwi_sort(steps, run->visits->step_count, compare_steps);
        status = are_common(run, steps) ? take_borders(run, steps) : IW_OK;
    }
    free(steps);
    return status;
}

/* ---- from collective to collective ---- */

/* What most ranks do together, and of that the most often. */
struct beat {
    uint32_t group, ranks;
    uint8_t op;
    size_t count;
};

static struct beat find_beat(const struct iwi_visits *visits)
{
    struct beat best = {.count = 0};
    size_t first = 0;

    while (first < visits->encounter_count) {
        const struct iwi_visit *visit = &visits->visits[visits->encounters[first].first];
        size_t count[IWI_VISIT_OPS] = {0};
        uint32_t ranks = 0;
        size_t i = first;

        for (; i < visits->encounter_count; i++) {
            const struct iwi_encounter *encounter = &visits->encounters[i];

            if (visits->visits[encounter->first].group != visit->group) {
                break;
            }
            if (iwi_is_met(visits, encounter)) {
                count[visits->visits[encounter->first].op]++;
                ranks = encounter->count > ranks ? encounter->count : ranks;
            }
        }
        for (unsigned op = 0; op < IWI_VISIT_OPS; op++) {
            if (count[op] > 1 && (ranks > best.ranks || (ranks == best.ranks && count[op] > best.count))) {
                best = (struct beat){visit->group, ranks, (uint8_t)op, count[op]};
            }
        }
        first = i;
    }
    return best;
}

static iw_status iterate_by_beat(struct iwi_waited_run *run)
{
    const struct iwi_visits *visits = run->visits;
    const struct beat beat = find_beat(visits);
    struct iwi_iterations *iterations = &run->iterations;
    size_t count = 0;

    if (beat.count < 3) {
        return IW_OK;
    }
    iterations->begin_ps = iwi_new_array(run->log, beat.count, sizeof *iterations->begin_ps);
    if (iterations->begin_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_visit *visit = &visits->visits[visits->encounters[i].first];

        if (visit->group == beat.group && visit->op == beat.op && visits->encounters[i].count > 1) {
            iterations->begin_ps[count++] = iwi_encounter_start_ps(visits, &visits->encounters[i]);
        }
    }
    iwi_sort(iterations->begin_ps, count, iwi_compare_i64);
    iterations->count = count - 1;
    iterations->is_shared = true;
    (void)snprintf(iterations->what, sizeof iterations->what, "from %s to %s of %.32s",
                   iwi_visit_op_name(beat.op), iwi_visit_op_name(beat.op), visits->groups[beat.group].name);
    return IW_OK;
}

const iw_time *iwi_iteration_borders(const struct iwi_waited_run *run, uint32_t rank)
{
    return &run->iterations.begin_ps[run->iterations.is_shared ? 0 : rank * (run->iterations.count + 1)];
}

size_t iwi_iteration_at(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps)
{
    const iw_time *borders = iwi_iteration_borders(run, rank);
    size_t at;

    IWI_FIRST_NOT(at, 1, run->iterations.count, borders[at] <= at_ps);
    return at - 1;
}

iw_status iwi_waited_iterate(struct iwi_waited_run *run)
{
    IW_TRY(iterate_by_steps(run));
    if (run->iterations.count == 0) {
        IW_TRY(iterate_by_beat(run));
    }
    return IW_OK;
}
