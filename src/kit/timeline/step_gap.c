/* Which computations begin a step: a border in the sorted times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/timeline/step_gap.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"

/* By how many times computations on both sides of a border differ at least. */
static const double CLEAR_RATIO = 3.0, CLEAR_EVEN_RATIO = 1.5;

IWI_COMPARE(compare, struct iwi_gap, IWI_RISING(time_ps))

struct border {
    double ratio;
    iw_time time_ps;
};

static void improve(struct border *best, double ratio, iw_time time_ps)
{
    if (ratio > best->ratio) {
        *best = (struct border){ratio, time_ps};
    }
}

/* Of sorted times. A few delays, however long, are no steps: there are at least two a rank. */
static iw_time choose(const struct iwi_gap *gaps, size_t count, uint32_t ranks, uint32_t *steps_of_rank)
{
    struct border any = {CLEAR_RATIO, gaps[0].time_ps}, even = {CLEAR_EVEN_RATIO, 0};
    double total_ps = 0.0, above_ps = 0.0;
    uint32_t most = 0;

    for (size_t i = 0; i < count; i++) {
        total_ps += (double)gaps[i].time_ps;
    }
    for (size_t i = count; i-- > 1;) {
        const uint32_t steps = ++steps_of_rank[gaps[i].rank];
        const double ratio = (double)gaps[i].time_ps / (double)gaps[i - 1].time_ps;

        most = steps > most ? steps : most;
        above_ps += (double)gaps[i].time_ps;
        if (count - i < 2 * (size_t)ranks || above_ps < total_ps / 2) {
            continue;
        }
        improve(&any, ratio, gaps[i].time_ps);
        if (ranks > 1 && count - i == (size_t)most * ranks) {
            improve(&even, ratio, gaps[i].time_ps);
        }
    }
    return even.time_ps > 0 ? even.time_ps : any.time_ps;
}

iw_status iwi_step_gap(const iw_log *log, struct iwi_gap *gaps, size_t count, uint32_t ranks,
                       iw_time *gap_ps_p)
{
    uint32_t *steps_of_rank;

    if (count == 0) {
        *gap_ps_p = 0;
        return IW_OK;
    }
    steps_of_rank = iwi_new_array(log, ranks, sizeof *steps_of_rank);
    if (steps_of_rank == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sort(gaps, count, compare);
    *gap_ps_p = choose(gaps, count, ranks, steps_of_rank);
    free(steps_of_rank);
    return IW_OK;
}
