/* Where waves begin: delays that were injected, or in traces one rank that computes far longer than usual.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "features/wave/wave_view.h"

enum { SMALL_PART = 2 }; /* less than half */

struct origins {
    struct iwi_wave_origin *list;
    size_t count, capacity;
};

/* Longest first, then in the order of steps and ranks. */
static int compare(const void *a, const void *b)
{
    const struct iwi_wave_origin *x = a, *y = b;

    if (x->delay_ps != y->delay_ps) {
        return x->delay_ps < y->delay_ps ? 1 : -1;
    }
    if (x->step != y->step) {
        return x->step > y->step ? 1 : -1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Computation that is long on half of the ranks is the program's and delays nobody against the others. */
static bool is_common(const struct iwi_wave_view *view, uint64_t number, iw_time delay_ps)
{
    uint32_t known = 0, as_long = 0;

    for (uint32_t i = 0; i < view->rank_count; i++) {
        const iw_step *step = iwi_rank_step(&view->rank[i], number);

        if (step != NULL) {
            known++;
            as_long += iwi_step_delay(view, step) >= delay_ps / 2;
        }
    }
    return as_long > 1 && as_long * UINT64_C(2) >= known;
}

/* Delays in successive steps of a rank are one. In traces, where any long computation may be a delay, only if
 * neither is small beside the other. */
static bool belongs_to(const struct iwi_wave_view *view, iw_time delay_ps,
                       const struct iwi_wave_origin *before)
{
    return !view->is_traced ||
           (delay_ps >= before->delay_ps / SMALL_PART && before->delay_ps >= delay_ps / SMALL_PART);
}

static iw_status add_rank(const iw_log *log, const struct iwi_wave_view *view, uint32_t index,
                          struct origins *origins)
{
    const struct iwi_wave_rank *rank = &view->rank[index];
    bool is_going_on = false;

    for (size_t k = 0; k < rank->count; k++) {
        const iw_time delay_ps = iwi_step_delay(view, &rank->steps[k]);

        if (delay_ps < view->least_delay_ps ||
            (view->is_traced && is_common(view, rank->first + k, delay_ps))) {
            is_going_on = false;
            continue;
        }
        if (is_going_on && belongs_to(view, delay_ps, &origins->list[origins->count - 1])) {
            origins->list[origins->count - 1].delay_ps += delay_ps;
            origins->list[origins->count - 1].step_count++;
            continue;
        }
        IW_TRY(iwi_grow(log, (void **)&origins->list, &origins->capacity, origins->count + 1,
                        sizeof *origins->list));
        origins->list[origins->count++] = (struct iwi_wave_origin){
            iw_timeline_exact_rank(view->timeline, index), rank->first + k, 1, delay_ps};
        is_going_on = true;
    }
    return IW_OK;
}

iw_status iwi_wave_origins(const iw_log *log, const struct iwi_wave_view *view,
                           struct iwi_wave_origin **origins_p, size_t *count_p)
{
    struct origins origins = {NULL, 0, 0};
    iw_status status = IW_OK;

    for (uint32_t i = 0; i < view->rank_count && status == IW_OK; i++) {
        status = add_rank(log, view, i, &origins);
    }
    if (status != IW_OK) {
        free(origins.list);
        return status;
    }
    if (origins.count > 0) {
        qsort(origins.list, origins.count, sizeof *origins.list, compare);
    }
    *origins_p = origins.list;
    *count_p = origins.count;
    return IW_OK;
}
