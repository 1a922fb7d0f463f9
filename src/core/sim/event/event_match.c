/* The event engine's message side: matching, and what it tells sender and receiver (rules 5 and 7).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * On a rank without wildcards the k-th send meets the k-th receive of the same source and tag, whatever
 * arrives first; so a message can be matched as soon as it is sent. On a rank with wildcards messages
 * are matched when they are noticed: in the order (time, source, sequence), without overtaking in a pair.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/event/event_state.h"

static iw_status event_there(struct event_run *run, size_t index, iw_time arrival);

/* The event engine's NICs with queues (docs/explanation/semantics.md, rule 12): messages that leave a node
 * wait for a NIC of theirs in the order of time, and for one of their receiver's.
 */

static size_t nic_of(const struct event_run *run, uint32_t rank)
{
    const struct event_nics *nics = &run->nics;
    const uint32_t place = iwi_level_place(&run->job->levels, rank);

    return (size_t)(place / nics->ranks) * nics->rails + place % nics->ranks % nics->rails;
}

static size_t count_nics(const struct event_run *run)
{
    size_t count = 0;

    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        const size_t nic = nic_of(run, rank);

        count = nic >= count ? nic + 1 : count;
    }
    return count;
}

iw_status iwi_event_nics_init(struct event_run *run)
{
    const iw_net *net = run->job->net;
    struct event_nics *nics = &run->nics;
    size_t count;

    if (!iwi_net_has_queues(net)) {
        return IW_OK;
    }
    nics->level = net->nics.node_level;
    nics->ranks = net->inner[nics->level].ranks;
    nics->rails = net->nics.has_rails ? net->nics.count : 1;
    nics->G = net->nics.has_rails ? net->nics.G : llround((double)net->nics.G / net->nics.count);
    count = count_nics(run);
    nics->out = iwi_new_array(run->log, count, sizeof *nics->out);
    nics->in = iwi_new_array(run->log, count, sizeof *nics->in);
    if (run->paths != NULL) {
        nics->out_path = iwi_new_array(run->log, count, sizeof *nics->out_path);
        nics->in_path = iwi_new_array(run->log, count, sizeof *nics->in_path);
    }
    return nics->out != NULL && nics->in != NULL &&
                   (run->paths == NULL || (nics->out_path != NULL && nics->in_path != NULL))
               ? IW_OK
               : IW_ERR_NOMEM;
}

void iwi_event_nics_release(struct event_nics *nics)
{
    free(nics->out);
    free(nics->in);
    free(nics->out_path);
    free(nics->in_path);
}

/* From `time` on the message could leave its node; `path` leads there, or is NULL. */
static iw_status event_to_nic(struct event_run *run, size_t message, iw_time time, const iw_split *path)
{
    const struct event_message *leaving = &run->messages[message];

    if (path != NULL) {
        run->paths->on_way[leaving->send] = *path;
    }
    return iwi_event_at(run, time, IWI_EVENT_NIC_OUT, leaving->source, message);
}

/* A message takes its turn at a NIC that is free from *free_p on: who waits has been led there by who was
 * before. Returns when its first byte passes. `path` is that of the message, or NULL. */
static iw_time take_turn(struct event_run *run, uint64_t send, iw_time *free_p, iw_split *free_path,
                         iw_split *path)
{
    const struct iwi_cost cost = iwi_event_cost(run, send);
    const uint64_t bytes = run->schedule->nodes[send].amount;
    const iw_time busy = iwi_bytes_cost(run->nics.G, bytes > 0 ? bytes - 1 : 0);
    const iw_time start = iwi_max(run->now, *free_p);

    if (path != NULL) {
        *path = path_of_later(run->now, path, *free_p, free_path);
        *free_path = *path;
        iwi_path_add(free_path, &cost, IW_PART_BYTES, busy);
    }
    *free_p = start + busy;
    run->is_too_late |= *free_p >= IWI_LATEST;
    return start;
}

iw_status iwi_event_nic_out(struct event_run *run, size_t message)
{
    const struct event_message *leaving = &run->messages[message];
    const struct iwi_cost cost = iwi_event_cost(run, leaving->send);
    const iw_time latency = cost.wire - cost.bytes_part;
    const size_t nic = nic_of(run, leaving->source);
    iw_split *path = run->paths == NULL ? NULL : &run->paths->on_way[leaving->send];
    const iw_time start = take_turn(run, leaving->send, &run->nics.out[nic],
                                    path == NULL ? NULL : &run->nics.out_path[nic], path);

    if (path != NULL) {
        iwi_path_add(path, &cost, IW_PART_LATENCY, latency);
        path->hops++;
    }
    return iwi_event_at(run, start + latency, IWI_EVENT_NIC_IN, leaving->source, message);
}

iw_status iwi_event_nic_in(struct event_run *run, size_t message)
{
    const struct event_message *coming = &run->messages[message];
    const struct iwi_cost cost = iwi_event_cost(run, coming->send);
    const size_t nic = nic_of(run, run->schedule->nodes[coming->send].peer);
    iw_split *path = run->paths == NULL ? NULL : &run->paths->on_way[coming->send];
    const iw_time start =
        take_turn(run, coming->send, &run->nics.in[nic], path == NULL ? NULL : &run->nics.in_path[nic], path);
    const struct event_node *send = &run->nodes[coming->send];
    const iw_time delay =
        iwi_event_delay(run, coming->send, IWI_CARRIED_DATA, cost.is_rendezvous ? send->known : send->sent);

    if (path != NULL) {
        iwi_path_add(path, &cost, IW_PART_BYTES, cost.bytes_part);
        path->part_ps[IW_PART_NETWORK] += delay;
    }
    return event_there(run, message, start + cost.bytes_part + delay);
}

static bool accepts(const struct iwi_node *recv, const struct event_message *message)
{
    return (recv->peer == IWI_ANY || recv->peer == message->source) &&
           (recv->tag == IWI_ANY || message->tag == IWI_ANY || recv->tag == message->tag);
}

static iw_status push_arrived(struct event_run *run, uint64_t node, iw_time time)
{
    return iwi_event_at(run, time, IWI_EVENT_ARRIVED, run->rank_of[node], node);
}

/* Of the request of a rendezvous, which an ideal one has not, like the answer. */
static iw_time request_delay(const struct event_run *run, uint64_t send)
{
    return run->job->rendezvous == IW_RENDEZVOUS_IDEAL
               ? 0
               : iwi_event_delay(run, send, IWI_CARRIED_REQUEST, run->nodes[send].sent);
}

/* Of the answer of a receiver who has known since `known`. */
static iw_time answer_delay(const struct event_run *run, uint64_t send, const struct iwi_cost *cost,
                            iw_time known)
{
    return run->job->rendezvous == IW_RENDEZVOUS_IDEAL
               ? 0
               : iwi_event_delay(run, send, IWI_CARRIED_ANSWER,
                                 known + cost->costs->o_recv_ps + cost->costs->o_send_ps);
}

/* The path to the instant at which the message of `send` can be seen. */
static iw_split path_to_notice(const struct event_run *run, uint64_t send)
{
    const struct iwi_job *job = run->job;
    const struct iwi_cost cost = iwi_event_cost(run, send);
    iw_split path = run->paths->sent[send];

    if (cost.is_rendezvous) {
        iwi_path_add(&path, &cost, IW_PART_RENDEZVOUS, iwi_cost_notice(cost.costs, job->rendezvous));
        path.part_ps[IW_PART_NETWORK] += request_delay(run, send);
    } else if (iwi_event_has_nic(run, send)) {
        path = run->paths->on_way[send];
    } else {
        iwi_path_add_wire(&path, &cost);
        path.part_ps[IW_PART_NETWORK] += iwi_event_delay(run, send, IWI_CARRIED_DATA, run->nodes[send].sent);
    }
    return path;
}

/* How sender and receiver got to know what meet() tells them. Returns the path to the start of a transfer, or
 * to the arrival of what came without one. */
static iw_split explain_meeting(struct event_run *run, uint64_t recv, const struct event_message *message,
                                const struct iwi_cost *cost)
{
    const iw_time posted = run->nodes[recv].posted;
    const bool is_late_receive = posted > message->notice;
    iw_split path = path_to_notice(run, message->noticed_with);

    if (cost->is_rendezvous) {
        path = is_late_receive ? run->paths->posted[recv] : path;
        iwi_path_add(&path, cost, IW_PART_RENDEZVOUS, iwi_cost_handshake(cost->costs, run->job->rendezvous));
        path.part_ps[IW_PART_NETWORK] +=
            answer_delay(run, message->send, cost, iwi_max(message->notice, posted));
        run->paths->known[message->send] = path;
        run->paths->known[message->send].hops += is_late_receive; /* the receiver's readiness came across */
    }
    run->paths->known[recv] = path;
    if (cost->is_rendezvous) {
        iwi_path_add_wire(&run->paths->known[recv], cost);
        run->paths->known[recv].part_ps[IW_PART_NETWORK] +=
            iwi_event_delay(run, message->send, IWI_CARRIED_DATA, run->nodes[message->send].known);
    }
    return path;
}

/* Receive and message have found each other: both sides learn the rest. */
static iw_status meet(struct event_run *run, uint64_t recv, struct event_message *message)
{
    const uint64_t bytes = run->schedule->nodes[message->send].amount;
    const struct iwi_cost cost = iwi_event_cost(run, message->send);
    struct event_node *receive = &run->nodes[recv];
    struct event_node *send = &run->nodes[message->send];
    iw_split path;

    receive->bytes = bytes;
    receive->level = iwi_level_between(&run->job->levels, message->source, run->rank_of[recv]);
    if (message->is_under_way) {
        message->recv = recv;
        return IW_OK;
    }
    if (cost.is_rendezvous) {
        const iw_time both = iwi_max(message->notice, receive->posted);

        send->known = both + iwi_cost_handshake(cost.costs, run->job->rendezvous) +
                      answer_delay(run, message->send, &cost, both);
    }
    if (run->paths != NULL) {
        path = explain_meeting(run, recv, message, &cost);
    }
    if (cost.is_rendezvous) {
        receive->known =
            send->known + cost.wire + iwi_event_delay(run, message->send, IWI_CARRIED_DATA, send->known);
        IW_TRY(push_arrived(run, message->send, send->known));
        if (iwi_event_has_nic(run, message->send)) {
            message->is_under_way = true;
            message->recv = recv;
            return event_to_nic(run, (size_t)(message - run->messages), send->known,
                                run->paths == NULL ? NULL : &path);
        }
    } else {
        receive->known = message->arrival;
    }
    return push_arrived(run, recv, receive->known);
}

static void append_unexpected(struct event_run *run, struct event_rank *rank, size_t message)
{
    run->messages[message].link = IWI_NO_MESSAGE;
    if (rank->unexpected_head == IWI_NO_MESSAGE) {
        rank->unexpected_head = message;
    } else {
        run->messages[rank->unexpected_tail].link = message;
    }
    rank->unexpected_tail = message;
}

iw_status iwi_event_notice(struct event_run *run, size_t message)
{
    struct event_message *arriving = &run->messages[message];
    struct event_rank *rank = &run->ranks[run->schedule->nodes[arriving->send].peer];
    uint64_t previous = IWI_NO_NODE;

    for (uint64_t recv = rank->posted_head; recv != IWI_NO_NODE; recv = run->nodes[recv].link) {
        if (accepts(&run->schedule->nodes[recv], arriving)) {
            if (previous == IWI_NO_NODE) {
                rank->posted_head = run->nodes[recv].link;
            } else {
                run->nodes[previous].link = run->nodes[recv].link;
            }
            if (rank->posted_tail == recv) {
                rank->posted_tail = previous;
            }
            return meet(run, recv, arriving);
        }
        previous = recv;
    }
    append_unexpected(run, rank, message);
    return IW_OK;
}

static void append_posted(struct event_run *run, struct event_rank *rank, uint64_t recv)
{
    run->nodes[recv].link = IWI_NO_NODE;
    if (rank->posted_head == IWI_NO_NODE) {
        rank->posted_head = recv;
    } else {
        run->nodes[rank->posted_tail].link = recv;
    }
    rank->posted_tail = recv;
}

iw_status iwi_event_post(struct event_run *run, uint64_t recv)
{
    struct event_rank *rank = &run->ranks[run->rank_of[recv]];
    size_t previous = IWI_NO_MESSAGE;

    run->nodes[recv].ready = run->now;
    if (run->paths != NULL) {
        run->paths->posted[recv] = run->paths->ready[recv];
    }
    run->nodes[recv].posted =
        iwi_event_post_time(run, recv, run->paths == NULL ? NULL : &run->paths->posted[recv]);
    for (size_t message = rank->unexpected_head; message != IWI_NO_MESSAGE;
         message = run->messages[message].link) {
        if (accepts(&run->schedule->nodes[recv], &run->messages[message])) {
            if (previous == IWI_NO_MESSAGE) {
                rank->unexpected_head = run->messages[message].link;
            } else {
                run->messages[previous].link = run->messages[message].link;
            }
            if (rank->unexpected_tail == message) {
                rank->unexpected_tail = previous;
            }
            return meet(run, recv, &run->messages[message]);
        }
        previous = message;
    }
    append_posted(run, rank, recv);
    return IW_OK;
}

static size_t pair_slot(const struct event_pair *pairs, size_t capacity, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);

    while (pairs[slot].key != 0 && pairs[slot].key != key) {
        slot = (slot + 1) & (capacity - 1);
    }
    return slot;
}

static iw_status grow_pairs(struct event_run *run)
{
    const size_t capacity = run->pair_capacity == 0 ? 64 : 2 * run->pair_capacity;
    struct event_pair *pairs = iwi_new_array(run->log, capacity, sizeof *pairs);

    if (pairs == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < run->pair_capacity; i++) {
        if (run->pairs[i].key != 0) {
            pairs[pair_slot(pairs, capacity, run->pairs[i].key)] = run->pairs[i];
        }
    }
    free(run->pairs);
    run->pairs = pairs;
    run->pair_capacity = capacity;
    return IW_OK;
}

static iw_status find_pair(struct event_run *run, uint32_t source, uint32_t destination,
                           struct event_pair **pair_p)
{
    const uint64_t key = (uint64_t)source * run->schedule->ranks + destination + 1;
    struct event_pair *pair;

    if (2 * (run->pair_count + 1) > run->pair_capacity) {
        IW_TRY(grow_pairs(run));
    }
    pair = &run->pairs[pair_slot(run->pairs, run->pair_capacity, key)];
    if (pair->key == 0) {
        *pair = (struct event_pair){.key = key, .notice = INT64_MIN, .first = IWI_NO_MESSAGE};
        run->pair_count++;
    }
    *pair_p = pair;
    return IW_OK;
}

/* A message is not noticed before an earlier one of the same pair. */
static void keep_pair_order(struct event_pair *pair, struct event_message *message)
{
    if (message->notice < pair->notice) {
        message->notice = pair->notice;
        message->noticed_with = pair->noticed_with;
    }
    message->arrival = iwi_max(message->arrival, message->notice);
    pair->notice = message->notice;
    pair->noticed_with = message->noticed_with;
}

/* Those will be noticed that wait for no message under way before them. */
static iw_status notice_in_turn(struct event_run *run, struct event_pair *pair)
{
    while (pair->first != IWI_NO_MESSAGE && !run->messages[pair->first].is_under_way) {
        const size_t index = pair->first;
        struct event_message *message = &run->messages[index];

        pair->first = message->link;
        keep_pair_order(pair, message);
        IW_TRY(iwi_event_at(run, message->notice, IWI_EVENT_NOTICE, message->source, index));
    }
    return IW_OK;
}

static iw_status append_to_pair(struct event_run *run, size_t index, uint32_t destination)
{
    struct event_message *message = &run->messages[index];
    struct event_pair *pair;

    IW_TRY(find_pair(run, message->source, destination, &pair));
    message->link = IWI_NO_MESSAGE;
    if (pair->first == IWI_NO_MESSAGE) {
        pair->first = index;
    } else {
        run->messages[pair->last].link = index;
    }
    pair->last = index;
    return notice_in_turn(run, pair);
}

iw_status iwi_event_message(struct event_run *run, uint64_t send)
{
    const struct iwi_node *node = &run->schedule->nodes[send];
    const struct iwi_cost cost = iwi_event_cost(run, send);
    const iw_time sent = run->nodes[send].sent;
    const size_t index = run->message_count;
    struct event_message message = {.send = send,
                                    .source = run->rank_of[send],
                                    .tag = node->tag,
                                    .arrival =
                                        sent + cost.wire + iwi_event_delay(run, send, IWI_CARRIED_DATA, sent),
                                    .is_under_way = !cost.is_rendezvous && iwi_event_has_nic(run, send),
                                    .recv = IWI_NO_NODE,
                                    .noticed_with = send};
    void *messages = run->messages;

    message.notice = cost.is_rendezvous
                         ? sent + iwi_cost_notice(cost.costs, run->job->rendezvous) + request_delay(run, send)
                         : message.arrival;
    IW_TRY(iwi_grow(run->log, &messages, &run->message_capacity, index + 1, sizeof message));
    run->messages = messages;
    run->messages[index] = message;
    run->message_count++;
    if (message.is_under_way) {
        IW_TRY(event_to_nic(run, index, sent, run->paths == NULL ? NULL : &run->paths->sent[send]));
    }
    return run->ranks[node->peer].has_wildcards ? append_to_pair(run, index, node->peer)
                                                : iwi_event_notice(run, index);
}

/* NICs have said when a message arrives, now or later. */
static iw_status event_there(struct event_run *run, size_t index, iw_time arrival)
{
    struct event_message *message = &run->messages[index];
    const uint32_t destination = run->schedule->nodes[message->send].peer;
    struct event_pair *pair;

    message->arrival = arrival;
    message->is_under_way = false;
    if (message->recv != IWI_NO_NODE) {
        run->nodes[message->recv].known = arrival;
        if (run->paths != NULL) {
            run->paths->known[message->recv] = run->paths->on_way[message->send];
        }
        return push_arrived(run, message->recv, arrival);
    }
    message->notice = arrival;
    if (!run->ranks[destination].has_wildcards) {
        return IW_OK; /* its receive is not posted yet */
    }
    IW_TRY(find_pair(run, message->source, destination, &pair));
    return notice_in_turn(run, pair);
}
