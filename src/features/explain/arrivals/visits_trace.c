/* Makes a trace of calls of visits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/explain/arrivals/visits_reader.h"
#include "features/explain/arrivals/visits_trace_parts.h"
#include "features/tables.h"

/* ---- a rank ---- */

IWI_COMPARE(compare_points, struct iwi_visit_point, IWI_RISING(at_ps), IWI_RISING(is_start),
            IWI_RISING(visit))

/* Stretches that touch or overlap are one. */
static void list_busy(struct iwi_call_maker *m)
{
    m->busy_count = m->next_busy = 0;
    for (size_t i = m->first_stretch[m->rank]; i < m->first_stretch[m->rank + 1]; i++) {
        const size_t index = m->by_rank[i];
        const struct iwi_stretch *stretch = &m->visits->stretches[index];
        struct iwi_busy *last = m->busy_count > 0 ? &m->busy[m->busy_count - 1] : NULL;

        if (last != NULL && stretch->begin_ps <= last->end_ps) {
            last->end_ps = iwi_max(last->end_ps, stretch->end_ps);
        } else {
            m->busy[m->busy_count++] = (struct iwi_busy){stretch->begin_ps, stretch->end_ps,
                                                         iwi_rerun_waits_for_launch(m->rerun, index)};
        }
    }
}

/* The first computation that ends after `at_ps`; times come in order. */
static const struct iwi_busy *busy_at(struct iwi_call_maker *m, iw_time at_ps)
{
    while (m->next_busy < m->busy_count && m->busy[m->next_busy].end_ps <= at_ps) {
        m->next_busy++;
    }
    return m->next_busy < m->busy_count ? &m->busy[m->next_busy] : NULL;
}

/* Goes on until `at_ps`, computing. */
static void compute_until(struct iwi_call_maker *m, iw_time at_ps)
{
    if (at_ps > m->at_ps) {
        m->compute_ps += at_ps - m->at_ps;
        m->at_ps = at_ps;
    }
}

/* Where a visit starts: where the computation had come to that it needed; when it came, if that had stood
 * still meanwhile and its stream was free. */
static iw_time start_of(struct iwi_call_maker *m, uint32_t index)
{
    const struct iwi_visit *visit = &m->visits->visits[index];
    const iw_time ready_ps = visit->enter_ps - visit->ready_ps;

    size_t at;

    if (visit->ready_ps == 0) {
        return visit->enter_ps;
    }
    IWI_FIRST_NOT(at, 0, m->busy_count,
                  m->busy[at].end_ps <= ready_ps); /* the first computation that ended after it was ready */
    if (at < m->busy_count && m->busy[at].begin_ps < visit->enter_ps) {
        return ready_ps;
    }
    return iwi_rerun_waits_for_stream(m->rerun, index) ? ready_ps : visit->enter_ps;
}

static size_t list_points(struct iwi_call_maker *m)
{
    size_t count = 0;

    for (size_t i = m->first_visit[m->rank]; i < m->first_visit[m->rank + 1]; i++) {
        const uint32_t index = m->of_rank[i];

        m->points[count++] = (struct iwi_visit_point){start_of(m, index), true, index};
        m->points[count++] = (struct iwi_visit_point){m->visits->visits[index].leave_ps, false, index};
        m->requests[index] = IWI_NO_REQUEST;
    }
    iwi_sort(m->points, count, compare_points);
    return count;
}

/* The host waited for the device when a visit ended; times come in order. */
static bool host_waits_at(struct iwi_call_maker *m, iw_time at_ps)
{
    const struct iwi_host_wait *waits = m->visits->host_waits;
    const size_t end = m->first_wait[m->rank + 1];

    while (m->next_wait < end && waits[m->waits_by_rank[m->next_wait]].end_ps < at_ps) {
        m->next_wait++;
    }
    return m->next_wait < end && waits[m->waits_by_rank[m->next_wait]].begin_ps < at_ps;
}

/* A visit ends. Computation that stood still waited for it, unless its launch was late for another reason
 * than that the host waited too. */
static iw_status end_visit(struct iwi_call_maker *m, const struct iwi_visit_point *point)
{
    const struct iwi_busy *next = busy_at(m, point->at_ps);
    const struct iwi_busy *before = m->next_busy > 0 ? &m->busy[m->next_busy - 1] : NULL;

    if (next != NULL && next->begin_ps < point->at_ps) {
        return IW_OK; /* it goes on beside */
    }
    if (next != NULL && next->is_late && !host_waits_at(m, point->at_ps)) {
        compute_until(m, point->at_ps);
    } else {
        compute_until(m, before != NULL ? before->end_ps : m->at_ps);
        m->at_ps = iwi_max(m->at_ps, point->at_ps);
    }
    return iwi_call_wait(m, point->visit);
}

static iw_status make_rank(struct iwi_call_maker *m)
{
    struct iwi_trace_rank *rank = &m->trace->ranks[m->rank];
    iw_time first_ps, end_ps;
    size_t count;

    list_busy(m);
    count = list_points(m);
    first_ps = count > 0 ? m->points[0].at_ps : 0;
    if (m->busy_count > 0 && (count == 0 || m->busy[0].begin_ps < first_ps)) {
        first_ps = m->busy[0].begin_ps;
    }
    m->next_wait = m->first_wait[m->rank];
    m->at_ps = end_ps = first_ps;
    m->compute_ps = 0;
    m->call_capacity = m->completed_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        const struct iwi_visit_point *point = &m->points[i];

        if (point->is_start) {
            compute_until(m, point->at_ps);
            IW_TRY(iwi_call_start(m, point->visit));
        } else {
            IW_TRY(end_visit(m, point));
        }
        end_ps = iwi_max(end_ps, point->at_ps);
    }
    if (m->busy_count > 0) {
        compute_until(m, m->busy[m->busy_count - 1].end_ps);
        end_ps = iwi_max(end_ps, m->busy[m->busy_count - 1].end_ps);
    }
    rank->last_compute_wall_ps = m->compute_ps;
    rank->wall_ps = end_ps - first_ps;
    return IW_OK;
}

/* ---- all of it ---- */

static iw_status make_comms(struct iwi_call_maker *m)
{
    const struct iwi_visits *visits = m->visits;
    struct iw_trace *trace = m->trace;

    trace->comms = iwi_new_array(m->log, visits->group_count + 1, sizeof trace->comms[0]);
    if (trace->comms == NULL) {
        return IW_ERR_NOMEM;
    }
    trace->comms[0] = (struct iwi_comm){.size = trace->rank_count};
    trace->comm_count = 1;
    for (size_t i = 0; i < visits->group_count; i++) {
        const struct iwi_visit_group *group = &visits->groups[i];
        struct iwi_comm *comm = &trace->comms[trace->comm_count];

        comm->size = group->count;
        comm->members = iwi_new_array(m->log, group->count, sizeof comm->members[0]);
        if (comm->members == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(comm->members, group->members, group->count * sizeof comm->members[0]);
        (void)snprintf(comm->name, sizeof comm->name, "%s", group->name);
        trace->comm_count++;
    }
    return IW_OK;
}

static iw_status make_all(struct iwi_call_maker *m)
{
    IW_TRY(iwi_call_maker_sort(m));
    IW_TRY(make_comms(m));
    (void)snprintf(m->trace->origin, sizeof m->trace->origin, "%.15s", m->visits->origin);
    m->trace->is_training = true;
    m->trace->is_on_gpus = !m->visits->is_on_host;
    for (m->rank = 0; m->rank < m->trace->rank_count; m->rank++) {
        IW_TRY(make_rank(m));
    }
    return iwi_trace_check(m->log, m->trace);
}

iw_status iwi_trace_of_visits(const iw_log *log, const struct iwi_visits *visits, struct iw_trace **trace_p)
{
    struct iwi_call_maker m = {.log = log, .visits = visits};
    struct iwi_rerun *rerun;
    iw_status status;

    IW_TRY(iwi_rerun_new(visits, &rerun));
    m.rerun = rerun;
    m.trace = iwi_trace_new(log, (uint32_t)visits->rank_count);
    status = m.trace != NULL ? make_all(&m) : IW_ERR_NOMEM;
    iwi_rerun_free(rerun);
    iwi_call_maker_release(&m);
    if (status != IW_OK) {
        iw_trace_free(m.trace);
        return status;
    }
    *trace_p = m.trace;
    return IW_OK;
}

static iw_status trace_of_run(const iw_log *log, const char *path, struct iw_trace **trace_p)
{
    iw_visits *visits;
    iw_status status;

    IW_TRY(iw_visits_open(log, &path, 1, &visits));
    status = iwi_trace_of_visits(log, visits, trace_p);
    if (status == IW_OK && visits->rank_count < iwi_visits_least_ranks(visits)) {
        iwi_warn(log,
                 "'%s' has the traces of %zu of %" PRIu32
                 " ranks: what these exchanged with the others is left out, and so are their waits",
                 path, visits->rank_count, iwi_visits_least_ranks(visits));
    }
    iw_visits_free(visits);
    return status;
}

const struct iwi_trace_reader iwi_visits_trace_reader = {
    "run of training (profiles of PyTorch, execution traces of Chakra, lines of NCCL's Inspector)",
    iwi_visits_is_readable, trace_of_run};
