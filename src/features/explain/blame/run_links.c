/* Finds out what each call waits for: the send of its message, the others of its collective.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/lookup.h"
#include "core/base/order.h"
#include "core/program/message_pairs.h"
#include "features/explain/blame/run.h"

/* Shorter messages do not wait for their receiver. */
static const uint64_t LEAST_RENDEZVOUS_BYTES = 1024;

struct linker {
    struct iwi_blamed_run *run;
    uint64_t *partner; /* of each call: the other half of its message; IWI_NO_PARTNER */
    uint32_t *group;   /* of each call: number of its collective; UINT32_MAX */
    uint64_t *made;    /* of the requests of a rank: the call that made it */
    size_t dep_capacity, helper_capacity;
};

/* ---- collectives ---- */

static bool is_collective(const struct iwi_call *call)
{
    return call != NULL && (call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE);
}

/* The n-th collective of a communicator is the n-th of each of its members. */
static iw_status number_groups(struct linker *l, struct iwi_index *index)
{
    struct iwi_blamed_run *run = l->run;
    uint64_t *used =
        iwi_new_array(run->log, (size_t)run->trace->rank_count * run->trace->comm_count, sizeof *used);
    iw_status status = used != NULL ? IW_OK : IW_ERR_NOMEM;

    for (uint64_t i = 0; status == IW_OK && i < iwi_run_calls(run); i++) {
        const struct iwi_call *call = iwi_run_call(run, i);

        if (is_collective(call)) {
            const uint64_t n = used[(size_t)run->rank_of[i] * run->trace->comm_count + call->comm]++;

            status = iwi_index_number(run->log, index, (struct iwi_index_key){call->comm, n}, &l->group[i]);
        }
    }
    free(used);
    return status;
}

static uint32_t root_of(const struct iwi_blamed_run *run, const struct iwi_call *call)
{
    const struct iwi_comm *comm = &run->trace->comms[call->comm];

    return comm->members != NULL && call->peer < comm->size ? comm->members[call->peer] : call->peer;
}

static iw_status fill_groups(struct linker *l)
{
    struct iwi_blamed_run *run = l->run;
    uint64_t count = 0;

    run->groups = iwi_new_array(run->log, (size_t)run->group_count, sizeof *run->groups);
    if (run->groups == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < iwi_run_calls(run); i++) {
        if (l->group[i] != UINT32_MAX) {
            run->groups[l->group[i]].count++;
            count++;
        }
    }
    run->members = iwi_new_array(run->log, (size_t)count, sizeof *run->members);
    if (run->members == NULL) {
        return IW_ERR_NOMEM;
    }
    count = 0;
    for (uint64_t g = 0; g < run->group_count; g++) {
        run->groups[g].first = count;
        run->groups[g].root = IWI_RUN_NONE;
        count += run->groups[g].count;
        run->groups[g].count = 0;
    }
    for (uint64_t i = 0; i < iwi_run_calls(run); i++) {
        if (l->group[i] != UINT32_MAX) {
            struct iwi_run_group *group = &run->groups[l->group[i]];

            run->members[group->first + group->count++] = i;
            if (run->rank_of[i] == root_of(run, iwi_run_call(run, i))) {
                group->root = i;
            }
        }
    }
    return IW_OK;
}

static iw_status find_groups(struct linker *l)
{
    struct iwi_index index = {0};
    iw_status status = number_groups(l, &index);

    l->run->group_count = index.count;
    iwi_index_release(&index);
    return status == IW_OK ? fill_groups(l) : status;
}

/* ---- what a call waits for ---- */

static int64_t latest_enter(const struct iwi_blamed_run *run, uint64_t dep, uint64_t *call_p)
{
    const struct iwi_run_group *group;
    int64_t latest_ns = INT64_MIN;

    *call_p = dep;
    if ((dep & IWI_RUN_IS_GROUP) == 0) {
        return run->enter_ns[dep];
    }
    group = &run->groups[dep & ~IWI_RUN_IS_GROUP];
    for (uint64_t i = 0; i < group->count; i++) {
        const uint64_t member = run->members[group->first + i];

        if (run->enter_ns[member] > latest_ns) {
            latest_ns = run->enter_ns[member];
            *call_p = member;
        }
    }
    return latest_ns;
}

/* What began after the call had ended was not waited for, whatever it is. */
static iw_status add_dep(struct linker *l, uint64_t call, uint64_t dep)
{
    struct iwi_blamed_run *run = l->run;
    uint64_t last;
    const int64_t enter_ns = latest_enter(run, dep, &last);

    if (enter_ns > run->leave_ns[call]) {
        run->unordered++;
        return IW_OK;
    }
    IW_TRY(iwi_grow(run->log, (void **)&run->deps, &l->dep_capacity, run->dep_count + 1, sizeof *run->deps));
    run->deps[run->dep_count++] = dep;
    if (enter_ns > run->start_ns[call] && run->rank_of[last] != run->rank_of[call]) {
        run->start_ns[call] = enter_ns;
        run->cause[call] = last;
    }
    return IW_OK;
}

/* What moves a large message on is in calls of both its ends: what the other one loses meanwhile may prolong
 * the call that is being linked. */
static iw_status need_progress(struct linker *l, uint64_t other)
{
    struct iwi_blamed_run *run = l->run;

    IW_TRY(iwi_grow(run->log, (void **)&run->helpers, &l->helper_capacity, run->helper_count + 1,
                    sizeof *run->helpers));
    run->helpers[run->helper_count++] = run->rank_of[other];
    return IW_OK;
}

/* Where a rank next goes on with messages: the first call that begins after that; IWI_RUN_NONE: it was in one
 * at that time, or there is none. */
static uint64_t next_progress(const struct iwi_blamed_run *run, uint32_t rank, int64_t at_ns)
{
    size_t at;

    IWI_FIRST_NOT(at, run->first[rank], run->first[rank + 1], run->enter_ns[at] <= at_ns);
    return at == run->first[rank + 1] || (at > run->first[rank] && run->leave_ns[at - 1] > at_ns)
               ? IWI_RUN_NONE
               : at;
}

static bool is_large(const struct iwi_blamed_run *run, uint64_t send)
{
    return iwi_run_call(run, send)->bytes >= LEAST_RENDEZVOUS_BYTES;
}

/* A large message goes when its receiver has posted it and is in some call: only where this happened while
 * the sender was in its own. */
static iw_status wait_for_receiver(struct linker *l, uint64_t call, uint64_t send)
{
    const struct iwi_blamed_run *run = l->run;
    const uint64_t receive = l->partner[send];
    uint64_t there;

    if (receive == IWI_NO_PARTNER || !is_large(run, send)) {
        return IW_OK;
    }
    IW_TRY(need_progress(l, receive));
    there = run->enter_ns[receive] > run->enter_ns[send]
                ? receive
                : next_progress(run, run->rank_of[receive], run->enter_ns[send]);
    return there != IWI_RUN_NONE && run->enter_ns[there] > run->enter_ns[call] &&
                   run->enter_ns[there] <= run->leave_ns[call]
               ? add_dep(l, call, there)
               : IW_OK;
}

static iw_status wait_for_sender(struct linker *l, uint64_t call, uint64_t receive)
{
    const uint64_t send = l->partner[receive];

    if (send == IWI_NO_PARTNER) {
        return IW_OK;
    }
    if (is_large(l->run, send)) {
        IW_TRY(need_progress(l, send));
    }
    return add_dep(l, call, send);
}

static iw_status wait_for_others(struct linker *l, uint64_t call, uint64_t collective)
{
    const struct iwi_blamed_run *run = l->run;
    const uint64_t number = l->group[collective];
    const uint64_t root = run->groups[number].root;

    switch (iwi_run_call(run, collective)->op) {
    case IWI_TRACE_BCAST:
    case IWI_TRACE_SCATTER:
        return root != collective && root != IWI_RUN_NONE ? add_dep(l, call, root) : IW_OK;
    case IWI_TRACE_REDUCE:
    case IWI_TRACE_GATHER: return root == collective ? add_dep(l, call, number | IWI_RUN_IS_GROUP) : IW_OK;
    default: return add_dep(l, call, number | IWI_RUN_IS_GROUP);
    }
}

static iw_status wait_for_request(struct linker *l, uint64_t call, uint64_t made)
{
    switch (iwi_run_call(l->run, made)->kind) {
    case IWI_CALL_IRECV: return wait_for_sender(l, call, made);
    case IWI_CALL_ISEND: return wait_for_receiver(l, call, made);
    case IWI_CALL_ICOLLECTIVE: return wait_for_others(l, call, made);
    default: return IW_OK;
    }
}

static iw_status link_call(struct linker *l, uint64_t i)
{
    const struct iwi_blamed_run *run = l->run;
    const struct iwi_call *call = iwi_run_call(run, i);
    const struct iwi_trace_rank *rank = &run->trace->ranks[run->rank_of[i]];

    switch (call != NULL ? call->kind : 0) {
    case IWI_CALL_RECV: return wait_for_sender(l, i, i);
    case IWI_CALL_SEND: return wait_for_receiver(l, i, i);
    case IWI_CALL_COLLECTIVE: return wait_for_others(l, i, i);
    case IWI_CALL_IRECV:
    case IWI_CALL_ISEND:
    case IWI_CALL_ICOLLECTIVE: l->made[call->request] = i; return IW_OK;
    case IWI_CALL_WAIT:
        for (uint32_t k = 0; k < call->request_count; k++) {
            IW_TRY(wait_for_request(l, i, l->made[rank->completed[call->request + k]]));
        }
        return IW_OK;
    default: return IW_OK;
    }
}

static iw_status link_calls(struct linker *l)
{
    struct iwi_blamed_run *run = l->run;

    for (uint32_t r = 0; r < run->trace->rank_count; r++) {
        for (uint64_t i = run->first[r]; i < run->first[r + 1]; i++) {
            run->first_dep[i] = run->dep_count;
            run->first_helper[i] = run->helper_count;
            IW_TRY(link_call(l, i));
        }
    }
    run->first_dep[iwi_run_calls(run)] = run->dep_count;
    run->first_helper[iwi_run_calls(run)] = run->helper_count;
    return IW_OK;
}

/* ---- all of it ---- */

static uint32_t most_requests(const struct iwi_blamed_run *run)
{
    uint32_t most = 0;

    for (uint32_t r = 0; r < run->trace->rank_count; r++) {
        most = run->trace->ranks[r].request_count > most ? run->trace->ranks[r].request_count : most;
    }
    return most;
}

static iw_status prepare(struct linker *l)
{
    struct iwi_blamed_run *run = l->run;
    const uint64_t count = iwi_run_calls(run);

    l->partner = iwi_new_array(run->log, count, sizeof *l->partner);
    l->group = iwi_new_array(run->log, count, sizeof *l->group);
    l->made = iwi_new_array(run->log, most_requests(run), sizeof *l->made);
    run->first_dep = iwi_new_array(run->log, count + 1, sizeof *run->first_dep);
    run->first_helper = iwi_new_array(run->log, count + 1, sizeof *run->first_helper);
    if (l->partner == NULL || l->group == NULL || l->made == NULL || run->first_dep == NULL ||
        run->first_helper == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < count; i++) {
        l->group[i] = UINT32_MAX;
    }
    return IW_OK;
}

iw_status iwi_run_link(struct iwi_blamed_run *run)
{
    struct linker l = {.run = run};
    iw_status status = prepare(&l);

    status = status == IW_OK
                 ? iwi_trace_pair_messages(run->log, run->trace, run->first, l.partner, iwi_run_calls(run))
                 : status;
    status = status == IW_OK ? find_groups(&l) : status;
    status = status == IW_OK ? link_calls(&l) : status;
    status = status == IW_OK ? iwi_run_find_alike(run) : status;
    free(l.partner);
    free(l.group);
    free(l.made);
    return status;
}
