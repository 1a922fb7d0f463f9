/* Who caused each wait: not only whom a rank waited for, but why that one was late.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/arrivals/visits.h"
#include "features/explain/waits/waited_run.h"

struct last_met {
    uint64_t *by_time;      /* visits by rank and time */
    uint64_t *place;        /* of each visit: in by_time */
    size_t *first_visit;    /* of each rank: in by_time */
    uint32_t *encounter_of; /* of each visit */
};

/* ---- when two ranks last met ---- */

enum { MOST_LOOKED_BACK = 4096 };

struct timed {
    uint32_t rank;
    iw_time enter_ps;
    uint64_t visit;
};

IWI_COMPARE(compare_timed, struct timed, IWI_RISING(rank), IWI_RISING(enter_ps), IWI_RISING(visit))

static iw_status order_visits(const iw_log *log, const struct iwi_visits *visits, struct last_met *meetings)
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

/* To be released whatever the outcome; all zero before. */
static iw_status last_met_prepare(const iw_log *log, const struct iwi_visits *visits,
                                  struct last_met *meetings)
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

static void last_met_release(struct last_met *meetings)
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

/* Before that visit of a rank, and before an instant, with another one: when the first of them left. `begin`
 * of the run where they have not met. */
static iw_time last_met_at(const struct iwi_visits *visits, const struct last_met *meetings, uint64_t visit,
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

/* ---- causes ---- */

/* Rank A waits for B. Since they last met both computed, waited for others and transferred; what B did more
 * of than A is why it came later:
 *
 *     wait = (computing of B - of A) + (waiting of B - of A) + (transfers of B - of A)
 *
 * Of the parts that are positive, each takes its share of the wait. For the first B is the cause; for the
 * second those are whom B waited for, as far as they are its causes; for the third nobody is. Waits are
 * looked at in the order of their ends, so that those of B are known when A's are asked for.
 */

enum { NO_CAUSE = IWI_PAUSE_CAUSES, MOST_BLAMED = 16 };

/* A part of a wait. */
struct blamed {
    uint32_t rank;
    uint8_t cause; /* a pause that the trace names, or NO_CAUSE */
    double ps;
};

/* Of one wait, while it is found out. */
struct verdict {
    struct blamed of[MOST_BLAMED];
    size_t count;
    double dropped_ps; /* the small ones of a crowd */
};

struct inquiry {
    struct iwi_waited_run *run;
    double (*until)[IWI_DOINGS]; /* of each segment: what its rank did before it */
    size_t *first_blamed;        /* of each segment: in `pool`; SIZE_MAX: not known */
    uint8_t *blamed_count;
    struct blamed *pool;
    size_t pool_count, pool_capacity;
    struct last_met meetings;
};

/* ---- what one is accused of ---- */

/* Adds a piece of time, times a factor, to the iterations of a rank that it lies in. */
static void add_to_iterations(const struct iwi_waited_run *run, double *of_rank, uint32_t rank,
                              iw_time begin_ps, iw_time end_ps, double factor)
{
    const iw_time *borders;

    if (run->iterations.count == 0) {
        return;
    }
    borders = iwi_iteration_borders(run, rank);
    for (size_t i = iwi_iteration_at(run, rank, begin_ps); i < run->iterations.count && begin_ps < end_ps;
         i++) {
        const iw_time to_ps =
            i + 1 < run->iterations.count ? iwi_max(begin_ps, iwi_min(end_ps, borders[i + 1])) : end_ps;

        of_rank[rank * run->iterations.count + i] += factor * (double)(to_ps - begin_ps);
        begin_ps = to_ps;
    }
}

static void accuse(struct iwi_waited_run *run, const struct blamed *blamed, iw_time begin_ps, iw_time end_ps)
{
    const double factor = blamed->ps / (double)(end_ps - begin_ps);

    run->caused[blamed->rank] += blamed->ps;
    if (blamed->cause != NO_CAUSE) {
        run->caused_by_pause[blamed->cause] += blamed->ps;
    }
    add_to_iterations(run, run->caused_in_iteration, blamed->rank, begin_ps, end_ps, factor);
}

/* ---- what a rank did ---- */

static size_t segment_at(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, run->first_segment[rank], run->first_segment[rank + 1],
                  run->segments[at].end_ps <= at_ps);
    return at;
}

/* Adds `sign` times what a rank had done by then. */
static void add_done(const struct inquiry *q, uint32_t rank, iw_time at_ps, double sign,
                     double done[IWI_DOINGS])
{
    const struct iwi_waited_run *run = q->run;
    const size_t end = run->first_segment[rank + 1];
    size_t i = segment_at(run, rank, at_ps);

    if (end == run->first_segment[rank]) {
        return;
    }
    i = i < end ? i : end - 1;
    for (int k = 0; k < IWI_DOINGS; k++) {
        done[k] += sign * q->until[i][k];
    }
    if (at_ps > run->segments[i].begin_ps) {
        done[run->segments[i].doing] +=
            sign * (double)(iwi_min(at_ps, run->segments[i].end_ps) - run->segments[i].begin_ps);
    }
}

/* ---- one wait ---- */

static void blame(struct verdict *verdict, uint32_t rank, uint8_t cause, double ps)
{
    size_t smallest = 0;

    for (size_t i = 0; i < verdict->count; i++) {
        if (verdict->of[i].rank == rank && verdict->of[i].cause == cause) {
            verdict->of[i].ps += ps;
            return;
        }
    }
    if (verdict->count < MOST_BLAMED) {
        verdict->of[verdict->count++] = (struct blamed){rank, cause, ps};
        return;
    }
    for (size_t i = 1; i < MOST_BLAMED; i++) {
        smallest = verdict->of[i].ps < verdict->of[smallest].ps ? i : smallest;
    }
    verdict->dropped_ps += fmin(ps, verdict->of[smallest].ps);
    if (ps > verdict->of[smallest].ps) {
        verdict->of[smallest] = (struct blamed){rank, cause, ps};
    }
}

/* What was dropped is shared by those that were kept. */
static void share_dropped(struct verdict *verdict)
{
    double sum_ps = 0.0;

    for (size_t i = 0; i < verdict->count; i++) {
        sum_ps += verdict->of[i].ps;
    }
    for (size_t i = 0; verdict->dropped_ps > 0.0 && i < verdict->count; i++) {
        verdict->of[i].ps *= 1.0 + verdict->dropped_ps / sum_ps;
    }
}

/* What it computed longer; as much of that as it paused is the pauses'. */
static void blame_own(const struct inquiry *q, struct verdict *verdict, uint32_t rank, iw_time from_ps,
                      iw_time end_ps, double own_ps)
{
    double paused[IWI_PAUSE_CAUSES];
    const double all_ps = iwi_waited_paused(q->run, rank, from_ps, end_ps, paused);
    const double named_ps = fmin(own_ps, all_ps);

    for (unsigned cause = 0; cause < IWI_PAUSE_CAUSES; cause++) {
        if (paused[cause] > 0.0) {
            blame(verdict, rank, (uint8_t)cause, named_ps * paused[cause] / all_ps);
        }
    }
    if (own_ps > named_ps) {
        blame(verdict, rank, NO_CAUSE, own_ps - named_ps);
    }
}

/* What it waited longer, on the causes of its waits since then, each by its length. */
static void blame_inherited(const struct inquiry *q, struct verdict *verdict, uint32_t rank, iw_time from_ps,
                            iw_time end_ps, double share)
{
    const struct iwi_waited_run *run = q->run;

    for (size_t i = segment_at(run, rank, from_ps);
         i < run->first_segment[rank + 1] && run->segments[i].begin_ps < end_ps; i++) {
        const struct iwi_segment *segment = &run->segments[i];
        const iw_time length_ps = iwi_min(end_ps, segment->end_ps) - iwi_max(from_ps, segment->begin_ps);
        const double part = share * (double)length_ps / (double)(segment->end_ps - segment->begin_ps);

        if (segment->doing != IWI_DOES_WAIT) {
            continue;
        }
        if (q->first_blamed[i] == SIZE_MAX) { /* it ends at the same time */
            blame(verdict, run->awaited[segment->visit].rank, NO_CAUSE, share * (double)length_ps);
            continue;
        }
        for (size_t k = 0; k < q->blamed_count[i]; k++) {
            const struct blamed *of = &q->pool[q->first_blamed[i] + k];

            blame(verdict, of->rank, of->cause, part * of->ps);
        }
    }
}

static void inquire(const struct inquiry *q, uint32_t rank, size_t i, struct verdict *verdict)
{
    const struct iwi_segment *segment = &q->run->segments[i];
    const uint32_t other = q->run->awaited[segment->visit].rank;
    const double waited_ps = (double)(segment->end_ps - segment->begin_ps);
    double more[IWI_DOINGS] = {0.0}, own_ps, waiting_ps, transfer_ps, all_ps, other_waited_ps;
    const iw_time from_ps =
        last_met_at(q->run->visits, &q->meetings, segment->visit, other, segment->begin_ps, q->run->begin_ps);

    add_done(q, other, segment->end_ps, 1.0, more);
    add_done(q, other, from_ps, -1.0, more);
    other_waited_ps = more[IWI_DOES_WAIT];
    add_done(q, rank, segment->begin_ps, -1.0, more);
    add_done(q, rank, from_ps, 1.0, more);
    own_ps = fmax(0.0, more[IWI_DOES_COMPUTE] + more[IWI_DOES_OTHER]);
    waiting_ps = fmax(0.0, more[IWI_DOES_WAIT]);
    transfer_ps = fmax(0.0, more[IWI_DOES_TRANSFER]);
    all_ps = own_ps + waiting_ps + transfer_ps;
    if (!(all_ps > 0.0)) { /* it began later */
        blame_own(q, verdict, other, segment->begin_ps, segment->end_ps, waited_ps);
        return;
    }
    if (own_ps > 0.0) {
        blame_own(q, verdict, other, from_ps, segment->end_ps, waited_ps * own_ps / all_ps);
    }
    if (waiting_ps > 0.0) {
        blame_inherited(q, verdict, other, from_ps, segment->end_ps,
                        waited_ps * waiting_ps / all_ps / other_waited_ps);
    }
}

static iw_status keep(struct inquiry *q, size_t i, const struct verdict *verdict)
{
    IW_TRY(iwi_grow(q->run->log, (void **)&q->pool, &q->pool_capacity, q->pool_count + verdict->count,
                    sizeof *q->pool));
    q->first_blamed[i] = q->pool_count;
    q->blamed_count[i] = (uint8_t)verdict->count;
    for (size_t k = 0; k < verdict->count; k++) {
        q->pool[q->pool_count++] = verdict->of[k];
    }
    return IW_OK;
}

/* ---- all waits ---- */

struct wait {
    iw_time end_ps;
    size_t segment;
    uint32_t rank;
};

IWI_COMPARE(compare_waits, struct wait, IWI_RISING(end_ps), IWI_RISING(segment))

static iw_status inquire_all(struct inquiry *q, const struct wait *waits, size_t count)
{
    struct iwi_waited_run *run = q->run;

    for (size_t i = 0; i < count; i++) {
        const struct iwi_segment *segment = &run->segments[waits[i].segment];
        struct verdict verdict = {.count = 0};
        double sum_ps = 0.0;

        inquire(q, waits[i].rank, waits[i].segment, &verdict);
        share_dropped(&verdict);
        IW_TRY(keep(q, waits[i].segment, &verdict));
        for (size_t k = 0; k < verdict.count; k++) {
            accuse(run, &verdict.of[k], segment->begin_ps, segment->end_ps);
            sum_ps += verdict.of[k].ps;
        }
        run->through_transfer_ps += fmax(0.0, (double)(segment->end_ps - segment->begin_ps) - sum_ps);
        add_to_iterations(run, run->waited_in_iteration, waits[i].rank, segment->begin_ps, segment->end_ps,
                          1.0);
    }
    return IW_OK;
}

static size_t list_waits(struct inquiry *q, struct wait *waits)
{
    const struct iwi_waited_run *run = q->run;
    size_t count = 0;

    for (uint32_t r = 0; r < run->rank_count; r++) {
        double done[IWI_DOINGS] = {0.0};

        for (size_t i = run->first_segment[r]; i < run->first_segment[r + 1]; i++) {
            const struct iwi_segment *segment = &run->segments[i];

            for (int k = 0; k < IWI_DOINGS; k++) {
                q->until[i][k] = done[k];
            }
            done[segment->doing] += (double)(segment->end_ps - segment->begin_ps);
            q->first_blamed[i] = SIZE_MAX;
            if (segment->doing == IWI_DOES_WAIT) {
                waits[count++] = (struct wait){segment->end_ps, i, r};
            }
        }
    }
    return count;
}

static iw_status prepare(struct inquiry *q)
{
    const struct iwi_waited_run *run = q->run;

    q->until = iwi_new_array(run->log, run->segment_count, sizeof *q->until);
    q->first_blamed = iwi_new_array(run->log, run->segment_count, sizeof *q->first_blamed);
    q->blamed_count = iwi_new_array(run->log, run->segment_count, sizeof *q->blamed_count);
    return q->until != NULL && q->first_blamed != NULL && q->blamed_count != NULL
               ? last_met_prepare(run->log, run->visits, &q->meetings)
               : IW_ERR_NOMEM;
}

static iw_status make_room(struct iwi_waited_run *run)
{
    const size_t cells = run->iterations.count * run->rank_count;

    run->caused = iwi_new_array(run->log, run->rank_count, sizeof *run->caused);
    run->caused_in_iteration = iwi_new_array(run->log, cells, sizeof *run->caused_in_iteration);
    run->waited_in_iteration = iwi_new_array(run->log, cells, sizeof *run->waited_in_iteration);
    return run->caused != NULL && run->caused_in_iteration != NULL && run->waited_in_iteration != NULL
               ? iwi_waited_sort_pauses(run)
               : IW_ERR_NOMEM;
}

iw_status iwi_waited_blame(struct iwi_waited_run *run)
{
    struct inquiry q = {.run = run};
    struct wait *waits = iwi_new_array(run->log, run->segment_count, sizeof *waits);
    iw_status status = waits != NULL ? make_room(run) : IW_ERR_NOMEM;

    status = status == IW_OK ? prepare(&q) : status;
    if (status == IW_OK) {
        const size_t count = list_waits(&q, waits);

        iwi_sort(waits, count, compare_waits);
        status = inquire_all(&q, waits, count);
    }
    free(waits);
    free(q.until);
    free(q.first_blamed);
    free(q.blamed_count);
    free(q.pool);
    last_met_release(&q.meetings);
    return status;
}
