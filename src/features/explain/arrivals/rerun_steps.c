/* The steps of a run: as the file has them, or the time between two collectives of as many ranks as meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/arrivals/rerun_parts.h"

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

iw_status iwi_rerun_find_steps(struct iwi_rerun *rerun)
{
    number_steps(rerun);
    return rerun->step_count > 0 ? IW_OK : make_steps(rerun);
}
