/* Makes a trace of calls of visits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits_reader.h"

#include <idlewave/waits.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/lookup.h"
#include "core/base/order.h"
#include "features/explain/arrivals/rerun.h"
#include "features/tables.h"

#define NOT_REQUESTED UINT32_MAX

/* Computation of a rank, whatever its streams; what it does not cover before it, from `idle_ps` on, is time
 * of the host. */
struct busy {
    iw_time begin_ps, end_ps;
    bool is_late; /* the host launched it too late: computation did not wait for anything else */
};

struct visit_point {
    iw_time at_ps;
    bool is_start; /* else the end */
    uint32_t visit;
};

struct call_maker {
    const iw_log *log;
    const struct iwi_visits *visits;
    const struct iwi_rerun *rerun;
    struct iw_trace *trace;
    uint32_t *encounter_of; /* of visits */
    iw_time *transfer_ps;   /* of visits whose group was traced in part: how long it takes without waiting */
    size_t *by_rank;        /* stretches, by rank and time */
    size_t *first_stretch;  /* rank_count + 1: in by_rank */
    size_t *waits_by_rank;  /* host waits, by rank and time */
    size_t *first_wait;     /* rank_count + 1: in waits_by_rank */
    uint32_t *of_rank;      /* visits, by rank */
    size_t *first_visit;    /* rank_count + 1: in of_rank */
    /* of the rank: */
    uint32_t rank;
    struct busy *busy;
    size_t busy_count, next_busy, next_wait;
    struct visit_point *points;
    uint32_t *requests; /* of visits: NO_REQUEST, or its number */
    size_t call_capacity, completed_capacity;
    iw_time at_ps, compute_ps; /* how far it has come; computation since the last call */
};

/* ---- visits and stretches by rank, and what repetitions tell of transfers ---- */

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

static iw_status sort_stretches(struct call_maker *m)
{
    const struct iwi_visits *visits = m->visits;
    struct keyed *keyed = iwi_new_array(m->log, visits->stretch_count, sizeof keyed[0]);

    for (size_t i = 0; keyed != NULL && i < visits->stretch_count; i++) {
        keyed[i] = (struct keyed){visits->stretches[i].rank, visits->stretches[i].begin_ps, i};
    }
    return sort_keyed(keyed, visits->stretch_count, m->by_rank, m->first_stretch);
}

static iw_status sort_waits(struct call_maker *m)
{
    const struct iwi_visits *visits = m->visits;
    struct keyed *keyed = iwi_new_array(m->log, visits->host_wait_count, sizeof keyed[0]);

    for (size_t i = 0; keyed != NULL && i < visits->host_wait_count; i++) {
        keyed[i] = (struct keyed){visits->host_waits[i].rank, visits->host_waits[i].begin_ps, i};
    }
    return sort_keyed(keyed, visits->host_wait_count, m->waits_by_rank, m->first_wait);
}

static void sort_visits(struct call_maker *m)
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
static iw_status find_transfers(struct call_maker *m)
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

/* Visits and stretches by rank, and what repetitions tell. */
static iw_status call_maker_sort(struct call_maker *m)
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

static void call_maker_release(struct call_maker *m)
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

/* ---- the call or calls that a visit becomes ---- */

#define NO_PARTNER UINT32_MAX

static const uint8_t op_of[IWI_VISIT_OPS] = {
    [IWI_VISIT_ALLREDUCE] = IWI_TRACE_ALLREDUCE,
    [IWI_VISIT_ALLGATHER] = IWI_TRACE_ALLGATHER,
    [IWI_VISIT_REDUCE_SCATTER] = IWI_TRACE_REDUCE_SCATTER,
    [IWI_VISIT_ALLTOALL] = IWI_TRACE_ALLTOALL,
    [IWI_VISIT_BROADCAST] = IWI_TRACE_BCAST,
    [IWI_VISIT_REDUCE] = IWI_TRACE_REDUCE,
    [IWI_VISIT_GATHER] = IWI_TRACE_GATHER,
    [IWI_VISIT_SCATTER] = IWI_TRACE_SCATTER,
    [IWI_VISIT_BARRIER] = IWI_TRACE_BARRIER,
    [IWI_VISIT_MESSAGE] = IWI_TRACE_BARRIER, /* of several ranks in one kernel: they synchronise */
    [IWI_VISIT_OTHER] = IWI_TRACE_BARRIER,
};

/* ---- what a visit becomes ---- */

static const struct iwi_encounter *encounter_of(const struct call_maker *m, uint32_t visit)
{
    return &m->visits->encounters[m->encounter_of[visit]];
}

/* The other one of a message between two ranks. */
static uint32_t partner_of(const struct call_maker *m, uint32_t visit)
{
    const struct iwi_encounter *encounter = encounter_of(m, visit);

    if (m->visits->visits[visit].op != IWI_VISIT_MESSAGE || encounter->count != 2) {
        return NO_PARTNER;
    }
    return (uint32_t)(encounter->first + (visit == encounter->first));
}

/* It can be simulated: all who were traced of its group took part, and more than one was; or the group grows
 * with the number of ranks. */
static bool is_simulated(const struct call_maker *m, uint32_t visit)
{
    const struct iwi_visit_group *group = &m->visits->groups[m->visits->visits[visit].group];

    return encounter_of(m, visit)->count == group->count &&
           (group->count > 1 || group->size == 1 || iwi_comm_is_data_parallel(group->name));
}

static uint64_t bytes_of(const struct call_maker *m, const struct iwi_visit *visit)
{
    const uint32_t size = m->visits->groups[visit->group].size;

    switch (visit->op) {
    case IWI_VISIT_ALLGATHER:
    case IWI_VISIT_REDUCE_SCATTER:
    case IWI_VISIT_ALLTOALL:
    case IWI_VISIT_GATHER:
    case IWI_VISIT_SCATTER: return size > 0 ? (visit->bytes + size - 1) / size : visit->bytes;
    default: return visit->bytes;
    }
}

static uint32_t root_in_group(const struct call_maker *m, const struct iwi_visit *visit)
{
    const struct iwi_visit_group *group = &m->visits->groups[visit->group];

    for (uint32_t i = 0; visit->has_root && i < group->count; i++) {
        if (group->members[i] == visit->root) {
            return i;
        }
    }
    return 0;
}

/* ---- calls ---- */

static iw_status put_call(struct call_maker *m, struct iwi_call call)
{
    struct iwi_trace_rank *rank = &m->trace->ranks[m->rank];

    IW_TRY(iwi_grow(m->log, (void **)&rank->calls, &m->call_capacity, rank->call_count + 1,
                    sizeof rank->calls[0]));
    call.compute_wall_ps = m->compute_ps;
    call.compute_cpu_ps = -1;
    m->compute_ps = 0;
    rank->calls[rank->call_count++] = call;
    return IW_OK;
}

/* A message is a send or a receive; where nobody says which way it goes, both. */
static iw_status put_message(struct call_maker *m, uint32_t index, uint32_t partner)
{
    const struct iwi_visit *visit = &m->visits->visits[index], *other = &m->visits->visits[partner];
    const bool sends = !visit->has_root || visit->root == visit->rank,
               receives = !visit->has_root || visit->root != visit->rank;
    struct iwi_trace_rank *rank = &m->trace->ranks[m->rank];
    struct iwi_call call = {.comm = 0,
                            .peer = other->rank,
                            .tag = (int32_t)visit->group,
                            .bytes = visit->bytes,
                            .enter_ps = visit->enter_ps};

    m->requests[index] = rank->request_count;
    if (receives) {
        call.kind = IWI_CALL_IRECV;
        call.request = rank->request_count++;
        IW_TRY(put_call(m, call));
    }
    if (sends) {
        call.kind = IWI_CALL_ISEND;
        call.request = rank->request_count++;
        IW_TRY(put_call(m, call));
    }
    return IW_OK;
}

static iw_status put_collective(struct call_maker *m, uint32_t index)
{
    const struct iwi_visit *visit = &m->visits->visits[index];
    const struct iwi_call call = {.kind = IWI_CALL_ICOLLECTIVE,
                                  .op = op_of[visit->op],
                                  .comm = visit->group + 1,
                                  .peer = root_in_group(m, visit),
                                  .bytes = bytes_of(m, visit),
                                  .request = m->trace->ranks[m->rank].request_count,
                                  .call_ps = visit->leave_ps - visit->enter_ps,
                                  .enter_ps = visit->enter_ps};

    m->requests[index] = m->trace->ranks[m->rank].request_count++;
    return put_call(m, call);
}

/* Others of it were not traced: it takes as long as it does without waiting. */
static iw_status put_opaque(struct call_maker *m, uint32_t index)
{
    return put_call(m, (struct iwi_call){.kind = IWI_CALL_OPAQUE,
                                         .call_ps = m->transfer_ps[index],
                                         .enter_ps = m->visits->visits[index].enter_ps});
}

/* One visit of the rank begins, or is waited for. */
static iw_status call_start(struct call_maker *m, uint32_t index)
{
    const uint32_t partner = partner_of(m, index);

    if (partner != NO_PARTNER) {
        return put_message(m, index, partner);
    }
    return is_simulated(m, index) ? put_collective(m, index) : put_opaque(m, index);
}

/* Completes it; a collective that was started by the call before is a blocking one. */
static iw_status call_wait(struct call_maker *m, uint32_t index)
{
    struct iwi_trace_rank *rank = &m->trace->ranks[m->rank];
    const uint32_t request = m->requests[index];
    struct iwi_call *last = rank->call_count > 0 ? &rank->calls[rank->call_count - 1] : NULL;
    const struct iwi_visit *visit = &m->visits->visits[index];
    uint32_t count =
        visit->op == IWI_VISIT_MESSAGE && !visit->has_root && partner_of(m, index) != NO_PARTNER ? 2 : 1;

    if (request == NOT_REQUESTED) {
        return IW_OK;
    }
    m->requests[index] = NOT_REQUESTED;
    if (last != NULL && last->kind == IWI_CALL_ICOLLECTIVE && last->request == request &&
        m->compute_ps == 0) {
        last->kind = IWI_CALL_COLLECTIVE;
        last->request = 0;
        rank->request_count--; /* it was the last one */
        return IW_OK;
    }
    IW_TRY(iwi_grow(m->log, (void **)&rank->completed, &m->completed_capacity, rank->completed_count + count,
                    sizeof rank->completed[0]));
    IW_TRY(put_call(m, (struct iwi_call){.kind = IWI_CALL_WAIT,
                                         .request = (uint32_t)rank->completed_count,
                                         .request_count = count,
                                         .enter_ps = m->at_ps}));
    for (uint32_t i = 0; i < count; i++) {
        rank->completed[rank->completed_count++] = request + i;
    }
    return IW_OK;
}

/* ---- a rank ---- */

IWI_COMPARE(compare_points, struct visit_point, IWI_RISING(at_ps), IWI_RISING(is_start), IWI_RISING(visit))

/* Stretches that touch or overlap are one. */
static void list_busy(struct call_maker *m)
{
    m->busy_count = m->next_busy = 0;
    for (size_t i = m->first_stretch[m->rank]; i < m->first_stretch[m->rank + 1]; i++) {
        const size_t index = m->by_rank[i];
        const struct iwi_stretch *stretch = &m->visits->stretches[index];
        struct busy *last = m->busy_count > 0 ? &m->busy[m->busy_count - 1] : NULL;

        if (last != NULL && stretch->begin_ps <= last->end_ps) {
            last->end_ps = iwi_max(last->end_ps, stretch->end_ps);
        } else {
            m->busy[m->busy_count++] = (struct busy){stretch->begin_ps, stretch->end_ps,
                                                     iwi_rerun_waits_for_launch(m->rerun, index)};
        }
    }
}

/* The first computation that ends after `at_ps`; times come in order. */
static const struct busy *busy_at(struct call_maker *m, iw_time at_ps)
{
    while (m->next_busy < m->busy_count && m->busy[m->next_busy].end_ps <= at_ps) {
        m->next_busy++;
    }
    return m->next_busy < m->busy_count ? &m->busy[m->next_busy] : NULL;
}

/* Goes on until `at_ps`, computing. */
static void compute_until(struct call_maker *m, iw_time at_ps)
{
    if (at_ps > m->at_ps) {
        m->compute_ps += at_ps - m->at_ps;
        m->at_ps = at_ps;
    }
}

/* Where a visit starts: where the computation had come to that it needed; when it came, if that had stood
 * still meanwhile and its stream was free. */
static iw_time start_of(struct call_maker *m, uint32_t index)
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

static size_t list_points(struct call_maker *m)
{
    size_t count = 0;

    for (size_t i = m->first_visit[m->rank]; i < m->first_visit[m->rank + 1]; i++) {
        const uint32_t index = m->of_rank[i];

        m->points[count++] = (struct visit_point){start_of(m, index), true, index};
        m->points[count++] = (struct visit_point){m->visits->visits[index].leave_ps, false, index};
        m->requests[index] = NOT_REQUESTED;
    }
    iwi_sort(m->points, count, compare_points);
    return count;
}

/* The host waited for the device when a visit ended; times come in order. */
static bool host_waits_at(struct call_maker *m, iw_time at_ps)
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
static iw_status end_visit(struct call_maker *m, const struct visit_point *point)
{
    const struct busy *next = busy_at(m, point->at_ps);
    const struct busy *before = m->next_busy > 0 ? &m->busy[m->next_busy - 1] : NULL;

    if (next != NULL && next->begin_ps < point->at_ps) {
        return IW_OK; /* it goes on beside */
    }
    if (next != NULL && next->is_late && !host_waits_at(m, point->at_ps)) {
        compute_until(m, point->at_ps);
    } else {
        compute_until(m, before != NULL ? before->end_ps : m->at_ps);
        m->at_ps = iwi_max(m->at_ps, point->at_ps);
    }
    return call_wait(m, point->visit);
}

static iw_status make_rank(struct call_maker *m)
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
        const struct visit_point *point = &m->points[i];

        if (point->is_start) {
            compute_until(m, point->at_ps);
            IW_TRY(call_start(m, point->visit));
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

static iw_status make_comms(struct call_maker *m)
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

static iw_status make_all(struct call_maker *m)
{
    IW_TRY(call_maker_sort(m));
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
    struct call_maker m = {.log = log, .visits = visits};
    struct iwi_rerun *rerun;
    iw_status status;

    IW_TRY(iwi_rerun_new(visits, &rerun));
    m.rerun = rerun;
    m.trace = iwi_trace_new(log, (uint32_t)visits->rank_count);
    status = m.trace != NULL ? make_all(&m) : IW_ERR_NOMEM;
    iwi_rerun_free(rerun);
    call_maker_release(&m);
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
                 "'%s' has traces of %zu of %" PRIu32
                 " ranks: exchanges with the others, and their waits, are left out",
                 path, visits->rank_count, iwi_visits_least_ranks(visits));
    }
    iw_visits_free(visits);
    return status;
}

const struct iwi_trace_reader iwi_visits_trace_reader = {
    "training run (PyTorch profiles, Chakra execution traces, lines of NCCL's Inspector)",
    iwi_visits_is_readable, trace_of_run};
