/* A run cut into segments and iterations, with whom each visit waits for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/waits/waited_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"

/* ---- whom each visit waits for ---- */

/* In a collective whose result needs all ranks a rank waits for the one that comes last. Of others it waits
 * for the last that came while it was there; behind a root, for the root, which itself waits for nobody if
 * it has little to send.
 */

struct arrival {
    iw_time enter_ps;
    uint32_t rank;
};

IWI_COMPARE(compare_arrivals, struct arrival, IWI_RISING(enter_ps), IWI_RISING(rank))

static bool needs_all(unsigned op)
{
    return op == IWI_VISIT_ALLREDUCE || op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_REDUCE_SCATTER ||
           op == IWI_VISIT_ALLTOALL || op == IWI_VISIT_BARRIER;
}

/* The last that came before an instant; sorted. */
static const struct arrival *last_before(const struct arrival *arrivals, uint32_t count, iw_time at_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, count, arrivals[at].enter_ps <= at_ps);
    return at > 0 ? &arrivals[at - 1] : NULL;
}

static const struct arrival *arrival_of(const struct arrival *arrivals, uint32_t count, uint32_t rank)
{
    for (uint32_t i = 0; i < count; i++) {
        if (arrivals[i].rank == rank) {
            return &arrivals[i];
        }
    }
    return NULL;
}

static struct iwi_awaited awaited_by(const struct iwi_visit *visit, const struct arrival *arrivals,
                                     uint32_t count, const struct arrival *root)
{
    const struct arrival *one;

    if (visit->has_root && visit->rank != visit->root) {
        one = root;
    } else if (visit->has_root && visit->bytes < IWI_LEAST_RENDEZVOUS_BYTES) {
        one = NULL;
    } else if (needs_all(visit->op)) {
        one = &arrivals[count - 1];
    } else {
        one = last_before(arrivals, count, visit->leave_ps);
    }
    if (one == NULL || one->rank == visit->rank || one->enter_ps <= visit->enter_ps) {
        return (struct iwi_awaited){.rank = IWI_NOBODY, .start_ps = visit->enter_ps};
    }
    return (struct iwi_awaited){.rank = one->rank,
                                .start_ps = iwi_min(one->enter_ps, visit->leave_ps),
                                .is_unordered = one->enter_ps > visit->leave_ps};
}

static void await_encounter(struct iwi_waited_run *run, const struct iwi_encounter *encounter,
                            struct arrival *arrivals)
{
    const struct iwi_visit *visits = &run->visits->visits[encounter->first];
    const struct arrival *root;

    for (uint32_t i = 0; i < encounter->count; i++) {
        arrivals[i] = (struct arrival){visits[i].enter_ps, visits[i].rank};
    }
    iwi_sort(arrivals, encounter->count, compare_arrivals);
    root = visits[0].has_root ? arrival_of(arrivals, encounter->count, visits[0].root) : NULL;
    for (uint32_t i = 0; i < encounter->count; i++) {
        run->awaited[encounter->first + i] = awaited_by(&visits[i], arrivals, encounter->count, root);
    }
}

iw_status iwi_waited_await(struct iwi_waited_run *run)
{
    struct arrival *arrivals = iwi_new_array(run->log, run->rank_count, sizeof *arrivals);

    run->awaited = iwi_new_array(run->log, run->visits->visit_count, sizeof *run->awaited);
    if (arrivals == NULL || run->awaited == NULL) {
        free(arrivals);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < run->visits->encounter_count; i++) {
        await_encounter(run, &run->visits->encounters[i], arrivals);
    }
    free(arrivals);
    return IW_OK;
}

/* ---- segments: a rank computes, waits, transfers, or does something else ---- */

/* Where several things are open at once (kernels of several streams, requests of one MPI_Waitall) computing
 * comes first, then waiting, then transfers. Of several ranks that it waits for, the one that comes last
 * counts: without the others it would wait no less.
 */

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

/* ---- steps of the trace ---- */

IWI_COMPARE(compare_steps, struct iwi_visit_step, IWI_RISING(rank), IWI_RISING(begin_ps))

/* All ranks have the same ones, and at least two. Sorted. */
static bool are_common(const struct iwi_waited_run *run, const struct iwi_visit_step *steps)
{
    const size_t count = run->visits->step_count / run->rank_count;

    if (count < 2 || count * run->rank_count != run->visits->step_count) {
        return false;
    }
    for (size_t i = 0; i < run->visits->step_count; i++) {
        if (steps[i].rank != i / count || steps[i].number != steps[i % count].number) {
            return false;
        }
    }
    return true;
}

static iw_status take_borders(struct iwi_waited_run *run, const struct iwi_visit_step *steps)
{
    struct iwi_iterations *iterations = &run->iterations;
    const size_t count = run->visits->step_count / run->rank_count;

    iterations->begin_ps =
        iwi_new_array(run->log, (count + 1) * run->rank_count, sizeof *iterations->begin_ps);
    if (iterations->begin_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct iwi_visit_step *own = &steps[r * count];

        for (size_t i = 0; i < count; i++) {
            iterations->begin_ps[r * (count + 1) + i] = own[i].begin_ps;
        }
        iterations->begin_ps[r * (count + 1) + count] =
            iwi_max(own[count - 1].end_ps, own[count - 1].begin_ps);
    }
    iterations->count = count;
    (void)snprintf(iterations->what, sizeof iterations->what, "steps");
    return IW_OK;
}

static iw_status iterate_by_steps(struct iwi_waited_run *run)
{
    struct iwi_visit_step *steps = iwi_new_array(run->log, run->visits->step_count, sizeof *steps);
    iw_status status = IW_OK;

    if (steps == NULL) {
        return IW_ERR_NOMEM;
    }
    if (run->visits->step_count > 0) {
        memcpy(steps, run->visits->steps, run->visits->step_count * sizeof *steps);
        iwi_sort(steps, run->visits->step_count, compare_steps);
        status = are_common(run, steps) ? take_borders(run, steps) : IW_OK;
    }
    free(steps);
    return status;
}

/* ---- from collective to collective ---- */

/* What most ranks do together, and of that the most often. */
struct beat {
    uint32_t group, ranks;
    uint8_t op;
    size_t count;
};

static struct beat find_beat(const struct iwi_visits *visits)
{
    struct beat best = {.count = 0};
    size_t first = 0;

    while (first < visits->encounter_count) {
        const struct iwi_visit *visit = &visits->visits[visits->encounters[first].first];
        size_t count[IWI_VISIT_OPS] = {0};
        uint32_t ranks = 0;
        size_t i = first;

        for (; i < visits->encounter_count; i++) {
            const struct iwi_encounter *encounter = &visits->encounters[i];

            if (visits->visits[encounter->first].group != visit->group) {
                break;
            }
            if (iwi_is_met(visits, encounter)) {
                count[visits->visits[encounter->first].op]++;
                ranks = encounter->count > ranks ? encounter->count : ranks;
            }
        }
        for (unsigned op = 0; op < IWI_VISIT_OPS; op++) {
            if (count[op] > 1 && (ranks > best.ranks || (ranks == best.ranks && count[op] > best.count))) {
                best = (struct beat){visit->group, ranks, (uint8_t)op, count[op]};
            }
        }
        first = i;
    }
    return best;
}

static iw_status iterate_by_beat(struct iwi_waited_run *run)
{
    const struct iwi_visits *visits = run->visits;
    const struct beat beat = find_beat(visits);
    struct iwi_iterations *iterations = &run->iterations;
    size_t count = 0;

    if (beat.count < 3) {
        return IW_OK;
    }
    iterations->begin_ps = iwi_new_array(run->log, beat.count, sizeof *iterations->begin_ps);
    if (iterations->begin_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_visit *visit = &visits->visits[visits->encounters[i].first];

        if (visit->group == beat.group && visit->op == beat.op && visits->encounters[i].count > 1) {
            iterations->begin_ps[count++] = iwi_encounter_start_ps(visits, &visits->encounters[i]);
        }
    }
    iwi_sort(iterations->begin_ps, count, iwi_compare_i64);
    iterations->count = count - 1;
    iterations->is_shared = true;
    (void)snprintf(iterations->what, sizeof iterations->what, "from %s to %s of %.32s",
                   iwi_visit_op_name(beat.op), iwi_visit_op_name(beat.op), visits->groups[beat.group].name);
    return IW_OK;
}

const iw_time *iwi_iteration_borders(const struct iwi_waited_run *run, uint32_t rank)
{
    return &run->iterations.begin_ps[run->iterations.is_shared ? 0 : rank * (run->iterations.count + 1)];
}

size_t iwi_iteration_at(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps)
{
    const iw_time *borders = iwi_iteration_borders(run, rank);
    size_t at;

    IWI_FIRST_NOT(at, 1, run->iterations.count, borders[at] <= at_ps);
    return at - 1;
}

iw_status iwi_waited_iterate(struct iwi_waited_run *run)
{
    IW_TRY(iterate_by_steps(run));
    if (run->iterations.count == 0) {
        IW_TRY(iterate_by_beat(run));
    }
    return IW_OK;
}

/* ---- pauses that the trace names, by rank and time ---- */

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
