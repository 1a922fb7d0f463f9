/* Writes the rounds of a pattern down as an in-order schedule.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Two walks over the rounds: the first counts the nodes and deps of each rank in one repetition, the second
 * fills them in. Nodes of one rank lie together, so a cursor for each rank says where its next node goes.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/trace_program.h"

/* Matching needs no tags, as messages between two ranks are posted in the same order on both; they tell
 * operations apart for people. MPI promises tags up to this. */
#define TAG_COUNT 32768

struct cursor {
    uint64_t nodes, deps; /* first walk: counts of one repetition; second walk: next free place */
};

struct unroller {
    const iw_program *program;
    struct cursor *cursors;
    struct iwi_msg *sends, *recvs;
    struct iwi_schedule *schedule; /* NULL in the first walk */
    uint32_t tag;
};

static void put_node(struct unroller *u, uint32_t rank, struct iwi_node node)
{
    const uint64_t at = u->cursors[rank].nodes++;

    if (u->schedule != NULL) {
        u->schedule->nodes[at] = node;
        u->schedule->first_dep[at] = u->cursors[rank].deps;
    }
}

static void put_message(struct unroller *u, uint32_t rank, uint8_t kind, const struct iwi_msg *message)
{
    put_node(u, rank,
             (struct iwi_node){.kind = kind,
                               .flags = IWI_NODE_NONBLOCKING,
                               .peer = message->peer,
                               .tag = u->tag,
                               .amount = message->bytes});
}

static void put_calc(struct unroller *u, uint32_t rank, iw_time ps, uint8_t flags)
{
    put_node(u, rank, (struct iwi_node){.kind = IWI_CALC, .flags = flags, .amount = (uint64_t)ps});
}

/* Completes the `count` nodes before it. */
static void put_wait(struct unroller *u, uint32_t rank, uint32_t count)
{
    struct cursor *cursor = &u->cursors[rank];

    put_node(u, rank, (struct iwi_node){.kind = IWI_WAIT});
    if (u->schedule != NULL) {
        const uint64_t wait = cursor->nodes - 1 - u->schedule->first_node[rank];

        for (uint32_t i = 0; i < count; i++) {
            u->schedule->deps[cursor->deps + i] = (struct iwi_dep){(uint32_t)(wait - count + i), false};
        }
    }
    cursor->deps += count;
}

static void put_part(struct unroller *u, uint32_t rank, const struct iwi_role *role)
{
    const iw_time reduction_ps = iwi_bytes_cost(u->program->reduce, role->reduce_bytes);

    for (uint32_t i = 0; i < role->recv_count; i++) {
        put_message(u, rank, IWI_RECV, &role->recvs[i]);
    }
    for (uint32_t i = 0; i < role->send_count; i++) {
        put_message(u, rank, IWI_SEND, &role->sends[i]);
    }
    if (role->recv_count + role->send_count > 0) {
        put_wait(u, rank, role->recv_count + role->send_count);
    }
    if (reduction_ps > 0) {
        put_calc(u, rank, reduction_ps, 0);
    }
    if (role->is_phase) {
        put_calc(u, rank, role->work_ps, IWI_NODE_PHASE);
    }
}

static void walk_operation(struct unroller *u, const struct iwi_operation *op)
{
    const uint64_t round_count = op->algorithm->round_count(op);
    struct iwi_round round;

    for (uint64_t index = 0; index < round_count; index++) {
        op->algorithm->round(op, index, &round);
        for (uint32_t a = 0; a < round.range_count; a++) {
            for (uint32_t i = 0; i < round.active[a].count; i++) {
                const uint32_t rank = iwi_range_rank(&round.active[a], op->ranks, i);
                struct iwi_role role = {.sends = u->sends, .recvs = u->recvs};

                op->algorithm->role(op, index, rank, &role);
                put_part(u, rank, &role);
            }
        }
    }
}

static void walk_repetition(struct unroller *u, uint64_t repetition)
{
    const iw_program *program = u->program;

    if (iwi_program_starts_with_phase(program)) {
        for (uint32_t rank = 0; rank < program->ranks; rank++) {
            put_calc(u, rank, program->compute_ps, IWI_NODE_PHASE);
        }
    }
    for (size_t i = 0; i < program->operation_count; i++) {
        u->tag = (uint32_t)((repetition * program->operation_count + i) % TAG_COUNT);
        walk_operation(u, &program->operations[i]);
    }
}

/* Turns the counts of one repetition into the places where each rank begins. */
static iw_status lay_out(const iw_log *log, struct unroller *u, struct iwi_schedule **schedule_p)
{
    const iw_program *program = u->program;
    uint64_t nodes = 0;
    uint64_t deps = 0;

    for (uint32_t rank = 0; rank < program->ranks; rank++) {
        const struct cursor one = u->cursors[rank];
        uint64_t rank_nodes;

        u->cursors[rank] = (struct cursor){nodes, deps};
        if (__builtin_mul_overflow(one.nodes, program->repeat, &rank_nodes) || rank_nodes > UINT32_MAX) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "the pattern is too long to be stored: rank %" PRIu32 " has %" PRIu64
                            " operations in each of %" PRIu64 " repetitions, at most 2^32 fit",
                            rank, one.nodes, program->repeat);
        }
        nodes += rank_nodes;
        deps += one.deps * program->repeat;
    }
    IW_TRY(iwi_schedule_new(log, program->ranks, nodes, deps, schedule_p));
    for (uint32_t rank = 0; rank < program->ranks; rank++) {
        (*schedule_p)->first_node[rank] = u->cursors[rank].nodes;
    }
    (*schedule_p)->first_node[program->ranks] = nodes;
    (*schedule_p)->first_dep[nodes] = deps;
    (*schedule_p)->is_in_order = true;
    return IW_OK;
}

static uint32_t largest_fan(const iw_program *program)
{
    uint32_t fan = 1;

    for (size_t i = 0; i < program->operation_count; i++) {
        const struct iwi_operation *op = &program->operations[i];
        const uint64_t round_count = op->algorithm->round_count(op);
        struct iwi_round round;

        for (uint64_t index = 0; index < round_count; index++) {
            op->algorithm->round(op, index, &round);
            fan = round.fan > fan ? round.fan : fan;
        }
    }
    return fan;
}

static iw_status unroll(const iw_log *log, struct unroller *u, struct iwi_schedule **schedule_p)
{
    const uint32_t fan = largest_fan(u->program);
    struct iwi_schedule *schedule;

    u->cursors = iwi_new_array(log, u->program->ranks, sizeof *u->cursors);
    u->sends = u->cursors == NULL ? NULL : iwi_new_array(log, fan, sizeof *u->sends);
    u->recvs = u->sends == NULL ? NULL : iwi_new_array(log, fan, sizeof *u->recvs);
    if (u->recvs == NULL) {
        return IW_ERR_NOMEM;
    }
    walk_repetition(u, 0);
    IW_TRY(lay_out(log, u, &schedule));
    u->schedule = schedule;
    for (uint64_t repetition = 0; repetition < u->program->repeat; repetition++) {
        walk_repetition(u, repetition);
    }
    *schedule_p = schedule;
    return IW_OK;
}

iw_status iwi_program_unroll(const iw_log *log, const iw_program *program, struct iwi_schedule **schedule_p)
{
    struct unroller u = {.program = program};
    iw_status status;

    if (program->trace != NULL) {
        return iwi_trace_unroll(log, program, schedule_p);
    }
    if (program->operations == NULL) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "only a pattern or a trace can be unrolled; this program is a schedule already");
    }
    status = unroll(log, &u, schedule_p);
    free(u.cursors);
    free(u.sends);
    free(u.recvs);
    return status;
}
