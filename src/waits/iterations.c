/* Iterations of a run, and the blocks that it is judged by.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "waits/waited_run.h"

enum { MOST_BLOCKS = 40, LEAST_BLOCKS = 10, ENCOUNTERS_OF_BLOCK = 10, LEAST_COLLECTIVES = 20 };

static int compare_times(const void *left, const void *right)
{
    const iw_time a = *(const iw_time *)left, b = *(const iw_time *)right;

    return (a > b) - (a < b);
}

/* ---- steps of the trace ---- */

static int compare_steps(const void *left, const void *right)
{
    const struct iwi_visit_step *a = left, *b = right;

    return a->rank != b->rank ? (a->rank > b->rank ? 1 : -1)
                              : (a->begin_ps > b->begin_ps) - (a->begin_ps < b->begin_ps);
}

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
        qsort(steps, run->visits->step_count, sizeof *steps, compare_steps);
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
    qsort(iterations->begin_ps, count, sizeof *iterations->begin_ps, compare_times);
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
    size_t low = 0, high = run->iterations.count;

    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;

        if (borders[middle] <= at_ps) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- blocks ---- */

static size_t list_starts(const struct iwi_visits *visits, bool wants_messages, iw_time *starts)
{
    size_t count = 0;

    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        if (wants_messages ? encounter->count > 1 : iwi_is_met(visits, encounter)) {
            starts[count++] = iwi_encounter_start_ps(visits, encounter);
        }
    }
    return count;
}

/* What lasts for some encounters should lie in one block: ten of them in each, unless there are few. */
static uint32_t choose_blocks(size_t encounters)
{
    size_t count = encounters / ENCOUNTERS_OF_BLOCK;

    count = count > MOST_BLOCKS ? MOST_BLOCKS : count < LEAST_BLOCKS ? LEAST_BLOCKS : count;
    return (uint32_t)(count < encounters ? count : encounters);
}

static iw_status make_blocks(struct iwi_waited_run *run)
{
    iw_time *starts = iwi_new_array(run->log, run->visits->encounter_count, sizeof *starts);
    size_t count;

    run->block_end_ps = iwi_new_array(run->log, MOST_BLOCKS, sizeof *run->block_end_ps);
    if (starts == NULL || run->block_end_ps == NULL) {
        free(starts);
        return IW_ERR_NOMEM;
    }
    count = list_starts(run->visits, false, starts);
    if (count < LEAST_COLLECTIVES) {
        count = list_starts(run->visits, true, starts);
    }
    if (count > 0) {
        qsort(starts, count, sizeof *starts, compare_times);
    }
    run->block_count = choose_blocks(count);
    for (uint32_t b = 0; b < run->block_count; b++) {
        run->block_end_ps[b] = starts[(b + 1) * count / run->block_count - 1];
    }
    if (run->block_count > 0) { /* what comes behind the last collective belongs to the last block */
        run->block_end_ps[run->block_count - 1] = INT64_MAX;
    }
    free(starts);
    return IW_OK;
}

iw_status iwi_waited_iterate(struct iwi_waited_run *run)
{
    IW_TRY(iterate_by_steps(run));
    if (run->iterations.count == 0) {
        IW_TRY(iterate_by_beat(run));
    }
    return make_blocks(run);
}
