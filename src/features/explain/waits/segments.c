/* Cuts the time of each rank into segments: it computes, waits, transfers, or does something else.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where several things are open at once (kernels of several streams, requests of one MPI_Waitall) computing
 * comes first, then waiting, then transfers. Of several ranks that it waits for, the one that comes last
 * counts: without the others it would wait no less.
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

struct span {
    iw_time begin_ps, end_ps;
    uint64_t visit;
    enum iwi_doing doing;
};

struct cutter {
    struct iwi_waited_run *run;
    struct span *spans; /* of all ranks, by rank; those of one by their begin */
    size_t *first;      /* rank_count + 1 */
    size_t *active;     /* indices of spans */
    size_t active_count, active_capacity;
};

/* ---- spans ---- */

static size_t spans_of_visit(const struct iwi_waited_run *run, uint64_t i, struct span spans[2])
{
    const struct iwi_visit *visit = &run->visits->visits[i];
    const iw_time blocked_ps = iwi_min(visit->enter_ps + visit->ahead_ps, visit->leave_ps);
    const iw_time start_ps = iwi_max(blocked_ps, run->awaited[i].start_ps);
    size_t count = 0;

    if (start_ps > blocked_ps) {
        spans[count++] = (struct span){blocked_ps, start_ps, i, IWI_DOES_WAIT};
    }
    if (visit->leave_ps > start_ps) {
        spans[count++] = (struct span){start_ps, visit->leave_ps, i, IWI_DOES_TRANSFER};
    }
    return count;
}

static void count_spans(const struct cutter *c)
{
    const struct iwi_visits *visits = c->run->visits;
    struct span spans[2];

    for (size_t i = 0; i < visits->stretch_count; i++) {
        c->first[visits->stretches[i].rank + 1]++;
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        c->first[visits->visits[i].rank + 1] += spans_of_visit(c->run, i, spans);
    }
    for (uint32_t r = 0; r < c->run->rank_count; r++) {
        c->first[r + 1] += c->first[r];
    }
}

IWI_COMPARE(compare_spans, struct span, IWI_RISING(begin_ps), IWI_RISING(end_ps))

static iw_status make_spans(struct cutter *c)
{
    const struct iwi_visits *visits = c->run->visits;
    size_t *next = iwi_new_array(c->run->log, c->run->rank_count, sizeof *next);

    c->spans = iwi_new_array(c->run->log, c->first[c->run->rank_count], sizeof *c->spans);
    if (next == NULL || c->spans == NULL) {
        free(next);
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < c->run->rank_count; r++) {
        next[r] = c->first[r];
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        const struct iwi_stretch *stretch = &visits->stretches[i];

        c->spans[next[stretch->rank]++] =
            (struct span){stretch->begin_ps, stretch->end_ps, 0, IWI_DOES_COMPUTE};
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        next[visits->visits[i].rank] += spans_of_visit(c->run, i, &c->spans[next[visits->visits[i].rank]]);
    }
    for (uint32_t r = 0; r < c->run->rank_count; r++) {
        iwi_sort(&c->spans[c->first[r]], c->first[r + 1] - c->first[r], compare_spans);
    }
    free(next);
    return IW_OK;
}

/* ---- segments ---- */

static bool comes_first(const struct span *a, const struct span *b)
{
    return a->doing != b->doing ? a->doing < b->doing : a->end_ps > b->end_ps;
}

/* What of the active ones counts, and until when that holds, at most `until_ps`. */
static struct iwi_segment segment_at(struct cutter *c, iw_time at_ps, iw_time until_ps)
{
    struct iwi_segment segment = {at_ps, until_ps, 0, IWI_DOES_OTHER};
    const struct span *best = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < c->active_count; i++) {
        const struct span *span = &c->spans[c->active[i]];

        if (span->end_ps > at_ps) {
            c->active[kept++] = c->active[i];
            best = best == NULL || comes_first(span, best) ? span : best;
        }
    }
    c->active_count = kept;
    if (best != NULL) {
        segment.visit = best->visit;
        segment.doing = best->doing;
        segment.end_ps = iwi_min(until_ps, best->end_ps);
    }
    return segment;
}

static iw_status add_segment(struct iwi_waited_run *run, size_t first, struct iwi_segment segment)
{
    struct iwi_segment *last = run->segment_count > first ? &run->segments[run->segment_count - 1] : NULL;

    if (last != NULL && last->doing == segment.doing && last->visit == segment.visit) {
        last->end_ps = segment.end_ps;
        return IW_OK;
    }
    IW_TRY(iwi_grow(run->log, (void **)&run->segments, &run->segment_capacity, run->segment_count + 1,
                    sizeof *run->segments));
    run->segments[run->segment_count++] = segment;
    return IW_OK;
}

static iw_time end_of(const struct cutter *c, uint32_t rank)
{
    iw_time end_ps = INT64_MIN;

    for (size_t i = c->first[rank]; i < c->first[rank + 1]; i++) {
        end_ps = iwi_max(end_ps, c->spans[i].end_ps);
    }
    return end_ps;
}

static iw_status cut_rank(struct cutter *c, uint32_t rank)
{
    struct iwi_waited_run *run = c->run;
    const size_t end = c->first[rank + 1], begun = run->segment_count;
    size_t next = c->first[rank];
    const iw_time end_ps = end_of(c, rank);
    iw_time at_ps = next < end ? c->spans[next].begin_ps : end_ps;

    c->active_count = 0;
    while (at_ps < end_ps) {
        struct iwi_segment segment;

        for (; next < end && c->spans[next].begin_ps <= at_ps; next++) {
            IW_TRY(iwi_grow(run->log, (void **)&c->active, &c->active_capacity, c->active_count + 1,
                            sizeof *c->active));
            c->active[c->active_count++] = next;
        }
        segment = segment_at(c, at_ps, next < end ? c->spans[next].begin_ps : end_ps);
        IW_TRY(add_segment(run, begun, segment));
        at_ps = segment.end_ps;
    }
    return IW_OK;
}

static iw_status cut_all(struct cutter *c)
{
    struct iwi_waited_run *run = c->run;

    count_spans(c);
    IW_TRY(make_spans(c));
    run->begin_ps = INT64_MAX;
    run->end_ps = INT64_MIN;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        run->first_segment[r] = run->segment_count;
        IW_TRY(cut_rank(c, r));
        if (run->segment_count > run->first_segment[r]) {
            run->begin_ps = iwi_min(run->begin_ps, run->segments[run->first_segment[r]].begin_ps);
            run->end_ps = iwi_max(run->end_ps, run->segments[run->segment_count - 1].end_ps);
        }
    }
    run->first_segment[run->rank_count] = run->segment_count;
    if (run->segment_count == 0) {
        run->begin_ps = run->end_ps = 0;
    }
    return IW_OK;
}

iw_status iwi_waited_segment(struct iwi_waited_run *run)
{
    struct cutter c = {.run = run};
    iw_status status;

    c.first = iwi_new_array(run->log, (size_t)run->rank_count + 1, sizeof *c.first);
    run->first_segment = iwi_new_array(run->log, (size_t)run->rank_count + 1, sizeof *run->first_segment);
    status = c.first != NULL && run->first_segment != NULL ? cut_all(&c) : IW_ERR_NOMEM;
    free(c.spans);
    free(c.first);
    free(c.active);
    return status;
}
