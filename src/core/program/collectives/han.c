/* Collectives of two levels by segments, as Open MPI's han has them: while one segment is passed inside the
 * nodes, the one before it goes over the leaders.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A segment takes stages: up inside the nodes, up over the leaders, down over the leaders, down inside. In
 * step t segment t - k is in its k-th stage. A step has as many rounds as the longest stage; round i of a
 * step is round i of all stages at once. The kind of op->algorithm says which stages there are.
 */
#include "core/program/collectives/two_level.h"

enum { INSIDE_UP, ACROSS_UP, ACROSS_DOWN, INSIDE_DOWN, MOST_STAGES };

struct pipeline {
    bool is_rooted;
    uint32_t first, end;      /* stages */
    uint64_t segments, width; /* rounds of a step */
    struct iwi_two_level up, down;
};

/* Stages of one way, for a segment. */
static void plan_up(const struct iwi_operation *op, bool is_rooted, uint64_t bytes, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, is_rooted);
    two->up = (struct iwi_inside){.exists = true, .is_reducing = true, .bytes = bytes};
    two->across.algorithm = &iwi_reduce_binomial;
    two->across.bytes = bytes;
    iwi_two_level_ready(two);
}

static void plan_down(const struct iwi_operation *op, bool is_rooted, uint64_t bytes,
                      struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, is_rooted);
    two->down = (struct iwi_inside){.exists = true, .bytes = bytes};
    two->across.algorithm = &iwi_bcast_binomial;
    two->across.bytes = bytes;
    iwi_two_level_ready(two);
}

static void plan(const struct iwi_operation *op, struct pipeline *p)
{
    const enum iwi_op_kind kind = op->algorithm->kind;

    p->is_rooted = kind != IWI_ALLREDUCE;
    p->first = kind == IWI_BCAST ? ACROSS_DOWN : INSIDE_UP;
    p->end = kind == IWI_REDUCE ? ACROSS_DOWN : MOST_STAGES;
    p->segments = iwi_segment_count(op->bytes, op->segment_bytes);
    plan_up(op, p->is_rooted, op->bytes, &p->up);
    plan_down(op, p->is_rooted, op->bytes, &p->down);
    p->width = p->up.inside_rounds > p->up.across_rounds ? p->up.inside_rounds : p->up.across_rounds;
}

static uint64_t han_rounds(const struct iwi_operation *op)
{
    struct pipeline p;

    plan(op, &p);
    return p.width * (p.segments + (p.end - p.first) - 1);
}

static uint64_t han_messages(const struct iwi_operation *op)
{
    struct pipeline p;

    plan(op, &p);
    return p.segments * ((p.first == INSIDE_UP ? iwi_two_level_messages(&p.up) : 0) +
                         (p.end == MOST_STAGES ? iwi_two_level_messages(&p.down) : 0));
}

/* What a stage does in a round, if anything: as round *index_p of *two. */
static bool find_stage(const struct iwi_operation *op, const struct pipeline *p, uint32_t stage,
                       uint64_t index, struct iwi_two_level *two, uint64_t *index_p)
{
    const uint64_t step = index / p->width, at = index % p->width, behind = stage - p->first;
    const bool is_inside = stage == INSIDE_UP || stage == INSIDE_DOWN, is_up = stage < ACROSS_DOWN;
    uint64_t bytes;

    if (step < behind || step - behind >= p->segments ||
        at >= (is_inside ? p->up.inside_rounds : p->up.across_rounds)) {
        return false;
    }
    bytes = iwi_segment_size(op->bytes, op->segment_bytes, step - behind);
    if (is_up) {
        plan_up(op, p->is_rooted, bytes, two);
    } else {
        plan_down(op, p->is_rooted, bytes, two);
    }
    *index_p = at + (stage == ACROSS_UP ? two->inside_rounds : stage == INSIDE_DOWN ? two->across_rounds : 0);
    return true;
}

static void han_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    struct iwi_two_level two;
    struct pipeline p;
    uint32_t count = 0;
    uint64_t at;

    plan(op, &p);
    iwi_round_clear(round);
    for (uint32_t stage = p.first; stage < p.end; stage++) {
        if (find_stage(op, &p, stage, index, &two, &at)) {
            iwi_two_level_round(&two, at, round);
            count++;
        }
    }
    if (count > 1) {
        iwi_round_all(round, op->ranks);
        round->fan = count;
    }
}

/* Sends of a rank in the stages before that one. */
static uint32_t earlier_sends(const struct iwi_operation *op, const struct pipeline *p, uint32_t stage,
                              uint64_t index, uint32_t rank)
{
    struct iwi_msg sends[1], recvs[1];
    struct iwi_role role = {.sends = sends, .recvs = recvs};
    struct iwi_two_level two;
    uint32_t count = 0;
    uint64_t at;

    for (uint32_t s = p->first; s < stage; s++) {
        if (find_stage(op, p, s, index, &two, &at)) {
            iwi_two_level_role(&two, at, rank, &role);
            count += role.send_count;
        }
    }
    return count;
}

static void han_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    struct iwi_msg sends[1], recvs[1]; /* trees: one of each in a stage */
    struct iwi_role part = {.sends = sends, .recvs = recvs};
    struct iwi_two_level two;
    struct pipeline p;
    uint64_t at;

    plan(op, &p);
    iwi_role_clear(role);
    for (uint32_t stage = p.first; stage < p.end; stage++) {
        if (!find_stage(op, &p, stage, index, &two, &at)) {
            continue;
        }
        iwi_two_level_role(&two, at, rank, &part);
        if (part.send_count > 0) {
            iwi_role_send(role, sends[0].peer, sends[0].bytes);
        }
        if (part.recv_count > 0) {
            iwi_role_recv(role, recvs[0].peer, earlier_sends(op, &p, stage, index, recvs[0].peer),
                          recvs[0].bytes);
        }
        role->reduce_bytes += part.reduce_bytes;
    }
}

/* Broadcast of two levels by segments (Open MPI's han). */

const struct iwi_algorithm iwi_bcast_han = {
    .kind = IWI_BCAST,
    .name = "han",
    .summary = "over leaders, then inside nodes, by segments",
    .uses_nodes = true,
    IWI_ROUNDS_OF(han),
};

/* Reduction of two levels by segments (Open MPI's han). */

const struct iwi_algorithm iwi_reduce_han = {
    .kind = IWI_REDUCE,
    .name = "han",
    .summary = "inside nodes, then over leaders, by segments",
    .uses_nodes = true,
    IWI_ROUNDS_OF(han),
};

/* Allreduce of two levels by segments (Open MPI's han). */

const struct iwi_algorithm iwi_allreduce_han = {
    .kind = IWI_ALLREDUCE,
    .name = "han",
    .summary = "reduce and broadcast of two levels, by segments",
    .uses_nodes = true,
    IWI_ROUNDS_OF(han),
};
