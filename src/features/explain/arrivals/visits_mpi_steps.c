/* Steps of traced MPI programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/arrivals/visits_mpi.h"
#include "kit/files/trace/trace_steps.h"

struct taking {
    struct iwi_visits *visits;
    size_t *count; /* of each rank */
    iw_status status;
};

static void take_step(void *arg, uint32_t rank, const iw_step *step)
{
    struct taking *taking = arg;
    const struct iwi_visit_step taken = {.rank = rank,
                                         .number = (uint32_t)taking->count[rank]++,
                                         .begin_ps = step->begin_ps,
                                         .end_ps = iw_step_end(step)};

    if (taking->status == IW_OK) {
        taking->status = iwi_visits_add_step(taking->visits, &taken);
    }
}

static bool is_even(const size_t *count, uint32_t ranks)
{
    for (uint32_t r = 1; r < ranks; r++) {
        if (count[r] != count[0]) {
            return false;
        }
    }
    return true;
}

/* Of the steps of a rank, in order: the one that an instant lies in. */
static uint32_t step_at(const struct iwi_visit_step *steps, size_t count, iw_time at_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, count, steps[at].begin_ps <= at_ps);
    return steps[at - 1].number;
}

/* The steps of each rank lie one behind another, `count` of them. */
static void place(struct iwi_visits *visits, size_t count, const size_t *first)
{
    for (size_t i = 0; i < visits->visit_count; i++) {
        struct iwi_visit *visit = &visits->visits[i];

        visit->step = step_at(&visits->steps[first[visit->rank]], count, visit->enter_ps);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        struct iwi_stretch *stretch = &visits->stretches[i];

        stretch->step = step_at(&visits->steps[first[stretch->rank]], count, stretch->begin_ps);
    }
}

static iw_status take_steps(const iw_log *log, const struct iw_trace *trace, struct taking *taking)
{
    const iw_step_sink sink = {take_step, taking};
    iw_time gap_ps;

    IW_TRY(iwi_trace_step_gap(log, trace, &gap_ps));
    iwi_trace_steps(trace, gap_ps, &sink);
    return taking->status;
}

iw_status iwi_visits_steps_of_trace(const iw_log *log, const struct iw_trace *trace,
                                    struct iwi_visits *visits)
{
    struct taking taking = {.visits = visits};
    iw_status status;

    taking.count = iwi_new_array(log, trace->rank_count, sizeof *taking.count);
    if (taking.count == NULL) {
        return IW_ERR_NOMEM;
    }
    status = take_steps(log, trace, &taking);
    if (status == IW_OK && !is_even(taking.count, trace->rank_count)) {
        visits->step_count = 0;
    }
    if (status == IW_OK && visits->step_count > 0) {
        const size_t count = taking.count[0];

        for (uint32_t r = 0; r < trace->rank_count; r++) { /* told rank by rank */
            taking.count[r] = r * count;
        }
        place(visits, count, taking.count);
    }
    free(taking.count);
    return status;
}
