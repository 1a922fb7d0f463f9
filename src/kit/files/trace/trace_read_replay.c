/* In which order messages can have been sent, where clocks of ranks cannot be compared: the program is run
 * through once, without times, one call of each rank after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A receive without source goes on when so many messages without receive were sent to its rank as receives
 * before it must have had one. Since the traced run got to its end, so does this one, unless it waits too
 * strictly: sends wait for their receives, and collectives for all members. When nothing goes on, one of
 * these is let pass.
 */
#include "kit/files/trace/trace_read_replay.h"

#include <stdlib.h>

struct replay {
    const struct iw_trace *trace;
    struct iwi_message_end **links;
    uint64_t *next;       /* of each rank: the call that it is in */
    bool *has_arrived;    /* of each rank: at that call, seen before */
    iw_time *elapsed_ps;  /* of each rank */
    uint64_t *sent;       /* to each rank: messages without receive */
    uint64_t *posted;     /* by each rank: receives without source */
    uint64_t *generation; /* of each communicator: collectives that all members reached */
    uint64_t *reached;    /* of each rank: the generation at which it came to its collective */
    uint32_t *arrived;    /* of each communicator: members that wait in a collective */
    uint64_t **makers;    /* of each rank: the calls that made its requests */
    uint64_t sequence;
};

static bool is_received(const struct replay *r, uint32_t rank, uint64_t call)
{
    const struct iwi_message_end *link = &r->links[rank][call];

    return link->rank == IWI_LINK_NONE ||
           (link->rank == IWI_LINK_POOL ? r->sent[rank] > link->call : r->next[link->rank] > link->call);
}

static bool is_waited_for(const struct replay *r, uint32_t rank, const struct iwi_call *wait)
{
    for (uint32_t i = 0; i < wait->request_count; i++) {
        const uint64_t maker = r->makers[rank][r->trace->ranks[rank].completed[wait->request + i]];

        if (r->trace->ranks[rank].calls[maker].kind == IWI_CALL_IRECV && !is_received(r, rank, maker)) {
            return false;
        }
    }
    return true;
}

static bool is_taken(const struct replay *r, uint32_t rank, const struct iwi_call *send)
{
    const struct iwi_message_end *link = &r->links[rank][r->next[rank]];

    return link->rank == IWI_LINK_NONE ||
           (link->rank == IWI_LINK_POOL ? r->posted[send->peer] > r->sent[send->peer]
                                        : r->next[link->rank] >= link->call);
}

/* What a rank does when it comes to a call, before it may have to wait there. */
static void arrive(struct replay *r, uint32_t rank, const struct iwi_call *call)
{
    r->has_arrived[rank] = true;
    if (call->kind == IWI_CALL_RECV && r->links[rank][r->next[rank]].rank == IWI_LINK_POOL) {
        r->posted[rank]++;
    } else if (call->kind == IWI_CALL_COLLECTIVE) {
        r->reached[rank] = r->generation[call->comm];
        if (++r->arrived[call->comm] == r->trace->comms[call->comm].size) {
            r->arrived[call->comm] = 0;
            r->generation[call->comm]++;
        }
    }
}

static bool may_go_on(const struct replay *r, uint32_t rank, const struct iwi_call *call)
{
    switch (call->kind) {
    case IWI_CALL_RECV: return is_received(r, rank, r->next[rank]);
    case IWI_CALL_WAIT: return is_waited_for(r, rank, call);
    case IWI_CALL_SEND: return is_taken(r, rank, call);
    case IWI_CALL_COLLECTIVE: return r->generation[call->comm] > r->reached[rank];
    default: return true;
    }
}

static void go_on(struct replay *r, uint32_t rank, const struct iwi_call *call)
{
    struct iwi_message_end *link = &r->links[rank][r->next[rank]];

    if (link->rank == IWI_LINK_POOL) {
        if (call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND) {
            link->call = r->sequence++;
            r->sent[call->peer]++;
        } else if (call->kind == IWI_CALL_IRECV) {
            r->posted[rank]++;
        }
    }
    r->elapsed_ps[rank] += call->compute_wall_ps + call->call_ps;
    r->next[rank]++;
    r->has_arrived[rank] = false;
}

/* One call of each rank that may go on; false if none may. */
static bool step(struct replay *r)
{
    bool has_moved = false;

    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        const struct iwi_trace_rank *calls = &r->trace->ranks[rank];
        const struct iwi_call *call;

        if (r->next[rank] == calls->call_count) {
            continue;
        }
        call = &calls->calls[r->next[rank]];
        if (!r->has_arrived[rank]) {
            arrive(r, rank, call);
        }
        if (may_go_on(r, rank, call)) {
            go_on(r, rank, call);
            has_moved = true;
        }
    }
    return has_moved;
}

/* Which of the waiting ranks is let pass first. */
static int strictness(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_SEND ? 2 : (call->kind == IWI_CALL_COLLECTIVE ? 1 : 0);
}

/* Lets one rank pass, the earliest of those that wait the least surely; false if all are at their ends. */
static bool force(struct replay *r)
{
    uint32_t chosen = UINT32_MAX;
    int best = -1;

    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        const struct iwi_trace_rank *calls = &r->trace->ranks[rank];
        int now;

        if (r->next[rank] == calls->call_count) {
            continue;
        }
        now = strictness(&calls->calls[r->next[rank]]);
        if (now > best || (now == best && r->elapsed_ps[rank] < r->elapsed_ps[chosen])) {
            best = now;
            chosen = rank;
        }
    }
    if (chosen == UINT32_MAX) {
        return false;
    }
    go_on(r, chosen, &r->trace->ranks[chosen].calls[r->next[chosen]]);
    return true;
}

static iw_status find_makers(const iw_log *log, struct replay *r)
{
    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        const struct iwi_trace_rank *calls = &r->trace->ranks[rank];

        r->makers[rank] = iwi_new_array(log, calls->request_count, sizeof **r->makers);
        if (r->makers[rank] == NULL) {
            return IW_ERR_NOMEM;
        }
        for (uint64_t i = 0; i < calls->call_count; i++) {
            const uint8_t kind = calls->calls[i].kind;

            if (kind == IWI_CALL_ISEND || kind == IWI_CALL_IRECV || kind == IWI_CALL_ICOLLECTIVE) {
                r->makers[rank][calls->calls[i].request] = i;
            }
        }
    }
    return IW_OK;
}

static iw_status prepare(const iw_log *log, struct replay *r)
{
    const size_t ranks = r->trace->rank_count, comms = r->trace->comm_count;

    r->next = iwi_new_array(log, ranks, sizeof *r->next);
    r->has_arrived = iwi_new_array(log, ranks, sizeof *r->has_arrived);
    r->elapsed_ps = iwi_new_array(log, ranks, sizeof *r->elapsed_ps);
    r->sent = iwi_new_array(log, ranks, sizeof *r->sent);
    r->posted = iwi_new_array(log, ranks, sizeof *r->posted);
    r->reached = iwi_new_array(log, ranks, sizeof *r->reached);
    r->generation = iwi_new_array(log, comms, sizeof *r->generation);
    r->arrived = iwi_new_array(log, comms, sizeof *r->arrived);
    r->makers = iwi_new_array(log, ranks, sizeof *r->makers);
    if (r->next == NULL || r->has_arrived == NULL || r->elapsed_ps == NULL || r->sent == NULL ||
        r->posted == NULL || r->reached == NULL || r->generation == NULL || r->arrived == NULL ||
        r->makers == NULL) {
        return IW_ERR_NOMEM;
    }
    return find_makers(log, r);
}

static void release(struct replay *r)
{
    for (uint32_t rank = 0; r->makers != NULL && rank < r->trace->rank_count; rank++) {
        free(r->makers[rank]);
    }
    free(r->next);
    free(r->has_arrived);
    free(r->elapsed_ps);
    free(r->sent);
    free(r->posted);
    free(r->reached);
    free(r->generation);
    free(r->arrived);
    free(r->makers);
}

iw_status iwi_trace_replay(const iw_log *log, const struct iw_trace *trace, struct iwi_message_end **links)
{
    struct replay r = {.trace = trace, .links = links};
    const iw_status status = prepare(log, &r);

    while (status == IW_OK && (step(&r) || force(&r))) {
    }
    release(&r);
    return status;
}
