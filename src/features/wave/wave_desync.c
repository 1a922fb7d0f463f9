/* How far apart the ranks are, step by step.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/wave_view.h"

/* Sums over the begins of one step; times are taken from the first rank's. */
struct begins {
    uint32_t count;
    iw_time base_ps, first_ps, last_ps;
    double sum, squares, cosine, sine;
};

static void add_begin(struct begins *begins, iw_time begin_ps, iw_time period_ps)
{
    double offset, angle;

    if (begins->count++ == 0) {
        begins->base_ps = begins->first_ps = begins->last_ps = begin_ps;
    }
    offset = (double)(begin_ps - begins->base_ps);
    angle = period_ps > 0
                ? 2.0 * M_PI * (double)((begin_ps - begins->base_ps) % period_ps) / (double)period_ps
                : 0.0;
    begins->first_ps = iwi_min(begins->first_ps, begin_ps);
    begins->last_ps = iwi_max(begins->last_ps, begin_ps);
    begins->sum += offset;
    begins->squares += offset * offset;
    begins->cosine += cos(angle);
    begins->sine += sin(angle);
}

/* To 1e-12, and at most 1: the last digits of sines differ between processors and C libraries. */
static double round_order(double order)
{
    return fmin(round(order * 1e12) / 1e12, 1.0);
}

static iw_desync desync_of(const struct begins *begins, uint64_t step)
{
    const double count = begins->count, mean = begins->sum / count;

    return (iw_desync){.step = step,
                       .spread_ps = begins->last_ps - begins->first_ps,
                       .deviation_ps = (iw_time)sqrt(fmax(begins->squares / count - mean * mean, 0.0)),
                       .order = round_order(hypot(begins->cosine, begins->sine) / count)};
}

/* Numbers of the first and one past the last step of any rank. */
static void step_range(const struct iwi_wave_view *view, uint64_t *first_p, uint64_t *end_p)
{
    *first_p = UINT64_MAX;
    *end_p = 0;
    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];

        if (rank->count > 0) {
            *first_p = rank->first < *first_p ? rank->first : *first_p;
            *end_p = rank->first + rank->count > *end_p ? rank->first + rank->count : *end_p;
        }
    }
}

/* Steps that fewer than half of the ranks have, at the edges of a window of time, say nothing. Numbers that
 * are as far apart as no rank has steps are those of a broken file. */
iw_status iwi_wave_desync(const iw_log *log, const struct iwi_wave_view *view, iw_waves *waves)
{
    uint64_t first, end;
    struct begins *begins;

    step_range(view, &first, &end);
    if (end <= first || end - first > view->step_count) {
        return IW_OK;
    }
    begins = iwi_new_array(log, end - first, sizeof *begins);
    waves->desync = iwi_new_array(log, end - first, sizeof *waves->desync);
    if (begins == NULL || waves->desync == NULL) {
        free(begins);
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < view->rank_count; i++) {
        const struct iwi_wave_rank *rank = &view->rank[i];

        for (size_t k = 0; k < rank->count; k++) {
            add_begin(&begins[rank->first + k - first], rank->steps[k].begin_ps, view->period_ps);
        }
    }
    for (uint64_t step = first; step < end; step++) {
        if (begins[step - first].count * UINT64_C(2) >= view->rank_count && begins[step - first].count > 0) {
            waves->desync[waves->desync_count++] = desync_of(&begins[step - first], step);
        }
    }
    free(begins);
    return IW_OK;
}
