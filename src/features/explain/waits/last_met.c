/* Finds when two ranks last met.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/waits/last_met.h"

#include <stdlib.h>

#include "core/base/order.h"

enum { MOST_LOOKED_BACK = 4096 };

struct timed {
    uint32_t rank;
    iw_time enter_ps;
    uint64_t visit;
};

IWI_COMPARE(compare_timed, struct timed, IWI_RISING(rank), IWI_RISING(enter_ps), IWI_RISING(visit))

static iw_status order_visits(const iw_log *log, const struct iwi_visits *visits,
                              struct iwi_last_met *meetings)
{
    struct timed *timed = iwi_new_array(log, visits->visit_count, sizeof *timed);

    if (timed == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        for (uint32_t k = 0; k < visits->encounters[i].count; k++) {
            const uint64_t visit = visits->encounters[i].first + k;

            timed[visit] = (struct timed){visits->visits[visit].rank, visits->visits[visit].enter_ps, visit};
            meetings->encounter_of[visit] = (uint32_t)i;
        }
    }
    iwi_sort(timed, visits->visit_count, compare_timed);
    for (size_t i = visits->visit_count; i-- > 0;) {
        meetings->by_time[i] = timed[i].visit;
        meetings->place[timed[i].visit] = i;
        meetings->first_visit[timed[i].rank] = i;
    }
    free(timed);
    return IW_OK;
}

iw_status iwi_last_met_prepare(const iw_log *log, const struct iwi_visits *visits,
                               struct iwi_last_met *meetings)
{
    meetings->by_time = iwi_new_array(log, visits->visit_count, sizeof *meetings->by_time);
    meetings->place = iwi_new_array(log, visits->visit_count, sizeof *meetings->place);
    meetings->first_visit = iwi_new_array(log, visits->rank_count, sizeof *meetings->first_visit);
    meetings->encounter_of = iwi_new_array(log, visits->visit_count, sizeof *meetings->encounter_of);
    return meetings->by_time != NULL && meetings->place != NULL && meetings->first_visit != NULL &&
                   meetings->encounter_of != NULL
               ? order_visits(log, visits, meetings)
               : IW_ERR_NOMEM;
}

void iwi_last_met_release(struct iwi_last_met *meetings)
{
    free(meetings->by_time);
    free(meetings->place);
    free(meetings->first_visit);
    free(meetings->encounter_of);
}

static const struct iwi_visit *visit_in(const struct iwi_visits *visits, uint32_t encounter, uint32_t rank)
{
    const struct iwi_encounter *of = &visits->encounters[encounter];
    size_t at;

    IWI_FIRST_NOT(at, of->first, of->first + of->count, visits->visits[at].rank < rank);
    return at < of->first + of->count && visits->visits[at].rank == rank ? &visits->visits[at] : NULL;
}

iw_time iwi_last_met_at(const struct iwi_visits *visits, const struct iwi_last_met *meetings, uint64_t visit,
                        uint32_t other, iw_time at_ps, iw_time begin_ps)
{
    const uint32_t rank = visits->visits[visit].rank;
    size_t i = meetings->place[visit];

    for (size_t looked = 0; i > meetings->first_visit[rank] && looked < MOST_LOOKED_BACK; looked++) {
        const struct iwi_visit *before = &visits->visits[meetings->by_time[--i]];
        const struct iwi_visit *met = visit_in(visits, meetings->encounter_of[meetings->by_time[i]], other);

        if (met != NULL && before->leave_ps <= at_ps) {
            return iwi_min(before->leave_ps, met->leave_ps);
        }
    }
    return begin_ps;
}
