/* One rank of a trace program goes on as far as it can, and leaves its steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/flow/flow_trace.h"
#include "core/sim/flow/flow_trace_rank.h"
#include "core/sim/flow/flow_trace_share.h"

/* Places for the times that steps hand on: few, reused, one set for all replicas where that is possible.
 *
 * A value is made by a SEND or POST step and named by its node. One that is last used in the segment it was
 * made in takes a local slot, which the next replica uses again; others take a kept slot.
 */

#define NO_STEP UINT64_MAX

struct free_list {
    uint32_t *slots;
    size_t count, capacity;
    uint32_t made;
};

struct assignment {
    const iw_log *log;
    struct iwi_trace_code *code;
    uint64_t *last_use; /* nodes: step */
    uint32_t *slot;     /* nodes; kept ones have IS_KEPT set until all local ones are counted */
    struct free_list local, kept;
};

#define IS_KEPT (UINT32_C(1) << 31)

static bool uses_sent(const struct iwi_trace_step *step)
{
    return step->kind == IWI_STEP_SEND || step->kind == IWI_STEP_RECV || step->kind == IWI_STEP_SEND_DONE;
}

static bool uses_posted(const struct iwi_trace_step *step)
{
    return step->kind == IWI_STEP_POST ||
           (step->is_rendezvous && (step->kind == IWI_STEP_RECV || step->kind == IWI_STEP_SEND_DONE));
}

static void find_last_uses(struct assignment *a)
{
    for (uint64_t i = 0; i < a->code->step_count; i++) {
        const struct iwi_trace_step *step = &a->code->steps[i];

        if (uses_sent(step)) {
            a->last_use[step->sent] = i;
        }
        if (uses_posted(step)) {
            a->last_use[step->posted] = i;
        }
    }
}

static iw_status take(struct assignment *a, struct free_list *list, uint32_t *slot_p)
{
    if (list->count > 0) {
        *slot_p = list->slots[--list->count];
        return IW_OK;
    }
    if (list->made == IS_KEPT - 1) {
        return iwi_fail(a->log, IW_ERR_RANGE, "more than 2^31 messages in transit at once in the trace");
    }
    *slot_p = list->made++;
    return IW_OK;
}

static iw_status give_back(struct assignment *a, struct free_list *list, uint32_t slot)
{
    void *slots = list->slots;

    IW_TRY(iwi_grow(a->log, &slots, &list->capacity, list->count + 1, sizeof *list->slots));
    list->slots = slots;
    list->slots[list->count++] = slot;
    return IW_OK;
}

/* A value that step `at` makes or uses: its slot, and the end of it behind its last use. */
static iw_status place(struct assignment *a, uint64_t at, uint64_t segment_end, bool is_made, uint32_t *value)
{
    const uint32_t node = *value;

    if (is_made) {
        const bool is_kept = a->last_use[node] >= segment_end;

        IW_TRY(take(a, is_kept ? &a->kept : &a->local, &a->slot[node]));
        a->slot[node] |= is_kept ? IS_KEPT : 0;
    }
    *value = a->slot[node];
    if (a->last_use[node] == at) {
        struct free_list *list = (a->slot[node] & IS_KEPT) != 0 ? &a->kept : &a->local;

        return give_back(a, list, a->slot[node] & ~IS_KEPT);
    }
    return IW_OK;
}

static iw_status place_all(struct assignment *a)
{
    uint64_t at = 0;

    for (size_t s = 0; s < a->code->segment_count; s++) {
        for (; at < a->code->segments[s].end; at++) {
            struct iwi_trace_step *step = &a->code->steps[at];
            const bool has_sent = uses_sent(step), has_posted = uses_posted(step);

            if (has_sent) {
                IW_TRY(place(a, at, a->code->segments[s].end, step->kind == IWI_STEP_SEND, &step->sent));
            }
            if (has_posted) {
                IW_TRY(place(a, at, a->code->segments[s].end, step->kind == IWI_STEP_POST, &step->posted));
            }
        }
    }
    return IW_OK;
}

/* Kept slots are numbered behind the local ones. */
static void number_kept(struct assignment *a)
{
    a->code->local_slots = a->local.made;
    a->code->kept_slots = a->kept.made;
    for (uint64_t i = 0; i < a->code->step_count; i++) {
        struct iwi_trace_step *step = &a->code->steps[i];

        if (uses_sent(step) && (step->sent & IS_KEPT) != 0) {
            step->sent = (step->sent & ~IS_KEPT) + a->local.made;
        }
        if (uses_posted(step) && (step->posted & IS_KEPT) != 0) {
            step->posted = (step->posted & ~IS_KEPT) + a->local.made;
        }
    }
}

iw_status iwi_trace_assign_slots(const iw_log *log, uint64_t node_count, struct iwi_trace_code *code)
{
    struct assignment a = {.log = log, .code = code};
    iw_status status = IW_ERR_NOMEM;

    a.last_use = iwi_new_array(log, (size_t)node_count, sizeof *a.last_use);
    a.slot = iwi_new_array(log, (size_t)node_count, sizeof *a.slot);
    if (a.last_use != NULL && a.slot != NULL) {
        find_last_uses(&a);
        status = place_all(&a);
    }
    if (status == IW_OK) {
        number_kept(&a);
    }
    free(a.last_use);
    free(a.slot);
    free(a.local.slots);
    free(a.kept.slots);
    return status;
}

/* Batches of values between members. */

/* Large enough to make the message cheap, small enough not to keep the receiver waiting. */
enum { BATCH_BYTES = 64 << 10 };

static size_t value_bytes(const struct iwi_values *values)
{
    return values->lanes * sizeof(iw_time);
}

iw_status iwi_values_start(struct iwi_values *values)
{
    values->unsent = iwi_new_array(values->log, values->peer_count, sizeof *values->unsent);
    return values->unsent == NULL ? IW_ERR_NOMEM : IW_OK;
}

static iw_status wait_for_flights(struct iwi_values *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        IW_TRY(iwi_member_wait(values->member, &values->flights[i].transfer, 1));
        free(values->flights[i].data);
        values->flights[i].data = NULL;
    }
    return IW_OK;
}

void iwi_values_release(struct iwi_values *values)
{
    /* Once the team has failed, nobody touches another's memory. */
    const iw_status status = wait_for_flights(values, values->flight_count);

    for (size_t i = 0; status != IW_OK && i < values->flight_count; i++) {
        free(values->flights[i].data);
    }
    for (size_t k = 0; k < values->peer_count; k++) {
        free(values->peers[k].slots);
        iwi_bytes_release(&values->peers[k].in);
        iwi_bytes_release(&values->peers[k].out);
    }
    free(values->flights);
    free(values->peers);
    free(values->unsent);
}

void iwi_values_restart(struct iwi_values *values)
{
    for (size_t k = 0; k < values->peer_count; k++) {
        values->peers[k].emitted = values->peers[k].taken = 0;
    }
}

/* ---- sending ---- */

static iw_status send_batch(struct iwi_values *values, struct iwi_value_peer *peer)
{
    void *flights = values->flights, *data;
    struct iwi_value_flight *flight;

    IW_TRY(iwi_grow(values->log, &flights, &values->flight_capacity, values->flight_count + 1,
                    sizeof *values->flights));
    values->flights = flights;
    data = iwi_new_array(values->log, peer->out.count, 1);
    if (data == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(data, peer->out.data, peer->out.count);
    flight = &values->flights[values->flight_count++];
    *flight = (struct iwi_value_flight){.data = data};
    IW_TRY(iwi_member_send(values->member, peer->member, data, peer->out.count, &flight->transfer));
    peer->out.count = 0;
    return IW_OK;
}

iw_status iwi_values_flush(struct iwi_values *values)
{
    for (; values->unsent_count > 0; values->unsent_count--) {
        struct iwi_value_peer *peer = &values->peers[values->unsent[values->unsent_count - 1]];

        peer->is_unsent = false;
        if (peer->out.count > 0) { /* not yet sent for its size */
            IW_TRY(send_batch(values, peer));
        }
    }
    return IW_OK;
}

static iw_status begin_batch(struct iwi_values *values, struct iwi_value_peer *peer)
{
    void *data = peer->out.data;

    if (peer->out.capacity < BATCH_BYTES) {
        IW_TRY(iwi_grow(values->log, &data, &peer->out.capacity, BATCH_BYTES, 1));
        peer->out.data = data;
    }
    memcpy(peer->out.data, &peer->emitted, sizeof peer->emitted);
    peer->out.count = sizeof peer->emitted;
    return IW_OK;
}

iw_status iwi_values_emit(struct iwi_values *values, uint32_t index, const iw_time *slots, uint32_t slot)
{
    struct iwi_value_peer *peer = &values->peers[index];

    if (peer->out.count == 0) {
        IW_TRY(begin_batch(values, peer));
        if (!peer->is_unsent) {
            values->unsent[values->unsent_count++] = index;
            peer->is_unsent = true;
        }
    }
    memcpy(peer->out.data + peer->out.count, slots + (size_t)slot * values->lanes, value_bytes(values));
    peer->out.count += value_bytes(values);
    peer->emitted++;
    return peer->out.count + value_bytes(values) > BATCH_BYTES ? send_batch(values, peer) : IW_OK;
}

iw_status iwi_values_settle(struct iwi_values *values)
{
    const size_t left = values->flight_count - values->old_count;

    IW_TRY(wait_for_flights(values, values->old_count));
    if (left > 0) {
        memmove(values->flights, values->flights + values->old_count, left * sizeof *values->flights);
    }
    values->flight_count = values->old_count = left;
    return IW_OK;
}

/* ---- taking ---- */

static iw_status take_batch(struct iwi_values *values, struct iwi_value_peer *peer)
{
    bool has = false;
    uint64_t first = 0;

    IW_TRY(iwi_member_take(values->member, peer->member, false, &peer->in, &has));
    if (!has) {
        IW_TRY(iwi_values_flush(values));
        IW_TRY(iwi_member_take(values->member, peer->member, true, &peer->in, &has));
    }
    peer->in_at = sizeof first;
    if (peer->in.count > sizeof first) {
        memcpy(&first, peer->in.data, sizeof first);
    }
    if (peer->in.count <= sizeof first || (peer->in.count - sizeof first) % value_bytes(values) != 0 ||
        first != peer->taken) {
        return iwi_fail(values->log, IW_ERR_FORMAT,
                        "member %" PRIu32 " sent %zu bytes where value %" PRIu64
                        " was due: run the same program in all processes",
                        peer->member, peer->in.count, peer->taken);
    }
    return IW_OK;
}

iw_status iwi_values_take(struct iwi_values *values, uint32_t index, uint64_t count, iw_time *slots)
{
    struct iwi_value_peer *peer = &values->peers[index];

    while (peer->taken < count) {
        const uint32_t slot = peer->slots[peer->taken];

        if (peer->in_at == peer->in.count) {
            IW_TRY(take_batch(values, peer));
        }
        memcpy(slots + (size_t)slot * values->lanes, peer->in.data + peer->in_at, value_bytes(values));
        peer->in_at += value_bytes(values);
        peer->taken++;
    }
    return IW_OK;
}

enum progress { GOES_ON, WAITS_FOR_NODE, WAITS_FOR_MEMBERS, WAITS_FOR_ALL };

/* Of operations without a receive among them: a pipeline's first rank would run to its end. */
enum { LONGEST_TURN = 16 };

/* ---- steps ---- */

static iw_status put_step(struct iwi_trace_compiler *c, struct iwi_trace_step step)
{
    void *steps = c->code->steps;

    IW_TRY(iwi_grow(c->log, &steps, &c->step_capacity, (size_t)c->code->step_count + 1, sizeof step));
    c->code->steps = steps;
    c->code->steps[c->code->step_count++] = step;
    return IW_OK;
}

static bool is_rendezvous(const struct iwi_trace_compiler *c, uint64_t send)
{
    const struct iwi_node *node = &c->schedule->nodes[send];

    return node->amount > c->net->S_bytes || (node->flags & IWI_NODE_SYNCHRONOUS) != 0;
}

static iw_status find_size(struct iwi_trace_compiler *c, uint64_t bytes, uint32_t *size_p)
{
    const uint32_t levels = c->net->inner_count + 1;
    void *costs = c->code->costs;

    IW_TRY(iwi_index_number(c->log, &c->sizes, (struct iwi_index_key){bytes, 0}, size_p));
    if (*size_p == c->code->size_count) {
        IW_TRY(iwi_grow(c->log, &costs, &c->cost_capacity, ((size_t)*size_p + 1) * levels,
                        sizeof *c->code->costs));
        c->code->costs = costs;
        for (uint32_t level = 0; level < levels; level++) {
            c->code->costs[c->code->size_count * levels + level] = iwi_cost_at(c->net, level, bytes);
        }
        c->code->size_count++;
        c->code->level_count = levels;
    }
    return IW_OK;
}

/* A step of the message that `send` carries to `recv`; `sent` and `posted` are their nodes until slots are
 * known. */
static iw_status put_message(struct iwi_trace_compiler *c, enum iwi_step_kind kind, uint32_t rank,
                             uint64_t send, uint64_t recv)
{
    const uint32_t sender = c->match->rank_of[send];
    uint32_t size = 0;

    IW_TRY(find_size(c, c->schedule->nodes[send].amount, &size));
    return put_step(
        c, (struct iwi_trace_step){
               .kind = (uint8_t)kind,
               .is_rendezvous = is_rendezvous(c, send),
               .rank = rank,
               .sent = (uint32_t)send,
               .posted = (uint32_t)recv,
               .amount = iwi_trace_amount(size, rank == sender ? c->schedule->nodes[send].peer : sender)});
}

/* ---- one rank ---- */

static void set_mark(struct iwi_trace_compiler *c, uint64_t node)
{
    const uint64_t partner = c->match->partner[node];

    c->is_marked[node] = true;
    if (partner != IWI_NO_PARTNER) {
        const uint32_t rank = c->match->rank_of[partner];

        if (c->awaited[rank] == node) {
            c->awaited[rank] = IWI_NO_PARTNER;
            iwi_trace_wake(c, rank);
        }
    }
}

/* What the completion of `node` still needs of its partner: IWI_NO_PARTNER if nothing. */
static uint64_t missing(const struct iwi_trace_compiler *c, uint64_t node)
{
    const uint64_t partner = c->match->partner[node];

    if (c->schedule->nodes[node].kind == IWI_SEND && !is_rendezvous(c, node)) {
        return IWI_NO_PARTNER;
    }
    if (partner == IWI_NO_PARTNER) {
        return node; /* nobody will ever mark it again */
    }
    return c->is_marked[partner] ? IWI_NO_PARTNER : partner;
}

static iw_status complete_sends(struct iwi_trace_compiler *c, uint32_t rank, const struct iwi_dep *deps,
                                uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t node = c->schedule->first_node[rank] + deps[i].node;

        if (c->schedule->nodes[node].kind == IWI_SEND && is_rendezvous(c, node)) {
            IW_TRY(put_message(c, IWI_STEP_SEND_DONE, rank, node, c->match->partner[node]));
        }
    }
    return IW_OK;
}

IWI_COMPARE(compare_receives, struct iwi_trace_step, IWI_RISING(posted))

/* All that a wait needs is there: its receives in the order of posting, then its rendezvous sends. */
static iw_status put_wait(struct iwi_trace_compiler *c, uint32_t rank, const struct iwi_dep *deps,
                          uint64_t count)
{
    const uint64_t at = c->code->step_count;
    uint64_t receives = 0;

    for (uint64_t i = 0; i < count; i++) {
        receives += c->schedule->nodes[c->schedule->first_node[rank] + deps[i].node].kind == IWI_RECV;
    }
    if (receives > 1) {
        IW_TRY(put_step(c, (struct iwi_trace_step){.kind = IWI_STEP_WAIT, .rank = rank, .amount = receives}));
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t node = c->schedule->first_node[rank] + deps[i].node;

        if (c->schedule->nodes[node].kind == IWI_RECV) {
            IW_TRY(put_message(c, IWI_STEP_RECV, rank, c->match->partner[node], node));
        }
    }
    if (receives > 1) {
        iwi_sort(&c->code->steps[at + 1], (size_t)receives, compare_receives);
    }
    c->code->largest_wait = receives > c->code->largest_wait ? (uint32_t)receives : c->code->largest_wait;
    return complete_sends(c, rank, deps, count);
}

static iw_status run_wait(struct iwi_trace_compiler *c, uint32_t rank, uint64_t wait,
                          enum progress *progress_p)
{
    const struct iwi_dep *deps = &c->schedule->deps[c->schedule->first_dep[wait]];
    const uint64_t count = c->schedule->first_dep[wait + 1] - c->schedule->first_dep[wait];

    for (; c->satisfied[rank] < count; c->satisfied[rank]++) {
        const uint64_t needed = missing(c, c->schedule->first_node[rank] + deps[c->satisfied[rank]].node);

        if (needed != IWI_NO_PARTNER) {
            c->awaited[rank] = needed;
            *progress_p = WAITS_FOR_NODE;
            return IW_OK;
        }
    }
    c->satisfied[rank] = 0;
    return put_wait(c, rank, deps, count);
}

static iw_status start_message(struct iwi_trace_compiler *c, uint32_t rank, uint64_t node)
{
    const uint64_t partner = c->match->partner[node];

    if (c->is_marked[node]) {
        return IW_OK;
    }
    if (c->schedule->nodes[node].kind == IWI_SEND) {
        IW_TRY(put_message(c, IWI_STEP_SEND, rank, node, partner));
    } else if (partner != IWI_NO_PARTNER && is_rendezvous(c, partner)) {
        IW_TRY(put_message(c, IWI_STEP_POST, rank, partner, node));
    }
    set_mark(c, node);
    return IW_OK;
}

static iw_status run_message(struct iwi_trace_compiler *c, uint32_t rank, uint64_t node,
                             enum progress *progress_p)
{
    const struct iwi_dep alone = {(uint32_t)(node - c->schedule->first_node[rank]), false};
    uint64_t needed;

    IW_TRY(start_message(c, rank, node));
    if ((c->schedule->nodes[node].flags & IWI_NODE_NONBLOCKING) != 0) {
        return IW_OK;
    }
    needed = missing(c, node);
    if (needed != IWI_NO_PARTNER) {
        c->awaited[rank] = needed;
        *progress_p = WAITS_FOR_NODE;
        return IW_OK;
    }
    return put_wait(c, rank, &alone, 1);
}

static iw_status run_calc(struct iwi_trace_compiler *c, uint32_t rank, const struct iwi_node *calc)
{
    const bool is_phase = (calc->flags & IWI_NODE_PHASE) != 0;

    return put_step(c, (struct iwi_trace_step){.kind = is_phase ? IWI_STEP_PHASE : IWI_STEP_WORK,
                                               .rank = rank,
                                               .sent = is_phase ? (uint32_t)c->phases[rank]++ : 0,
                                               .amount = calc->amount});
}

/* The last to come runs it for all. */
static iw_status run_collective(struct iwi_trace_compiler *c, uint32_t rank, uint64_t index,
                                enum progress *progress_p)
{
    const uint32_t comm = c->program->collectives[index].comm;
    const struct iwi_comm *members = &c->program->comms[comm];

    if (iwi_trace_is_world(c->program, comm)) {
        c->at_cut[rank] = index;
        c->cut_count++;
        *progress_p = WAITS_FOR_ALL;
        return IW_OK;
    }
    if (++c->arrived[index] < members->size) {
        *progress_p = WAITS_FOR_MEMBERS;
        return IW_OK;
    }
    for (uint32_t i = 0; i < members->size; i++) {
        if (members->members[i] != rank) {
            c->cursor[members->members[i]]++;
            iwi_trace_wake(c, members->members[i]);
        }
    }
    return put_step(c, (struct iwi_trace_step){.kind = IWI_STEP_COLLECTIVE, .rank = rank, .amount = index});
}

/* Receives come first in a turn: what they need has had the turns of all others to come. */
static bool is_end_of_turn(const struct iwi_trace_compiler *c, const struct iwi_node *node, uint64_t done)
{
    const bool receives =
        node->kind == IWI_WAIT || (node->kind == IWI_RECV && (node->flags & IWI_NODE_NONBLOCKING) == 0);

    return c->order == IWI_ORDER_TURNS && done > 0 && (receives || done >= LONGEST_TURN);
}

iw_status iwi_trace_run_rank(struct iwi_trace_compiler *c, uint32_t rank)
{
    const uint64_t end = c->schedule->first_node[rank + 1], begin = c->cursor[rank];
    enum progress progress = GOES_ON;

    while (c->cursor[rank] < end) {
        const uint64_t at = c->cursor[rank];
        const struct iwi_node *node = &c->schedule->nodes[at];

        if (is_end_of_turn(c, node, at - begin)) {
            iwi_trace_wake(c, rank);
            return IW_OK;
        }
        switch (node->kind) {
        case IWI_CALC: IW_TRY(run_calc(c, rank, node)); break;
        case IWI_WAIT: IW_TRY(run_wait(c, rank, at, &progress)); break;
        case IWI_COLLECTIVE: IW_TRY(run_collective(c, rank, node->amount, &progress)); break;
        default: IW_TRY(run_message(c, rank, at, &progress)); break;
        }
        if (progress != GOES_ON) {
            return IW_OK;
        }
        c->cursor[rank]++;
    }
    return IW_OK;
}
