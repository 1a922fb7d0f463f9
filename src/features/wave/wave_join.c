/* Steps that are too small to be ones become part of the step before.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated traces compute between any two calls: a step of the program is several steps of the timeline, and
 * a wave that goes one rank a step seems to need many. So steps are joined by the rule by which a trace
 * itself is cut into steps. Their numbers are counted anew, from the first step of the run on; of timelines
 * without that one, whose ranks may begin with different ones, they stay as they are.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "features/wave/wave_view.h"
#include "kit/timeline/step_gap.h"

static iw_status find_gap(const iw_log *log, const struct iwi_wave_view *view, iw_time *shortest_ps_p,
                          iw_time *gap_ps_p)
{
    struct iwi_gap *gaps = iwi_new_array(log, view->step_count, sizeof *gaps);
    size_t count = 0;
    iw_status status;

    if (gaps == NULL) {
        return IW_ERR_NOMEM;
    }
    *shortest_ps_p = INT64_MAX;
    for (uint32_t i = 0; i < view->rank_count; i++) {
        for (size_t k = 0; k < view->rank[i].count; k++) {
            const iw_time time_ps = view->rank[i].steps[k].state_ps[IW_STATE_COMPUTE];

            if (time_ps > 0) {
                gaps[count++] = (struct iwi_gap){time_ps, i};
                *shortest_ps_p = iwi_min(*shortest_ps_p, time_ps);
            }
        }
    }
    status = iwi_step_gap(log, gaps, count, view->rank_count, gap_ps_p);
    free(gaps);
    return status;
}

static bool has_all_beginnings(const struct iwi_wave_view *view)
{
    for (uint32_t i = 0; i < view->rank_count; i++) {
        if (view->rank[i].first > 0) {
            return false;
        }
    }
    return true;
}

/* Returns how many are left. What comes before the first large step is one of its own. */
static size_t join_rank(const struct iwi_wave_rank *rank, iw_time gap_ps, iw_step *joined)
{
    size_t count = 0;

    for (size_t k = 0; k < rank->count; k++) {
        const iw_step *step = &rank->steps[k];

        if (k == 0 || step->state_ps[IW_STATE_COMPUTE] >= gap_ps) {
            joined[count++] = *step;
            continue;
        }
        for (int state = 0; state < IW_STATES; state++) {
            joined[count - 1].state_ps[state] += step->state_ps[state];
        }
    }
    return count;
}

iw_status iwi_wave_join(const iw_log *log, struct iwi_wave_view *view)
{
    iw_time shortest_ps, gap_ps;
    size_t at = 0;

    if (view->is_traced || !has_all_beginnings(view)) {
        return IW_OK;
    }
    IW_TRY(find_gap(log, view, &shortest_ps, &gap_ps));
    if (gap_ps == 0 || gap_ps <= shortest_ps) {
        return IW_OK;
    }
    view->joined = iwi_new_array(log, view->step_count, sizeof *view->joined);
    if (view->joined == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < view->rank_count; i++) {
        struct iwi_wave_rank *rank = &view->rank[i];

        rank->count = join_rank(rank, gap_ps, &view->joined[at]);
        rank->steps = &view->joined[at];
        at += rank->count;
    }
    view->step_count = at;
    view->joined_below_ps = gap_ps;
    return IW_OK;
}
