/* Which time a run leaves out, of hosts, of computation, of gaps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/arrivals/rerun_parts.h"

struct interval {
    uint32_t rank;
    iw_time begin_ps, end_ps;
};

struct intervals {
    struct interval *of;
    size_t count, capacity;
};

IWI_COMPARE(compare_intervals, struct interval, IWI_RISING(rank), IWI_RISING(begin_ps))

static iw_status add(const iw_log *log, struct intervals *to, uint32_t rank, iw_time begin_ps, iw_time end_ps)
{
    if (end_ps <= begin_ps) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&to->of, &to->capacity, to->count + 1, sizeof to->of[0]));
    to->of[to->count++] = (struct interval){rank, begin_ps, end_ps};
    return IW_OK;
}

/* Sorts, and joins what overlaps. */
static void unite(struct intervals *intervals)
{
    size_t kept = 0;

    if (intervals->count == 0) {
        return;
    }
    iwi_sort(intervals->of, intervals->count, compare_intervals);
    for (size_t i = 1; i < intervals->count; i++) {
        struct interval *last = &intervals->of[kept];
        const struct interval *next = &intervals->of[i];

        if (next->rank == last->rank && next->begin_ps <= last->end_ps) {
            last->end_ps = iwi_max(last->end_ps, next->end_ps);
        } else {
            intervals->of[++kept] = *next;
        }
    }
    intervals->count = kept + 1;
}

/* Adds [begin, end] of a rank, but for what `named` (united) has of it. */
static iw_status add_unnamed(const iw_log *log, struct intervals *to, const struct iwi_pause *gap,
                             const struct intervals *named)
{
    iw_time begin_ps = gap->begin_ps;
    const struct interval *of = named->of;
    size_t i;

    IWI_FIRST_NOT(i, 0, named->count,
                  of[i].rank < gap->rank || (of[i].rank == gap->rank && of[i].end_ps <= gap->begin_ps));
    for (; i < named->count && of[i].rank == gap->rank && of[i].begin_ps < gap->end_ps; i++) {
        IW_TRY(add(log, to, gap->rank, begin_ps, of[i].begin_ps));
        begin_ps = of[i].end_ps;
    }
    return add(log, to, gap->rank, begin_ps, gap->end_ps);
}

/* Hosts' pauses that stay: late launches within them are not late by themselves. */
static iw_status list_named(const struct iwi_visits *visits, const bool *is_left_out, struct intervals *named)
{
    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (pause->is_on_host && !is_left_out[i]) {
            IW_TRY(add(visits->log, named, pause->rank, pause->begin_ps, pause->end_ps));
        }
    }
    unite(named);
    return IW_OK;
}

/* A gap of the device; what the host did meanwhile is not known. */
static bool is_late_launch(const struct iwi_pause *pause)
{
    return pause->cause == IWI_PAUSE_LAUNCH && !pause->is_on_host;
}

static bool shortens(const struct iwi_rerun *rerun, const struct iwi_pause *pause, unsigned layer)
{
    const bool has_launches = rerun->has_launches[pause->rank];

    if (is_late_launch(pause)) {
        return layer == IWI_CUT_GAP || (layer == IWI_CUT_HOST && has_launches);
    }
    if (pause->is_on_host && has_launches) {
        return layer == IWI_CUT_HOST;
    }
    return layer != IWI_CUT_HOST;
}

static iw_status list_layer(const struct iwi_rerun *rerun, const bool *is_left_out, unsigned layer,
                            const struct intervals *named, struct intervals *list)
{
    const struct iwi_visits *visits = rerun->visits;

    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (!is_left_out[i] || !shortens(rerun, pause, layer)) {
            continue;
        }
        if (is_late_launch(pause)) {
            IW_TRY(add_unnamed(visits->log, list, pause, named));
        } else {
            IW_TRY(add(visits->log, list, pause->rank, pause->begin_ps, pause->end_ps));
        }
    }
    unite(list);
    return IW_OK;
}

static iw_status make_layer(const struct iwi_visits *visits, const struct intervals *list,
                            struct iwi_cut **of_p, size_t **first_p)
{
    struct iwi_cut *of = *of_p = iwi_new_array(visits->log, list->count, sizeof *of);
    size_t *first = *first_p = iwi_new_array(visits->log, visits->rank_count + 1, sizeof *first);
    iw_time before_ps = 0;

    if (of == NULL || first == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct interval *interval = &list->of[i];

        before_ps = i > 0 && list->of[i - 1].rank == interval->rank ? before_ps : 0;
        of[i] = (struct iwi_cut){interval->begin_ps, interval->end_ps, before_ps};
        before_ps += interval->end_ps - interval->begin_ps;
        first[interval->rank + 1]++;
    }
    for (size_t rank = 0; rank < visits->rank_count; rank++) {
        first[rank + 1] += first[rank];
    }
    return IW_OK;
}

iw_status iwi_cuts_new(const struct iwi_rerun *rerun, const bool *is_left_out, struct iwi_cuts *cuts_p)
{
    struct intervals named = {.of = NULL};
    iw_status status = IW_OK;

    *cuts_p = (struct iwi_cuts){.of = {NULL}};
    if (is_left_out == NULL) {
        return IW_OK;
    }
    status = list_named(rerun->visits, is_left_out, &named);
    for (unsigned layer = 0; layer < IWI_CUT_LAYERS && status == IW_OK; layer++) {
        struct intervals list = {.of = NULL};

        status = list_layer(rerun, is_left_out, layer, &named, &list);
        if (status == IW_OK) {
            status = make_layer(rerun->visits, &list, &cuts_p->of[layer], &cuts_p->first[layer]);
        }
        free(list.of);
    }
    free(named.of);
    return status;
}

void iwi_cuts_release(struct iwi_cuts *cuts)
{
    for (unsigned layer = 0; layer < IWI_CUT_LAYERS; layer++) {
        free(cuts->of[layer]);
        free(cuts->first[layer]);
    }
}

/* What is left out of (-infinity, at]. */
static iw_time cut_before(const struct iwi_cut *of, size_t first, size_t end, iw_time at_ps)
{
    size_t i;

    IWI_FIRST_NOT(i, first, end, of[i].begin_ps < at_ps);
    return i == first ? 0 : of[i - 1].before_ps + iwi_min(at_ps, of[i - 1].end_ps) - of[i - 1].begin_ps;
}

iw_time iwi_cuts_left_ps(const struct iwi_cuts *cuts, uint32_t rank, enum iwi_cut_layer layer,
                         iw_time from_ps, iw_time to_ps)
{
    const size_t *first = cuts->first[layer];

    if (to_ps <= from_ps || first == NULL || first[rank] == first[rank + 1]) {
        return iwi_max(0, to_ps - from_ps);
    }
    return to_ps - from_ps -
           (cut_before(cuts->of[layer], first[rank], first[rank + 1], to_ps) -
            cut_before(cuts->of[layer], first[rank], first[rank + 1], from_ps));
}
