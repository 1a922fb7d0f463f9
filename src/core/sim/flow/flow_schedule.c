/* The flow engine on stored in-order schedules: ranks take turns until nobody can go on.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without wildcards the k-th send meets the k-th receive on (source, destination, tag), in the order of their
 * programs. So partners do not depend on time, and any order of evaluation that respects the dependences
 * gives the same times.
 */
#include "core/base/order.h"
#include "core/sim/flow/flow_channels.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/unreceived.h"

struct flow_request {
    uint32_t node;   /* of the rank */
    uint32_t number; /* of its message in its channel */
};

/* In program order; those that have been waited for stay until all have. */
struct flow_requests {
    struct flow_request *list;
    size_t count, capacity, open;
};

static iw_status requests_add(const iw_log *log, struct flow_requests *requests, uint32_t node,
                              uint32_t number)
{
    IW_TRY(iwi_grow(log, (void **)&requests->list, &requests->capacity, requests->count + 1,
                    sizeof *requests->list));
    requests->list[requests->count++] = (struct flow_request){node, number};
    requests->open++;
    return IW_OK;
}

/* The number of the message of an operation, which is among them. */
static uint32_t request_number(const struct flow_requests *requests, uint32_t node)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, requests->count - 1, requests->list[at].node < node);
    return requests->list[at].number;
}

static void requests_close(struct flow_requests *requests)
{
    if (--requests->open == 0) {
        requests->count = 0;
    }
}

/* One rank on its way through its operations. */
struct schedule_rank {
    uint64_t next;      /* operation, of all */
    uint64_t phases;    /* compute phases begun */
    uint64_t satisfied; /* so many requests of its wait need nothing more */
    struct flow_requests requests;
    /* what it waits for: the send, or the posting, of a message */
    uint32_t source, dest, tag, number;
    bool is_waiting;
    bool is_begun; /* its next operation has been issued or posted, as message `number` */
};

struct schedule_run {
    struct iwi_flow *flow;
    const struct iwi_schedule *schedule;
    struct schedule_rank *ranks;
    struct iwi_channels channels;
    uint32_t *work; /* ranks that can go on */
    size_t work_count;
    uint64_t done; /* operations */
};

/* The table of channels, and the memory of the messages in them. */

enum { FIRST_SLOTS = 256 };

iw_status iwi_channels_init(const iw_log *log, uint32_t lanes, bool is_explaining, size_t most_slots,
                            struct iwi_channels *channels)
{
    *channels =
        (struct iwi_channels){.log = log, .lanes = lanes, .slots = FIRST_SLOTS, .most_slots = most_slots};
    channels->stride = sizeof(struct iwi_channel_message) + (size_t)2 * lanes * sizeof(iw_time) +
                       (is_explaining ? 2 * sizeof(uint32_t) : 0);
    channels->table = iwi_new_array(log, FIRST_SLOTS, sizeof *channels->table);
    return channels->table == NULL ? IW_ERR_NOMEM : IW_OK;
}

void iwi_channels_release(struct iwi_channels *channels)
{
    free(channels->table);
    free(channels->messages);
    *channels = (struct iwi_channels){.log = NULL};
}

/* ---- rings ---- */

/* The number of the next free ring is kept in the one before. */
static uint32_t *next_free(const struct iwi_channels *channels, uint32_t ring)
{
    return (uint32_t *)(void *)(channels->messages + channels->stride * ring);
}

static void free_ring(struct iwi_channels *channels, uint32_t ring, uint32_t room)
{
    uint32_t *first = &channels->free_rings[__builtin_ctz(room)];

    *next_free(channels, ring) = *first;
    *first = ring + 1;
}

static iw_status new_ring(struct iwi_channels *channels, uint32_t room, uint32_t *ring_p)
{
    uint32_t *first = &channels->free_rings[__builtin_ctz(room)];

    if (*first != 0) {
        *ring_p = *first - 1;
        *first = *next_free(channels, *ring_p);
        return IW_OK;
    }
    if (channels->message_count + room > UINT32_MAX - 1) {
        return iwi_fail(channels->log, IW_ERR_NOMEM, "more than 2^32 messages in transit at once");
    }
    IW_TRY(iwi_grow(channels->log, (void **)&channels->messages, &channels->message_capacity,
                    channels->message_count + room, channels->stride));
    *ring_p = (uint32_t)channels->message_count;
    memset(channels->messages + channels->stride * channels->message_count, 0, channels->stride * room);
    channels->message_count += room;
    return IW_OK;
}

iw_status iwi_channel_widen(struct iwi_channels *channels, struct iwi_flow_channel *channel)
{
    const uint32_t end = channel->sent > channel->posted ? channel->sent : channel->posted;
    struct iwi_flow_channel wider = *channel;

    if (channel->room > UINT32_MAX / 4) {
        return iwi_fail(channels->log, IW_ERR_NOMEM, "too many messages from rank %" PRIu32 " to %" PRIu32,
                        channel->source, channel->dest);
    }
    wider.room *= 2;
    IW_TRY(new_ring(channels, wider.room, &wider.ring));
    for (uint32_t number = channel->first; number != end; number++) {
        memcpy(iwi_channel_message(channels, &wider, number), iwi_channel_message(channels, channel, number),
               channels->stride);
    }
    free_ring(channels, channel->ring, channel->room);
    *channel = wider;
    return IW_OK;
}

/* ---- the table ---- */

static bool is_idle(const struct iwi_flow_channel *channel)
{
    return channel->first == channel->sent && channel->first == channel->posted;
}

static size_t count_busy(const struct iwi_channels *channels)
{
    size_t busy = 0;

    for (size_t at = 0; at < channels->slots; at++) {
        busy += channels->table[at].room != 0 && !is_idle(&channels->table[at]);
    }
    return busy;
}

/* A table that is larger, or without the channels that are idle: these begin again from 0. */
static iw_status make_room(struct iwi_channels *channels)
{
    struct iwi_flow_channel *const before = channels->table;
    const size_t slots = channels->slots;
    const bool keeps_idle = slots < channels->most_slots;

    channels->slots = keeps_idle || count_busy(channels) > slots / 4 ? 2 * slots : slots;
    channels->table = iwi_new_array(channels->log, channels->slots, sizeof *channels->table);
    if (channels->table == NULL) {
        channels->table = before;
        channels->slots = slots;
        return IW_ERR_NOMEM;
    }
    channels->used = 0;
    for (const struct iwi_flow_channel *channel = before; channel < before + slots; channel++) {
        if (channel->room != 0 && (keeps_idle || !is_idle(channel))) {
            *iwi_channel_find(channels, channel->source, channel->dest, channel->tag) = *channel;
            channels->used++;
        } else if (channel->room != 0) {
            free_ring(channels, channel->ring, channel->room);
        }
    }
    free(before);
    return IW_OK;
}

struct iwi_flow_channel *iwi_channel_make(struct iwi_channels *channels, uint32_t source, uint32_t dest,
                                          uint32_t tag)
{
    struct iwi_flow_channel channel = {.source = source, .dest = dest, .tag = tag, .room = 1};
    struct iwi_flow_channel *slot;

    if ((channels->used >= channels->slots / 8 * 5 && make_room(channels) != IW_OK) ||
        new_ring(channels, 1, &channel.ring) != IW_OK) {
        return NULL;
    }
    slot = iwi_channel_find(channels, source, dest, tag);
    *slot = channel;
    channels->used++;
    return slot;
}

/* One rank of a stored in-order schedule, until it needs what another has not done yet. */

/* How far an operation got. */
enum progress { DONE, WAITS, FAILED };

/* A send or a receive at work, and its message. */
struct schedule_op {
    uint32_t rank;
    const struct iwi_node *node;
    struct iwi_flow_channel *channel;
    uint32_t number;
};

static bool is_rendezvous(const struct schedule_run *run, const struct iwi_node *send)
{
    return send->amount > run->flow->job->net->S_bytes || (send->flags & IWI_NODE_SYNCHRONOUS) != 0;
}

IWI_STEP struct iwi_flow_channel *channel_of(struct schedule_run *run, uint32_t rank,
                                             const struct iwi_node *node)
{
    return node->kind == IWI_SEND ? iwi_channel_of(&run->channels, rank, node->peer, node->tag)
                                  : iwi_channel_of(&run->channels, node->peer, rank, node->tag);
}

/* ---- who goes on ---- */

/* Operations ahead: a rank goes on where nobody has been for long. */
enum { FETCH_BYTES = 256 };

IWI_STEP void fetch(const struct schedule_run *run, uint64_t node)
{
    const char *const at = (const char *)&run->schedule->nodes[node];

    for (size_t byte = 0; byte < FETCH_BYTES; byte += 64) {
        __builtin_prefetch(at + byte);
    }
}

/* The rank waits for the other end of the message. */
static void await(struct schedule_rank *rank, const struct schedule_op *op)
{
    rank->source = op->channel->source;
    rank->dest = op->channel->dest;
    rank->tag = op->channel->tag;
    rank->number = op->number;
    rank->is_waiting = true;
}

/* The other rank goes on if it waits for this message. */
IWI_STEP void wake(struct schedule_run *run, const struct schedule_op *op)
{
    struct schedule_rank *other = &run->ranks[op->node->peer];

    if (other->is_waiting && other->source == op->channel->source && other->dest == op->channel->dest &&
        other->tag == op->channel->tag && other->number == op->number) {
        other->is_waiting = false;
        fetch(run, other->next);
        run->work[run->work_count++] = op->node->peer;
    }
}

/* ---- messages ---- */

/* The send, or the receive, is message `number` of its channel; false: no memory. */
IWI_STEP bool add_message(struct schedule_run *run, struct schedule_op *op)
{
    op->channel = channel_of(run, op->rank, op->node);
    if (op->channel == NULL) {
        return false;
    }
    op->number = op->node->kind == IWI_SEND ? op->channel->sent : op->channel->posted;
    return iwi_channel_has_room(op->channel, op->number) ||
           iwi_channel_widen(&run->channels, op->channel) == IW_OK;
}

IWI_STEP void post(struct schedule_run *run, struct schedule_op *op, const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_channel_message *message = iwi_channel_message(&run->channels, op->channel, op->number);
    iw_time *posted = iwi_message_posted(&run->channels, message);
    uint32_t *path = is_explaining ? &iwi_message_paths(&run->channels, message)[1] : NULL;

    if (is_explaining) {
        *path = flow->cpu_path[op->rank];
    }
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        posted[lane] =
            step_post(flow, op->rank, ((size_t)op->rank << flow->lane_shift) + lane, path, is_explaining);
    }
    op->channel->posted++;
    wake(run, op);
}

IWI_STEP void issue(struct schedule_run *run, struct schedule_op *op, const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_channel_message *message = iwi_channel_message(&run->channels, op->channel, op->number);
    const struct iwi_cost *cost = flow_cost(flow, op->rank, op->node->peer, op->node->amount);

    message->bytes = op->node->amount;
    message->is_rendezvous = is_rendezvous(run, op->node);
    message->left = message->is_rendezvous ? 2 : 1;
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_send(flow, op->rank, op->node->peer, ((size_t)op->rank << flow->lane_shift) + lane, cost,
                  &iwi_message_sent(message)[lane],
                  is_explaining ? iwi_message_paths(&run->channels, message) : NULL, is_explaining);
    }
    op->channel->sent++;
    wake(run, op);
}

/* Nothing of the other end is missing. */
static bool is_met(const struct schedule_run *run, const struct schedule_op *op)
{
    return op->node->kind == IWI_RECV ? op->channel->sent > op->number
                                      : op->channel->posted > op->number || !is_rendezvous(run, op->node);
}

IWI_STEP const struct iwi_cost *cost_of(const struct schedule_run *run, const struct schedule_op *op,
                                        const struct iwi_channel_message *message)
{
    return flow_cost(run->flow, op->channel->source, op->channel->dest, message->bytes);
}

/* Transfer start (rendezvous) or departure (eager) of the message. */
IWI_STEP iw_time departure(const struct schedule_run *run, const struct schedule_op *op, uint32_t lane,
                           uint32_t *path, const bool is_explaining)
{
    const struct iwi_channels *channels = &run->channels;
    struct iwi_channel_message *message = iwi_channel_message(channels, op->channel, op->number);
    const iw_time sent = iwi_message_sent(message)[lane];
    const uint32_t *paths = is_explaining ? iwi_message_paths(channels, message) : NULL;

    if (!message->is_rendezvous) {
        if (is_explaining) {
            *path = paths[0];
        }
        return sent;
    }
    return step_transfer_start(run->flow, cost_of(run, op, message), sent, is_explaining ? paths[0] : 0,
                               iwi_message_posted(channels, message)[lane], is_explaining ? paths[1] : 0,
                               path, is_explaining);
}

IWI_STEP void serve(struct schedule_run *run, const struct schedule_op *op, uint32_t lane,
                    const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_cost *cost =
        cost_of(run, op, iwi_channel_message(&run->channels, op->channel, op->number));
    uint32_t path = 0;
    const iw_time left = departure(run, op, lane, &path, is_explaining);

    step_receive(flow, op->rank, ((size_t)op->rank << flow->lane_shift) + lane, cost, left + cost->wire, path,
                 is_explaining);
}

/* The sender's end of a transfer by rendezvous. */
IWI_STEP void complete_send(struct schedule_run *run, const struct schedule_op *op, uint32_t lane,
                            const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_channel_message *message = iwi_channel_message(&run->channels, op->channel, op->number);
    const struct iwi_cost *cost = cost_of(run, op, message);
    uint32_t path = 0;
    const iw_time transfer = departure(run, op, lane, &path, is_explaining);

    if (is_explaining && step_is_late_receive(flow, cost, iwi_message_sent(message)[lane],
                                              iwi_message_posted(&run->channels, message)[lane])) {
        path = step_part(flow, cost, path, IWI_MESSAGE_LATE_RECEIVE);
    }
    step_send_done(flow, ((size_t)op->rank << flow->lane_shift) + lane, cost, transfer, path, is_explaining);
}

/* All that the rank does for a message that it waits for, whose other end is there. */
IWI_STEP void complete(struct schedule_run *run, const struct schedule_op *op, const bool is_explaining)
{
    const bool is_recv = op->node->kind == IWI_RECV;

    if (!is_recv && !is_rendezvous(run, op->node)) {
        return;
    }
    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        if (is_recv) {
            serve(run, op, lane, is_explaining);
        } else {
            complete_send(run, op, lane, is_explaining);
        }
    }
    iwi_channel_leave(&run->channels, op->channel, op->number);
}

/* ---- waits ---- */

/* The operation of a request, and its message. An eager send needs none. */
static struct schedule_op requested(struct schedule_run *run, uint32_t rank, uint32_t local)
{
    struct schedule_op op = {.rank = rank,
                             .node = &run->schedule->nodes[run->schedule->first_node[rank] + local]};

    if (op.node->kind == IWI_RECV || is_rendezvous(run, op.node)) {
        op.number = request_number(&run->ranks[rank].requests, local);
        op.channel = channel_of(run, rank, op.node); /* there is one: it has this message */
    }
    return op;
}

/* The receives of a wait in the order of arrival, in one lane. */
IWI_STEP void serve_all(struct schedule_run *run, uint32_t rank, uint64_t wait, uint32_t lane,
                        const bool is_explaining)
{
    const struct iwi_schedule *schedule = run->schedule;
    struct iwi_arrival *arrivals = run->flow->arrivals;
    uint32_t count = 0;

    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        const struct schedule_op op = requested(run, rank, schedule->deps[d].node);

        if (op.node->kind == IWI_RECV) {
            const struct iwi_cost *cost =
                cost_of(run, &op, iwi_channel_message(&run->channels, op.channel, op.number));

            arrivals[count].time = departure(run, &op, lane, NULL, false) + cost->wire;
            arrivals[count++].index = schedule->deps[d].node;
        }
    }
    iwi_sort_arrivals(arrivals, count);
    for (uint32_t k = 0; k < count; k++) {
        const struct schedule_op op = requested(run, rank, arrivals[k].index);

        serve(run, &op, lane, is_explaining);
    }
}

/* All requests of a wait are known: receives in the order of arrival, then the sends. */
IWI_STEP void complete_wait(struct schedule_run *run, uint32_t rank, uint64_t wait, const bool is_explaining)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint32_t lane = 0; lane < run->flow->lanes; lane++) {
        serve_all(run, rank, wait, lane, is_explaining);
    }
    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        const struct schedule_op op = requested(run, rank, schedule->deps[d].node);

        if (op.channel != NULL) {
            if (op.node->kind == IWI_SEND) {
                complete(run, &op, is_explaining);
            } else {
                iwi_channel_leave(&run->channels, op.channel, op.number);
            }
        }
    }
    for (uint64_t d = schedule->first_dep[wait]; d < schedule->first_dep[wait + 1]; d++) {
        const struct iwi_node *node = &schedule->nodes[schedule->first_node[rank] + schedule->deps[d].node];

        if (node->kind == IWI_RECV || is_rendezvous(run, node)) {
            requests_close(&run->ranks[rank].requests);
        }
    }
}

/* Requests that need nothing more are not looked at again when the rank comes back. */
IWI_STEP enum progress run_wait(struct schedule_run *run, uint32_t rank, uint64_t wait,
                                const bool is_explaining)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t first = schedule->first_dep[wait], count = schedule->first_dep[wait + 1] - first;
    struct schedule_rank *here = &run->ranks[rank];

    for (; here->satisfied < count; here->satisfied++) {
        const struct schedule_op op = requested(run, rank, schedule->deps[first + here->satisfied].node);

        if (op.channel != NULL && !is_met(run, &op)) {
            await(here, &op);
            return WAITS;
        }
    }
    here->satisfied = 0;
    complete_wait(run, rank, wait, is_explaining);
    return DONE;
}

/* ---- operations ---- */

static void calculate(struct schedule_run *run, uint32_t rank, const struct iwi_node *calc,
                      const bool is_explaining)
{
    struct iwi_flow *flow = run->flow;

    if (calc->flags & IWI_NODE_PHASE) {
        iwi_flow_phase(flow, rank, run->ranks[rank].phases++, (iw_time)calc->amount);
        return;
    }
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_local_work(flow, rank, ((size_t)rank << flow->lane_shift) + lane, (iw_time)calc->amount,
                        is_explaining);
    }
}

/* Who waits for the message later: a wait will look for it. */
static enum progress leave_open(struct schedule_run *run, const struct schedule_op *op, uint64_t node)
{
    const uint32_t local = (uint32_t)(node - run->schedule->first_node[op->rank]);

    if (op->node->kind == IWI_SEND && !is_rendezvous(run, op->node)) {
        return DONE;
    }
    return requests_add(run->flow->log, &run->ranks[op->rank].requests, local, op->number) == IW_OK ? DONE
                                                                                                    : FAILED;
}

IWI_STEP enum progress run_message(struct schedule_run *run, uint32_t rank, uint64_t node,
                                   const bool is_explaining)
{
    struct schedule_rank *here = &run->ranks[rank];
    struct schedule_op op = {.rank = rank, .node = &run->schedule->nodes[node]};

    if (here->is_begun) {
        here->is_begun = false;
        op.channel = channel_of(run, rank, op.node);
        op.number = here->number;
    } else {
        if (!add_message(run, &op)) {
            return FAILED;
        }
        if (op.node->kind == IWI_SEND) {
            issue(run, &op, is_explaining);
        } else {
            post(run, &op, is_explaining);
        }
        if (op.node->flags & IWI_NODE_NONBLOCKING) {
            return leave_open(run, &op, node);
        }
    }
    if (!is_met(run, &op)) {
        await(here, &op);
        here->is_begun = true;
        return WAITS;
    }
    complete(run, &op, is_explaining);
    return DONE;
}

IWI_STEP enum progress run_node(struct schedule_run *run, uint32_t rank, uint64_t node,
                                const bool is_explaining)
{
    const struct iwi_node *op = &run->schedule->nodes[node];

    switch (op->kind) {
    case IWI_CALC: calculate(run, rank, op, is_explaining); return DONE;
    case IWI_WAIT: return run_wait(run, rank, node, is_explaining);
    default: return run_message(run, rank, node, is_explaining);
    }
}

/* Goes on with a rank as far as it gets; its partners may be able to go on then. */
static iw_status schedule_run_rank(struct schedule_run *run, uint32_t rank)
{
    const bool is_explaining = run->flow->job->split != NULL;
    const uint64_t end = run->schedule->first_node[rank + 1];
    struct schedule_rank *here = &run->ranks[rank];

    for (; here->next < end; here->next++) {
        const enum progress progress =
            is_explaining ? run_node(run, rank, here->next, true) : run_node(run, rank, here->next, false);

        if (progress != DONE) {
            return progress == FAILED ? IW_ERR_NOMEM : IW_OK;
        }
        run->done++;
    }
    return IW_OK;
}

enum { LEAST_SLOTS = 1 << 16, NODES_PER_SLOT = 8 }; /* of idle channels */

const char *iwi_flow_refusal(const struct iwi_schedule *schedule)
{
    if (schedule->cpu_count > 1 || schedule->nic_count > 1) {
        return "the schedule uses several CPUs or NICs on a rank";
    }
    return iwi_schedule_facts(schedule).has_wildcards
               ? "the schedule has receives from any source or with any tag"
               : NULL;
}

/* ---- the end ---- */

static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct schedule_run *run = arg;
    const uint64_t next = run->ranks[rank].next;

    return next < run->schedule->first_node[rank + 1] ? next : IWI_NOT_STUCK;
}

static bool has_unreceived(const struct iwi_channels *channels)
{
    for (size_t at = 0; at < channels->slots; at++) {
        if (channels->table[at].room != 0 && channels->table[at].sent > channels->table[at].posted) {
            return true;
        }
    }
    return false;
}

/* What is left in a channel are its last sends. */
static void warn_unreceived(struct schedule_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    struct iwi_unreceived unreceived = {.count = 0};

    for (uint32_t rank = schedule->ranks; has_unreceived(&run->channels) && rank-- > 0;) {
        for (uint64_t node = schedule->first_node[rank + 1]; node-- > schedule->first_node[rank];) {
            const struct iwi_node *op = &schedule->nodes[node];

            if (op->kind == IWI_SEND) {
                struct iwi_flow_channel *channel = iwi_channel_find(&run->channels, rank, op->peer, op->tag);

                if (channel->sent > channel->posted) { /* also false of an empty slot */
                    channel->sent--;
                    iwi_unreceived_add(&unreceived, node);
                }
            }
        }
    }
    iwi_warn_unreceived(run->flow->log, schedule, &unreceived);
}

/* ---- the run ---- */

static iw_status allocate(struct schedule_run *run)
{
    const struct iwi_flow *flow = run->flow;
    const uint64_t slots = run->schedule->first_node[run->schedule->ranks] / NODES_PER_SLOT;

    run->ranks = iwi_new_array(flow->log, flow->ranks, sizeof *run->ranks);
    run->work = iwi_new_array(flow->log, flow->ranks, sizeof *run->work);
    if (run->ranks == NULL || run->work == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_flow_reserve_scratch(run->flow, (uint32_t)iwi_schedule_facts(run->schedule).longest_wait));
    return iwi_channels_init(flow->log, flow->lanes, flow->job->split != NULL,
                             (size_t)(slots > LEAST_SLOTS ? slots : LEAST_SLOTS), &run->channels);
}

/* Explaining: those of messages on their way are needed too. */
static iw_status keep_paths(struct schedule_run *run)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_channels *channels = &run->channels;

    if (flow->paths == NULL) {
        return IW_OK;
    }
    for (size_t k = 0; k < 2; k++) {
        flow->kept_paths[k] =
            (struct iwi_path_roots){.count = channels->message_count, .stride_bytes = channels->stride};
        if (channels->message_count > 0) {
            flow->kept_paths[k].first =
                &iwi_message_paths(channels, (struct iwi_channel_message *)(void *)channels->messages)[k];
        }
    }
    return iwi_flow_keep_paths(flow);
}

static iw_status run_all(struct schedule_run *run)
{
    const uint64_t all = run->schedule->first_node[run->schedule->ranks];
    struct iwi_flow *flow = run->flow;

    IW_TRY(allocate(run));
    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        run->ranks[rank].next = run->schedule->first_node[rank];
        run->work[flow->ranks - 1 - rank] = rank; /* taken from the end: rank 0 first */
    }
    run->work_count = flow->ranks;
    for (uint64_t turn = 0; run->work_count > 0; turn++) {
        IW_TRY(schedule_run_rank(run, run->work[--run->work_count]));
        IW_TRY(keep_paths(run));
        IW_TRY(iwi_tick_rarely(flow->job->ticker, turn, run->done, all));
    }
    IW_TRY(iwi_report_stuck_ranks(flow->log, run->schedule, stuck_node, run));
    if (flow->job->want_warnings) {
        warn_unreceived(run);
    }
    return IW_OK;
}

iw_status iwi_flow_schedule(struct iwi_flow *flow, const struct iwi_turn_plan *turns)
{
    struct schedule_run run = {.flow = flow, .schedule = flow->job->schedule};
    iw_status status;

    if (turns != NULL && flow->job->split == NULL) {
        return iwi_flow_turns(flow, turns);
    }
    status = run_all(&run);
    for (uint32_t rank = 0; run.ranks != NULL && rank < flow->ranks; rank++) {
        free(run.ranks[rank].requests.list);
    }
    iwi_channels_release(&run.channels);
    memset(flow->kept_paths, 0, sizeof flow->kept_paths);
    free(run.ranks);
    free(run.work);
    return status;
}
