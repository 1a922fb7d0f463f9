/* Visits and stretches of a run by rank, and what repetitions tell of transfers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/lookup.h"
#include "core/base/order.h"
#include "features/explain/arrivals/visits_trace_parts.h"

struct keyed {
    uint32_t rank;
    iw_time at_ps;
    size_t index;
};

IWI_COMPARE(compare_keyed, struct keyed, IWI_RISING(rank), IWI_RISING(at_ps))

/* Indices by rank and time; first[r + 1] counts those of rank r. Frees `keyed`. */
static iw_status sort_keyed(struct keyed *keyed, size_t count, size_t *order, size_t *first)
{
    if (keyed == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sort(keyed, count, compare_keyed);
    for (size_t i = 0; i < count; i++) {
        order[i] = keyed[i].index;
        first[keyed[i].rank + 1]++;
    }
    free(keyed);
    return IW_OK;
}

static iw_status sort_stretches(struct iwi_call_maker *m)
{
    const struct iwi_visits *visits = m->visits;
    struct keyed *keyed = iwi_new_array(m->log, visits->stretch_count, sizeof keyed[0]);

    for (size_t i = 0; keyed != NULL && i < visits->stretch_count; i++) {
        keyed[i] = (struct keyed){visits->stretches[i].rank, visits->stretches[i].begin_ps, i};
    }
    return sort_keyed(keyed, visits->stretch_count, m->by_rank, m->first_stretch);
}

static iw_status sort_waits(struct iwi_call_maker *m)
{
    const struct iwi_visits *visits = m->visits;
    struct keyed *keyed = iwi_new_array(m->log, visits->host_wait_count, sizeof keyed[0]);

    for (size_t i = 0; keyed != NULL && i < visits->host_wait_count; i++) {
        keyed[i] = (struct keyed){visits->host_waits[i].rank, visits->host_waits[i].begin_ps, i};
    }
    return sort_keyed(keyed, visits->host_wait_count, m->waits_by_rank, m->first_wait);
}

static void sort_visits(struct iwi_call_maker *m)
{
    const struct iwi_visits *visits = m->visits;

    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        for (uint64_t v = encounter->first; v < encounter->first + encounter->count; v++) {
            m->encounter_of[v] = (uint32_t)i;
        }
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        m->first_visit[visits->visits[i].rank + 1]++;
    }
    for (size_t r = 0; r < visits->rank_count; r++) {
        m->first_visit[r + 1] += m->first_visit[r];
        m->first_stretch[r + 1] += m->first_stretch[r];
        m->first_wait[r + 1] += m->first_wait[r];
    }
    for (size_t i = 0; i < visits->visit_count; i++) { /* first_visit[r] is the next place of rank r */
        m->of_rank[m->first_visit[visits->visits[i].rank]++] = (uint32_t)i;
    }
    for (size_t r = visits->rank_count; r > 0; r--) {
        m->first_visit[r] = m->first_visit[r - 1];
    }
    m->first_visit[0] = 0;
}

/* After the last traced one came, of all visits alike (group, operation, size) the shortest: a single one may
 * have waited for somebody who was not traced. */
static iw_status find_transfers(struct iwi_call_maker *m)
{
    const struct iwi_visits *visits = m->visits;
    iw_time *least_ps = iwi_new_array(m->log, visits->visit_count, sizeof least_ps[0]);
    uint32_t *kind = iwi_new_array(m->log, visits->visit_count, sizeof kind[0]);
    struct iwi_index kinds = {.keys = NULL};
    iw_status status = least_ps != NULL && kind != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];
        const iw_time met_ps = iwi_encounter_start_ps(visits, &visits->encounters[m->encounter_of[i]]);
        const iw_time transfer_ps = iwi_max(0, visit->leave_ps - met_ps);
        const uint32_t known = kinds.count;

        status = iwi_index_number(
            m->log, &kinds, (struct iwi_index_key){(uint64_t)visit->group << 8 | visit->op, visit->bytes},
            &kind[i]);
        if (status == IW_OK) {
            least_ps[kind[i]] = kind[i] == known ? transfer_ps : iwi_min(least_ps[kind[i]], transfer_ps);
        }
    }
    for (size_t i = 0; status == IW_OK && i < visits->visit_count; i++) {
        m->transfer_ps[i] = least_ps[kind[i]];
    }
    iwi_index_release(&kinds);
    free(kind);
    free(least_ps);
    return status;
}

iw_status iwi_call_maker_sort(struct iwi_call_maker *m)
{
    const struct iwi_visits *visits = m->visits;

    m->encounter_of = iwi_new_array(m->log, visits->visit_count, sizeof m->encounter_of[0]);
    m->transfer_ps = iwi_new_array(m->log, visits->visit_count, sizeof m->transfer_ps[0]);
    m->by_rank = iwi_new_array(m->log, visits->stretch_count, sizeof m->by_rank[0]);
    m->first_stretch = iwi_new_array(m->log, visits->rank_count + 1, sizeof m->first_stretch[0]);
    m->waits_by_rank = iwi_new_array(m->log, visits->host_wait_count, sizeof m->waits_by_rank[0]);
    m->first_wait = iwi_new_array(m->log, visits->rank_count + 1, sizeof m->first_wait[0]);
    m->of_rank = iwi_new_array(m->log, visits->visit_count, sizeof m->of_rank[0]);
    m->first_visit = iwi_new_array(m->log, visits->rank_count + 1, sizeof m->first_visit[0]);
    m->busy = iwi_new_array(m->log, visits->stretch_count, sizeof m->busy[0]);
    m->points = iwi_new_array(m->log, 2 * visits->visit_count, sizeof m->points[0]);
    m->requests = iwi_new_array(m->log, visits->visit_count, sizeof m->requests[0]);
    if (m->encounter_of == NULL || m->by_rank == NULL || m->transfer_ps == NULL || m->first_stretch == NULL ||
        m->of_rank == NULL || m->waits_by_rank == NULL || m->first_wait == NULL || m->first_visit == NULL ||
        m->busy == NULL || m->points == NULL || m->requests == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(sort_stretches(m));
    IW_TRY(sort_waits(m));
    sort_visits(m);
    return find_transfers(m);
}

void iwi_call_maker_release(struct iwi_call_maker *m)
{
    free(m->encounter_of);
    free(m->transfer_ps);
    free(m->by_rank);
    free(m->first_stretch);
    free(m->waits_by_rank);
    free(m->first_wait);
    free(m->of_rank);
    free(m->first_visit);
    free(m->busy);
    free(m->points);
    free(m->requests);
}
