/* One rank of a trace program goes on as far as it can, and leaves its steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_trace_rank.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"

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
