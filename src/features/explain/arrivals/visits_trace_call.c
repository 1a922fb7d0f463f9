/* The call or calls that a visit becomes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits_trace_parts.h"

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

static const struct iwi_encounter *encounter_of(const struct iwi_call_maker *m, uint32_t visit)
{
    return &m->visits->encounters[m->encounter_of[visit]];
}

/* The other one of a message between two ranks. */
static uint32_t partner_of(const struct iwi_call_maker *m, uint32_t visit)
{
    const struct iwi_encounter *encounter = encounter_of(m, visit);

    if (m->visits->visits[visit].op != IWI_VISIT_MESSAGE || encounter->count != 2) {
        return NO_PARTNER;
    }
    return (uint32_t)(encounter->first + (visit == encounter->first));
}

/* It can be simulated: all who were traced of its group took part, and more than one was; or the group grows
 * with the number of ranks. */
static bool is_simulated(const struct iwi_call_maker *m, uint32_t visit)
{
    const struct iwi_visit_group *group = &m->visits->groups[m->visits->visits[visit].group];

    return encounter_of(m, visit)->count == group->count &&
           (group->count > 1 || group->size == 1 || iwi_comm_is_data_parallel(group->name));
}

static uint64_t bytes_of(const struct iwi_call_maker *m, const struct iwi_visit *visit)
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

static uint32_t root_in_group(const struct iwi_call_maker *m, const struct iwi_visit *visit)
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

static iw_status put_call(struct iwi_call_maker *m, struct iwi_call call)
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
static iw_status put_message(struct iwi_call_maker *m, uint32_t index, uint32_t partner)
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

static iw_status put_collective(struct iwi_call_maker *m, uint32_t index)
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
static iw_status put_opaque(struct iwi_call_maker *m, uint32_t index)
{
    return put_call(m, (struct iwi_call){.kind = IWI_CALL_OPAQUE,
                                         .call_ps = m->transfer_ps[index],
                                         .enter_ps = m->visits->visits[index].enter_ps});
}

iw_status iwi_call_start(struct iwi_call_maker *m, uint32_t index)
{
    const uint32_t partner = partner_of(m, index);

    if (partner != NO_PARTNER) {
        return put_message(m, index, partner);
    }
    return is_simulated(m, index) ? put_collective(m, index) : put_opaque(m, index);
}

/* Completes it; a collective that was started by the call before is a blocking one. */
iw_status iwi_call_wait(struct iwi_call_maker *m, uint32_t index)
{
    struct iwi_trace_rank *rank = &m->trace->ranks[m->rank];
    const uint32_t request = m->requests[index];
    struct iwi_call *last = rank->call_count > 0 ? &rank->calls[rank->call_count - 1] : NULL;
    const struct iwi_visit *visit = &m->visits->visits[index];
    uint32_t count =
        visit->op == IWI_VISIT_MESSAGE && !visit->has_root && partner_of(m, index) != NO_PARTNER ? 2 : 1;

    if (request == IWI_NO_REQUEST) {
        return IW_OK;
    }
    m->requests[index] = IWI_NO_REQUEST;
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
