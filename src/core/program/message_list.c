/* Collectives whose messages are stored.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/message_list.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/lookup.h"
#include "core/program/collectives/rounds.h"
#include "core/program/message_pairs.h"

void iwi_message_list_free(struct iwi_message_list *list)
{
    if (list != NULL) {
        free(list->first_send);
        free(list->first_recv);
        free(list->sends);
        free(list->recvs);
        free(list);
    }
}

iw_status iwi_message_list_new(const iw_log *log, uint32_t ranks, const uint32_t *counts,
                               struct iwi_message_list **list_p)
{
    struct iwi_message_list *list = iwi_new_array(log, 1, sizeof *list);

    if (list == NULL) {
        return IW_ERR_NOMEM;
    }
    list->ranks = ranks;
    list->first_send = iwi_new_array(log, (size_t)ranks + 1, sizeof *list->first_send);
    list->first_recv = iwi_new_array(log, (size_t)ranks + 1, sizeof *list->first_recv);
    if (list->first_send == NULL || list->first_recv == NULL) {
        iwi_message_list_free(list);
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        list->first_send[rank + 1] = list->first_send[rank] + counts[rank];
    }
    list->sends = iwi_new_array(log, (size_t)list->first_send[ranks], sizeof *list->sends);
    list->recvs = iwi_new_array(log, (size_t)list->first_send[ranks], sizeof *list->recvs);
    if (list->sends == NULL || list->recvs == NULL) {
        iwi_message_list_free(list);
        return IW_ERR_NOMEM;
    }
    *list_p = list;
    return IW_OK;
}

static void measure(struct iwi_message_list *list)
{
    for (uint32_t rank = 0; rank < list->ranks; rank++) {
        const uint64_t sends = list->first_send[rank + 1] - list->first_send[rank];
        const uint64_t recvs = list->first_recv[rank + 1] - list->first_recv[rank];

        list->fan = (uint32_t)(sends > list->fan ? sends : list->fan);
        list->fan = (uint32_t)(recvs > list->fan ? recvs : list->fan);
    }
    for (uint64_t i = 0; i < list->first_send[list->ranks]; i++) {
        const uint64_t bytes = list->sends[i].bytes;

        list->largest_bytes = bytes > list->largest_bytes ? bytes : list->largest_bytes;
    }
}

/* In the order of senders: messages between two ranks keep theirs. */
iw_status iwi_message_list_finish(const iw_log *log, struct iwi_message_list *list)
{
    const uint64_t count = list->first_send[list->ranks];
    uint64_t *next = iwi_new_array(log, list->ranks, sizeof *next);

    if (next == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < count; i++) {
        list->first_recv[list->sends[i].peer + 1]++;
    }
    for (uint32_t rank = 0; rank < list->ranks; rank++) {
        next[rank] = list->first_recv[rank];
        list->first_recv[rank + 1] += list->first_recv[rank];
    }
    for (uint32_t rank = 0; rank < list->ranks; rank++) {
        for (uint64_t i = list->first_send[rank]; i < list->first_send[rank + 1]; i++) {
            struct iwi_msg *send = &list->sends[i];

            send->slot = (uint32_t)(i - list->first_send[rank]);
            list->recvs[next[send->peer]++] = (struct iwi_msg){rank, send->slot, send->bytes};
        }
    }
    free(next);
    measure(list);
    return IW_OK;
}

/* ---- at once ---- */

static uint64_t linear_rounds(const struct iwi_operation *op)
{
    return op->messages->fan > 0;
}

static uint64_t linear_messages(const struct iwi_operation *op)
{
    return op->messages->first_send[op->messages->ranks] * (op->ranks / op->messages->ranks);
}

static void linear_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
    round->fan = op->messages->fan;
}

static void linear_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct iwi_message_list *x = op->messages;
    const uint32_t own = rank % x->ranks, first = rank - own;

    (void)index;
    iwi_role_clear(role);
    for (uint64_t i = x->first_send[own]; i < x->first_send[own + 1]; i++) {
        iwi_role_send(role, first + x->sends[i].peer, x->sends[i].bytes);
    }
    for (uint64_t i = x->first_recv[own]; i < x->first_recv[own + 1]; i++) {
        iwi_role_recv(role, first + x->recvs[i].peer, x->recvs[i].slot, x->recvs[i].bytes);
    }
}

const struct iwi_algorithm iwi_messages_linear = {
    .kind = IWI_MESSAGES,
    .name = "linear",
    .summary = "stored messages, all posted at once",
    .round_count = linear_rounds,
    .message_count = linear_messages,
    .round = linear_round,
    .role = linear_role,
};

/* ---- around a ring ---- */

static void ring_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    (void)index;
    iwi_round_all(round, op->ranks);
}

static void ring_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t behind = (uint32_t)index % op->ranks;
    const uint32_t sent = iwi_virtual_of_rank(op->ranks, behind, rank);

    iwi_role_ring(role, op->ranks, rank, op->messages->sends[sent].bytes,
                  op->messages->sends[iwi_virtual_of_rank(op->ranks, 1, sent)].bytes);
}

const struct iwi_algorithm iwi_messages_ring = {
    .kind = IWI_MESSAGES,
    .name = "ring",
    .summary = "stored blocks, passed around",
    .round_count = iwi_other_ranks,
    .message_count = iwi_all_send_messages,
    .round = ring_round,
    .role = ring_role,
};

/* Pairs the sends and receives of a trace. */

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
