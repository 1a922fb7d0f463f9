/* Pairs the sends and receives of a trace.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/message_pairs.h"

#include <stdlib.h>

#include "core/base/lookup.h"

struct pairing {
    const iw_log *log;
    const struct iw_trace *trace;
    const uint64_t *first;
    uint64_t *partner;
    struct iwi_index keys;
    uint64_t *next;            /* of each send: the one behind it in its queue */
    uint64_t *oldest, *newest; /* of each key: sends that wait for their receive */
    size_t oldest_capacity, newest_capacity;
};

static bool is_send(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND;
}

static bool is_receive(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_RECV || call->kind == IWI_CALL_IRECV;
}

static iw_status number_of(struct pairing *p, uint32_t from, uint32_t to, const struct iwi_call *call,
                           uint32_t *number_p)
{
    const uint32_t before = p->keys.count;
    const struct iwi_index_key key = {(uint64_t)from << 32 | to,
                                      (uint64_t)call->comm << 32 | (uint32_t)call->tag};

    IW_TRY(iwi_index_number(p->log, &p->keys, key, number_p));
    if (p->keys.count > before) {
        IW_TRY(iwi_grow(p->log, (void **)&p->newest, &p->newest_capacity, p->keys.count, sizeof *p->newest));
        IW_TRY(iwi_grow(p->log, (void **)&p->oldest, &p->oldest_capacity, p->keys.count, sizeof *p->oldest));
        p->newest[*number_p] = p->oldest[*number_p] = IWI_NO_PARTNER;
    }
    return IW_OK;
}

/* Messages of the same sender, receiver, communicator and tag arrive in the order in which they were sent. */
static iw_status queue_send(struct pairing *p, uint32_t rank, const struct iwi_call *call, uint64_t send)
{
    uint32_t number;

    IW_TRY(number_of(p, rank, call->peer, call, &number));
    if (p->oldest[number] == IWI_NO_PARTNER) {
        p->oldest[number] = send;
    } else {
        p->next[p->newest[number]] = send;
    }
    p->newest[number] = send;
    return IW_OK;
}

static iw_status match_receive(struct pairing *p, uint32_t rank, const struct iwi_call *call,
                               uint64_t receive)
{
    uint32_t number;
    uint64_t send;

    IW_TRY(number_of(p, call->peer, rank, call, &number));
    send = p->oldest[number];
    if (send != IWI_NO_PARTNER) {
        p->partner[receive] = send;
        p->partner[send] = receive;
        p->oldest[number] = p->next[send];
    }
    return IW_OK;
}

static iw_status walk(struct pairing *p, bool (*is_meant)(const struct iwi_call *call),
                      iw_status (*take)(struct pairing *p, uint32_t rank, const struct iwi_call *call,
                                        uint64_t number))
{
    for (uint32_t r = 0; r < p->trace->rank_count; r++) {
        for (uint64_t i = 0; i < p->trace->ranks[r].call_count; i++) {
            const struct iwi_call *call = &p->trace->ranks[r].calls[i];

            if (is_meant(call)) {
                IW_TRY(take(p, r, call, p->first[r] + i));
            }
        }
    }
    return IW_OK;
}

iw_status iwi_trace_pair_messages(const iw_log *log, const struct iw_trace *trace, const uint64_t *first,
                                  uint64_t *partner, uint64_t count)
{
    struct pairing p = {.log = log, .trace = trace, .first = first, .partner = partner};
    iw_status status;

    p.next = iwi_new_array(log, (size_t)count, sizeof *p.next);
    if (p.next == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < count; i++) {
        partner[i] = p.next[i] = IWI_NO_PARTNER;
    }
    status = walk(&p, is_send, queue_send);
    status = status == IW_OK ? walk(&p, is_receive, match_receive) : status;
    iwi_index_release(&p.keys);
    free(p.next);
    free(p.newest);
    free(p.oldest);
    return status;
}
