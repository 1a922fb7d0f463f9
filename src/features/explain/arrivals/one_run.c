/* Whether files can be of one run: ranks that no collective joins must have run at the same time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/arrivals/visits.h"

/* Clocks of nodes that nobody sets differ by less. */
static const iw_time MOST_APART_PS = 60 * IW_PS_PER_S;

/* Of ranks whose clocks are compared. */
struct span {
    iw_time begin_ps, end_ps;
    uint32_t rank; /* the first of them */
};

IWI_COMPARE(compare_spans, struct span, IWI_RISING(begin_ps))

static void widen(const struct iwi_visits *visits, struct span *spans, uint32_t rank, iw_time begin_ps,
                  iw_time end_ps)
{
    struct span *span = &spans[visits->ranks[rank].clock_set];

    span->rank = span->begin_ps > span->end_ps ? rank : span->rank;
    span->begin_ps = iwi_min(span->begin_ps, begin_ps);
    span->end_ps = iwi_max(span->end_ps, end_ps);
}

static void find_spans(const struct iwi_visits *visits, struct span *spans)
{
    for (uint32_t s = 0; s < visits->clock_sets; s++) {
        spans[s] = (struct span){INT64_MAX, INT64_MIN, 0};
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        widen(visits, spans, visit->rank, visit->enter_ps, visit->leave_ps);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        const struct iwi_stretch *stretch = &visits->stretches[i];

        widen(visits, spans, stretch->rank, stretch->begin_ps, stretch->end_ps);
    }
    iwi_sort(spans, visits->clock_sets, compare_spans);
}

static iw_status check_spans(const struct iwi_visits *visits, const struct span *spans)
{
    const struct span *last = &spans[0]; /* of those so far, the one that ends last */

    for (uint32_t s = 1; s < visits->clock_sets && spans[s].begin_ps <= spans[s].end_ps; s++) {
        const iw_time apart_ps = spans[s].begin_ps - last->end_ps;

        if (apart_ps > MOST_APART_PS && apart_ps > last->end_ps - spans[0].begin_ps) {
            return iwi_fail(visits->log, IW_ERR_FORMAT,
                            "rank %" PRIu32 " begins %.0f s after rank %" PRIu32
                            " has ended, and no collective joins them: these are files of different runs",
                            visits->ranks[spans[s].rank].number, (double)apart_ps / IW_PS_PER_S,
                            visits->ranks[last->rank].number);
        }
        last = spans[s].end_ps > last->end_ps ? &spans[s] : last;
    }
    return IW_OK;
}

/* Collectives of different runs may have the same names and numbers. */
static void warn_of_clocks(struct iwi_visits *visits)
{
    iw_time least_ps = INT64_MAX, most_ps = INT64_MIN;
    char text[128];

    for (size_t r = 0; r < visits->rank_count; r++) {
        least_ps = iwi_min(least_ps, visits->ranks[r].clock_added_ps);
        most_ps = iwi_max(most_ps, visits->ranks[r].clock_added_ps);
    }
    if (visits->rank_count > 0 && most_ps - least_ps > MOST_APART_PS) {
        const double apart_s = (double)(most_ps - least_ps) / IW_PS_PER_S;

        iwi_warn(visits->log, "clocks of ranks differ by %.0f s: make sure that all files are of one run",
                 apart_s);
        (void)snprintf(text, sizeof text,
                       "Clocks of ranks differ by %.0f s and were aligned: are all files of one run?",
                       apart_s);
        iwi_visits_note(visits, text);
    }
}

iw_status iwi_visits_check_one_run(struct iwi_visits *visits)
{
    struct span *spans;
    iw_status status;

    if (visits->clock_sets == 0) {
        return IW_OK;
    }
    spans = iwi_new_array(visits->log, visits->clock_sets, sizeof *spans);
    if (spans == NULL) {
        return IW_ERR_NOMEM;
    }
    find_spans(visits, spans);
    status = check_spans(visits, spans);
    free(spans);
    warn_of_clocks(visits);
    return status;
}
