/* Pauses that the trace names, by rank and time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

IWI_COMPARE(compare_pauses, struct iwi_pause, IWI_RISING(rank), IWI_RISING(begin_ps))

iw_status iwi_waited_sort_pauses(struct iwi_waited_run *run)
{
    const size_t count = run->visits->pause_count;

    run->pauses = iwi_new_array(run->log, count, sizeof *run->pauses);
    run->reach_ps = iwi_new_array(run->log, count, sizeof *run->reach_ps);
    run->first_pause = iwi_new_array(run->log, (size_t)run->rank_count + 1, sizeof *run->first_pause);
    if (run->pauses == NULL || run->reach_ps == NULL || run->first_pause == NULL) {
        return IW_ERR_NOMEM;
    }
    if (count > 0) {
        memcpy(run->pauses, run->visits->pauses, count * sizeof *run->pauses);
        iwi_sort(run->pauses, count, compare_pauses);
    }
    for (size_t i = 0; i < count; i++) {
        const bool is_first = i == 0 || run->pauses[i].rank != run->pauses[i - 1].rank;

        run->first_pause[run->pauses[i].rank + 1]++;
        run->reach_ps[i] =
            is_first ? run->pauses[i].end_ps : iwi_max(run->reach_ps[i - 1], run->pauses[i].end_ps);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        run->first_pause[r + 1] += run->first_pause[r];
    }
    return IW_OK;
}

/* The first pause of a rank that may end after an instant. */
static size_t pause_after(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, run->first_pause[rank], run->first_pause[rank + 1], run->reach_ps[at] <= at_ps);
    return at;
}

double iwi_waited_paused(const struct iwi_waited_run *run, uint32_t rank, iw_time from_ps, iw_time end_ps,
                         double paused[IWI_PAUSE_CAUSES])
{
    iw_time at_ps = from_ps; /* pauses may lie in each other: the first that an instant lies in names it */
    double all = 0.0;

    memset(paused, 0, IWI_PAUSE_CAUSES * sizeof *paused);
    for (size_t i = pause_after(run, rank, from_ps); i < run->first_pause[rank + 1]; i++) {
        const struct iwi_pause *pause = &run->pauses[i];
        const iw_time begin_ps = iwi_max(at_ps, pause->begin_ps), to_ps = iwi_min(end_ps, pause->end_ps);

        if (pause->begin_ps >= end_ps) {
            break;
        }
        if (to_ps > begin_ps) {
            paused[pause->cause] += (double)(to_ps - begin_ps);
            all += (double)(to_ps - begin_ps);
            at_ps = to_ps;
        }
    }
    return all;
}
