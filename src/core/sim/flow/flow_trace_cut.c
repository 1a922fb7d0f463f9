/* Cuts the steps of a replica to those of one member, and finds what it gives to and needs of others.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of a replica are in one valid order. Each member runs its own ones of them in that order, so a
 * step is at one place in the order of all, whoever runs it. A value (the end of a send, the time of a post)
 * that another member needs is emitted right behind the step that makes it; between two members values
 * travel in the order in which they are made. A member takes the values of a peer only before a step that
 * needs one, and only as far as that one.
 *
 * Nobody waits for ever: the member that has the first undone step of all needs only what steps before that
 * one have made, and their members sent it before they began to wait (flush before waiting). Sending never
 * waits. So this step can run.
 *
 * Slots are used again, as the whole order allows. Storing value v, made at place p, just before the own step
 * at place u > p does no harm: what was in its slot before had its last use before p, so before u. And a
 * later value of the same slot is made behind the last use of v, which is at u or later, since v would have
 * been taken before if it had been needed before; but all that is here was made before u.
 *
 * Values and the rounds of collectives use the same channel. Before a collective with other members, a member
 * sends what is for them and takes everything that they made before it; so what comes next on the channel are
 * rounds, and values again behind them.
 */
#include "core/sim/flow/flow_trace_share.h"

#include <stdlib.h>

#include "core/base/base.h"

#define NOBODY UINT32_MAX
#define NO_SLOT UINT32_MAX

/* A value that this member makes for another, or the other way round. */
struct crossing {
    uint64_t step;
    uint32_t from, to; /* members */
};

/* Where a slot's value comes from: the peer's value that makes it `number` values; number 0: from here. */
struct origin {
    uint32_t peer;
    uint64_t number;
};

struct cutter {
    const iw_log *log;
    const struct iwi_trace_program *program;
    const struct iwi_trace_code *whole;
    uint32_t me;
    uint32_t *owner;            /* base ranks: members */
    uint32_t *peer_of;          /* members: peer or NOBODY */
    uint32_t *slot_of;          /* the whole's slots: those of the part, or NO_SLOT */
    struct origin *origin;      /* the part's slots */
    struct crossing *crossings; /* from the last to the first */
    size_t crossing_count, crossing_capacity;
    uint64_t *needed; /* peers of this part: so many of its values are taken at this place */
    size_t first_peer;
    struct iwi_replica_share *part;
    struct iwi_values *values;
    size_t step_capacity;
};

/* ---- what crosses ---- */

static iw_status note_crossing(struct cutter *c, struct crossing crossing)
{
    void *crossings = c->crossings;

    if (crossing.to == NOBODY || crossing.to == crossing.from ||
        (crossing.to != c->me && crossing.from != c->me)) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(c->log, &crossings, &c->crossing_capacity, c->crossing_count + 1, sizeof crossing));
    c->crossings = crossings;
    c->crossings[c->crossing_count++] = crossing;
    return IW_OK;
}

/* Backwards, so that who will use a value is known where it is made. Of a sent value that is the receiver,
 * of a posted one the sender; each uses its own values too. */
static iw_status find_crossings(struct cutter *c, uint32_t *user)
{
    for (uint64_t i = c->whole->step_count; i-- > 0;) {
        const struct iwi_trace_step *step = &c->whole->steps[i];
        const uint32_t owner = c->owner[step->rank];

        switch ((enum iwi_step_kind)step->kind) {
        case IWI_STEP_RECV: user[step->sent] = owner; break;
        case IWI_STEP_SEND_DONE: user[step->posted] = owner; break;
        case IWI_STEP_SEND:
            IW_TRY(note_crossing(c, (struct crossing){i, owner, user[step->sent]}));
            user[step->sent] = NOBODY;
            break;
        case IWI_STEP_POST:
            IW_TRY(note_crossing(c, (struct crossing){i, owner, user[step->posted]}));
            user[step->posted] = NOBODY;
            break;
        default: break;
        }
    }
    return IW_OK;
}

/* ---- peers and slots ---- */

static iw_status find_peer(struct cutter *c, uint32_t member, uint32_t *peer_p)
{
    struct iwi_values *values = c->values;
    void *peers = values->peers;

    if (c->peer_of[member] == NOBODY) {
        IW_TRY(
            iwi_grow(c->log, &peers, &values->peer_capacity, values->peer_count + 1, sizeof *values->peers));
        values->peers = peers;
        values->peers[values->peer_count] = (struct iwi_value_peer){.member = member};
        c->peer_of[member] = (uint32_t)values->peer_count++;
    }
    *peer_p = c->peer_of[member];
    return IW_OK;
}

/* Numbers of the slots that this member uses: without gaps. */
static uint32_t own_slot(struct cutter *c, uint32_t slot)
{
    if (c->slot_of[slot] == NO_SLOT) {
        c->slot_of[slot] = c->part->code.local_slots++;
    }
    return c->slot_of[slot];
}

/* ---- the part's steps ---- */

static iw_status put_step(struct cutter *c, struct iwi_trace_step step)
{
    struct iwi_trace_code *code = &c->part->code;
    void *steps = code->steps;

    IW_TRY(iwi_grow(c->log, &steps, &c->step_capacity, (size_t)code->step_count + 1, sizeof step));
    code->steps = steps;
    code->steps[code->step_count++] = step;
    return IW_OK;
}

static iw_status put_take(struct cutter *c, uint32_t peer, uint64_t number)
{
    uint64_t *needed = &c->needed[peer - c->first_peer];

    if (number <= *needed) {
        return IW_OK;
    }
    *needed = number;
    return put_step(c, (struct iwi_trace_step){.kind = IWI_STEP_TAKE, .rank = peer, .amount = number});
}

/* A peer's value for this member. */
static iw_status expect(struct cutter *c, const struct crossing *crossing, uint32_t slot)
{
    const uint32_t own = own_slot(c, slot);
    struct iwi_value_peer *peer;
    uint32_t index = 0;
    void *slots;

    IW_TRY(find_peer(c, crossing->from, &index));
    peer = &c->values->peers[index];
    slots = peer->slots;
    IW_TRY(iwi_grow(c->log, &slots, &peer->slot_capacity, peer->slot_count + 1, sizeof *peer->slots));
    peer->slots = slots;
    peer->slots[peer->slot_count++] = own;
    c->origin[own] = (struct origin){index, peer->slot_count};
    return IW_OK;
}

static iw_status need(struct cutter *c, uint32_t slot)
{
    const struct origin *origin = &c->origin[own_slot(c, slot)];

    return origin->number > 0 ? put_take(c, origin->peer, origin->number) : IW_OK;
}

/* What a RECV or SEND_DONE needs of others. */
static iw_status put_takes(struct cutter *c, const struct iwi_trace_step *step)
{
    if (step->kind != IWI_STEP_RECV && step->kind != IWI_STEP_SEND_DONE) {
        return IW_OK;
    }
    IW_TRY(need(c, step->sent));
    return step->is_rendezvous ? need(c, step->posted) : IW_OK;
}

/* The own step `at` of the whole; `crossing` is the value that it makes for another, or NULL. */
static iw_status put_own(struct cutter *c, uint64_t at, const struct crossing *crossing)
{
    struct iwi_trace_step step = c->whole->steps[at];
    const bool is_send = step.kind == IWI_STEP_SEND, is_post = step.kind == IWI_STEP_POST;
    const bool completes = step.kind == IWI_STEP_RECV || step.kind == IWI_STEP_SEND_DONE;
    uint32_t peer = 0;

    if (is_send || completes) {
        step.sent = own_slot(c, step.sent);
    }
    if (is_post || (completes && step.is_rendezvous)) {
        step.posted = own_slot(c, step.posted);
    }
    if (is_send || is_post) {
        c->origin[is_send ? step.sent : step.posted] = (struct origin){NOBODY, 0};
    }
    IW_TRY(put_step(c, step));
    if (crossing == NULL) {
        return IW_OK;
    }
    IW_TRY(find_peer(c, crossing->to, &peer));
    return put_step(c, (struct iwi_trace_step){
                           .kind = IWI_STEP_EMIT, .rank = peer, .sent = is_send ? step.sent : step.posted});
}

/* With its receives, which follow it: all that they need comes before it. */
static iw_status put_wait(struct cutter *c, uint64_t at)
{
    const uint64_t receives = c->whole->steps[at].amount;

    for (uint64_t k = 1; k <= receives; k++) {
        IW_TRY(put_takes(c, &c->whole->steps[at + k]));
    }
    for (uint64_t k = 0; k <= receives; k++) {
        IW_TRY(put_own(c, at + k, NULL));
    }
    return IW_OK;
}

/* Before rounds with that member. */
static iw_status take_all(struct cutter *c, uint32_t member)
{
    const uint32_t peer = c->peer_of[member];

    return peer == NOBODY ? IW_OK : put_take(c, peer, c->values->peers[peer].slot_count);
}

static iw_status put_collective(struct cutter *c, const struct iwi_trace_step *step)
{
    const struct iwi_comm *comm = &c->program->comms[c->program->collectives[step->amount].comm];
    uint32_t here = 0;

    for (uint32_t i = 0; i < comm->size; i++) {
        here += c->owner[comm->members[i]] == c->me;
    }
    if (here == 0) {
        return IW_OK;
    }
    for (uint32_t i = 0; i < comm->size; i++) {
        IW_TRY(take_all(c, c->owner[comm->members[i]]));
    }
    if (here < comm->size) {
        IW_TRY(put_step(c, (struct iwi_trace_step){.kind = IWI_STEP_FLUSH}));
    }
    return put_step(c, *step);
}

/* ---- all of it ---- */

/* Returns the crossing of that step, the next in the list, or NULL. */
static const struct crossing *next_crossing(struct cutter *c, uint64_t at)
{
    const struct crossing *next = c->crossing_count == 0 ? NULL : &c->crossings[c->crossing_count - 1];

    if (next == NULL || next->step != at) {
        return NULL;
    }
    c->crossing_count--;
    return next;
}

static iw_status cut_step(struct cutter *c, uint64_t at)
{
    const struct iwi_trace_step *step = &c->whole->steps[at];
    const struct crossing *crossing = next_crossing(c, at);

    if (step->kind == IWI_STEP_COLLECTIVE) {
        return put_collective(c, step);
    }
    if (c->owner[step->rank] != c->me) {
        return crossing == NULL
                   ? IW_OK
                   : expect(c, crossing, step->kind == IWI_STEP_SEND ? step->sent : step->posted);
    }
    if (step->kind == IWI_STEP_WAIT) {
        return put_wait(c, at);
    }
    IW_TRY(put_takes(c, step));
    return put_own(c, at, crossing);
}

static iw_status cut_steps(struct cutter *c)
{
    uint64_t at = 0;

    for (size_t s = 0; s < c->whole->segment_count; s++) {
        const struct iwi_trace_segment *segment = &c->whole->segments[s];

        while (at < segment->end) {
            const struct iwi_trace_step *step = &c->whole->steps[at];

            IW_TRY(cut_step(c, at));
            at += step->kind == IWI_STEP_WAIT ? 1 + step->amount : 1;
        }
        for (uint32_t base = 0; segment->collective != IWI_NO_COLLECTIVE && base < c->program->base; base++) {
            IW_TRY(take_all(c, c->owner[base]));
        }
        c->part->code.segments[s] = (struct iwi_trace_segment){c->part->code.step_count, segment->collective};
    }
    return IW_OK;
}

static void find_owners(struct cutter *c, const struct iwi_partition *partition)
{
    const uint32_t first = c->part->replica * c->program->base;
    uint32_t member = iwi_partition_owner(partition, first);

    for (uint32_t base = 0; base < c->program->base; base++) {
        while (partition->first[member + 1] <= first + base) {
            member++;
        }
        c->owner[base] = member;
    }
}

static bool is_allocated(struct cutter *c, uint32_t **user_p, uint32_t members)
{
    const size_t slots = (size_t)c->whole->local_slots + c->whole->kept_slots;
    struct iwi_trace_code *code = &c->part->code;

    *user_p = iwi_new_array(c->log, slots, sizeof **user_p);
    c->owner = iwi_new_array(c->log, c->program->base, sizeof *c->owner);
    c->peer_of = iwi_new_array(c->log, members, sizeof *c->peer_of);
    c->slot_of = iwi_new_array(c->log, slots, sizeof *c->slot_of);
    c->origin = iwi_new_array(c->log, slots, sizeof *c->origin);
    c->needed = iwi_new_array(c->log, members, sizeof *c->needed);
    code->segments = iwi_new_array(c->log, c->whole->segment_count, sizeof *code->segments);
    if (*user_p == NULL || c->owner == NULL || c->peer_of == NULL || c->slot_of == NULL ||
        c->origin == NULL || c->needed == NULL || code->segments == NULL) {
        return false;
    }
    for (size_t slot = 0; slot < slots; slot++) {
        c->slot_of[slot] = NO_SLOT;
        (*user_p)[slot] = NOBODY;
    }
    for (uint32_t m = 0; m < members; m++) {
        c->peer_of[m] = NOBODY;
    }
    return true;
}

iw_status iwi_trace_cut(const struct iwi_flow *flow, const struct iwi_trace_code *whole,
                        struct iwi_values *values, struct iwi_replica_share *part)
{
    struct cutter c = {.log = flow->log,
                       .program = whole->program,
                       .whole = whole,
                       .me = flow->member->number,
                       .first_peer = values->peer_count,
                       .part = part,
                       .values = values};
    uint32_t *user = NULL;
    iw_status status = IW_ERR_NOMEM;

    part->code = (struct iwi_trace_code){.program = whole->program,
                                         .costs = whole->costs,
                                         .level_count = whole->level_count,
                                         .segment_count = whole->segment_count,
                                         .largest_wait = whole->largest_wait};
    if (is_allocated(&c, &user, flow->partition->members)) {
        find_owners(&c, flow->partition);
        status = find_crossings(&c, user);
    }
    if (status == IW_OK) {
        status = cut_steps(&c);
    }
    free(user);
    free(c.owner);
    free(c.peer_of);
    free(c.slot_of);
    free(c.origin);
    free(c.needed);
    free(c.crossings);
    return status;
}
