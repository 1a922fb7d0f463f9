/* What is ordinary ahead of waves: they run through steps in which nobody was late yet.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Other steps may differ: behind an eager wave, and behind the open end of a chain that sends one way, ranks
 * come later than their messages and wait for nothing. So the period is that of the steps on ranks that waves
 * come to, before they do, if there are enough of them. In quiet runs, where few steps tell it, ordinary
 * waiting too.
 */
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/stats/select.h"
#include "features/wave/wave_view.h"

enum {
    LEAST_AHEAD = 16,    /* steps for a period */
    LEAST_OWN_AHEAD = 3, /* for a median of the rank's own */
};

static void touch(const struct iwi_wave_view *view, uint32_t number, uint64_t step)
{
    struct iwi_wave_rank *rank = iwi_view_rank(view, number);

    rank->touched = step < rank->touched ? step : rank->touched;
}

void iwi_wave_touch(const struct iwi_wave_view *view, const iw_waves *waves)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        view->rank[i].touched = UINT64_MAX;
    }
    for (size_t i = 0; i < waves->wave_count; i++) {
        const iw_wave *wave = &waves->waves[i];

        touch(view, wave->origin_rank, wave->origin_step);
        for (size_t k = 0; k < wave->front_count; k++) {
            touch(view, wave->fronts[k].rank, wave->fronts[k].step);
        }
    }
}

/* Lengths and waiting of a rank's ordinary steps before its first wave; returns how many. */
static size_t collect_ahead(const struct iwi_wave_view *view, const struct iwi_wave_rank *rank,
                            double *lengths, double *waits)
{
    size_t count = 0;

    for (size_t k = 0; k < rank->count && rank->touched != UINT64_MAX && rank->first + k < rank->touched;
         k++) {
        const iw_step *step = &rank->steps[k];

        if (iwi_step_is_ordinary(view, rank, step)) {
            lengths[count] = (double)(iw_step_end(step) - step->begin_ps);
            waits[count++] = (double)step->state_ps[IW_STATE_WAIT];
        }
    }
    return count;
}

/* The rank's own median, or that of all. */
static void refine_waits(struct iwi_wave_view *view, double *lengths, double *waits, double all_ps)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        struct iwi_wave_rank *rank = &view->rank[i];
        const size_t count = collect_ahead(view, rank, lengths, waits);

        if (count >= LEAST_OWN_AHEAD) {
            rank->ordinary_ps = (iw_time)iwi_select_quantile(waits, count, 0.5);
        } else if (rank->touched != UINT64_MAX) {
            rank->ordinary_ps = (iw_time)all_ps;
        }
    }
}

iw_status iwi_wave_refine(const iw_log *log, const iw_waves *waves, struct iwi_wave_view *view)
{
    double *lengths = iwi_new_array(log, view->step_count, sizeof *lengths);
    double *waits = iwi_new_array(log, view->step_count, sizeof *waits);
    size_t count = 0;

    if (lengths != NULL && waits != NULL) {
        iwi_wave_touch(view, waves);
        for (uint32_t i = 0; i < view->rank_count; i++) {
            count += collect_ahead(view, &view->rank[i], &lengths[count], &waits[count]);
        }
        if (count >= LEAST_AHEAD) {
            view->period_ps = iwi_period_of(lengths, count);
        }
        if (count >= LEAST_AHEAD && view->is_quiet) {
            refine_waits(view, lengths, waits, iwi_select_quantile(waits, count, 0.5));
        }
    }
    free(waits);
    free(lengths);
    return lengths != NULL && waits != NULL ? IW_OK : IW_ERR_NOMEM;
}
