/* Writes patterns and trace programs down as in-order schedules.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Of a pattern, two walks over the rounds: the first counts the nodes and deps of each rank in one
 * repetition, the second fills them in. Nodes of one rank lie together, so a cursor for each rank says where
 * its next node goes.
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/program/trace_program.h"
#include "core/program/trace_resample.h"

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
                            "the pattern is too long to store: rank %" PRIu32 " has %" PRIu64
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

/* ---- trace programs: all replicas, all messages of all collectives ---- */

/* Each different operation is unrolled once, as a pattern of its own; ranks copy their part of it. */
struct trace_unroller {
    const iw_log *log;
    const iw_program *program;
    const struct iwi_trace_program *trace;
    struct iwi_schedule **templates; /* of each operation; NULL: not needed yet */
    uint32_t *place;                 /* of one rank's base nodes: where they went within the rank */
    struct iwi_schedule *schedule;   /* NULL: counting */
    uint64_t first_node, nodes, deps;
};

static iw_status make_template(struct trace_unroller *u, uint32_t operation)
{
    const iw_program alone = {.operations = &u->trace->operations[operation],
                              .operation_count = 1,
                              .repeat = 1,
                              .reduce = u->program->reduce,
                              .ranks = u->trace->operations[operation].ranks};

    return u->templates[operation] != NULL ? IW_OK
                                           : iwi_program_unroll(u->log, &alone, &u->templates[operation]);
}

static void put_dep(struct trace_unroller *u, uint64_t node)
{
    if (u->schedule != NULL) {
        u->schedule->deps[u->deps] = (struct iwi_dep){(uint32_t)node, false};
    }
    u->deps++;
}

static void put_traced(struct trace_unroller *u, const struct iwi_node *node, uint32_t call)
{
    if (u->schedule != NULL) {
        u->schedule->nodes[u->nodes] = *node;
        u->schedule->call_of[u->nodes] = call;
        u->schedule->first_dep[u->nodes] = u->deps;
    }
    u->nodes++;
}

/* Marks a node of a collective that goes on beside what follows its start. */
static void put_aside(const struct iwi_trace_program *trace, bool is_first, struct iwi_node *node)
{
    node->flags |= (uint8_t)(IWI_NODE_ASIDE | (is_first ? IWI_NODE_ASIDE_FIRST : 0));
    node->cpu = trace->aside_cpu;
}

/* Messages of collectives have tags of their own, one for each communicator; or for each collective, where
 * several of a communicator can be under way. */
static void put_collective(struct trace_unroller *u, const struct iwi_node *base, uint32_t replica,
                           uint32_t base_rank, uint32_t call)
{
    const uint64_t index = base->amount;
    const struct iwi_trace_program *trace = u->trace;
    const struct iwi_trace_collective *collective = &trace->collectives[index];
    const struct iwi_schedule *part = u->templates[collective->operation];
    const uint32_t in_replica = iwi_trace_rank_in(trace, collective->comm, base_rank);
    const uint32_t rank = iwi_trace_is_wide(trace, collective->comm)
                              ? replica * trace->comms[collective->comm].size + in_replica
                              : in_replica;
    const uint64_t start = u->nodes - u->first_node,
                   count = part->first_node[rank + 1] - part->first_node[rank];
    const bool is_aside = (base->flags & IWI_NODE_NONBLOCKING) != 0;

    if (is_aside && count == 0) { /* of one rank; waits need something to complete */
        struct iwi_node nothing = {.kind = IWI_CALC};

        put_aside(trace, true, &nothing);
        put_traced(u, &nothing, call);
        return;
    }
    if (u->schedule == NULL) {
        u->nodes += count;
        u->deps += part->first_dep[part->first_node[rank + 1]] - part->first_dep[part->first_node[rank]];
        return;
    }
    for (uint64_t n = part->first_node[rank]; n < part->first_node[rank + 1]; n++) {
        struct iwi_node node = part->nodes[n];

        if (node.kind == IWI_SEND || node.kind == IWI_RECV) {
            node.peer = iwi_trace_world_rank(trace, collective->comm, replica, node.peer);
            node.tag = trace->tag_count + (trace->has_aside ? (uint32_t)index : collective->comm);
        }
        if (is_aside) {
            put_aside(trace, n == part->first_node[rank], &node);
        }
        put_traced(u, &node, call);
        for (uint64_t d = part->first_dep[n]; d < part->first_dep[n + 1]; d++) {
            put_dep(u, start + part->deps[d].node);
        }
    }
}

static void walk_rank(struct trace_unroller *u, uint32_t replica, uint32_t base_rank)
{
    const struct iwi_schedule *base = u->trace->schedule;
    const uint64_t first = base->first_node[base_rank];
    uint32_t phase = 0;

    u->first_node = u->nodes;
    for (uint64_t n = first; n < base->first_node[base_rank + 1]; n++) {
        struct iwi_node node = base->nodes[n];

        u->place[n - first] = (uint32_t)(u->nodes - u->first_node);
        if (node.kind == IWI_COLLECTIVE) {
            put_collective(u, &node, replica, base_rank, base->call_of[n]);
            u->place[n - first] = (uint32_t)(u->nodes - u->first_node) - 1; /* its end, for waits */
            continue;
        }
        if (node.kind == IWI_SEND || node.kind == IWI_RECV) {
            node.peer += replica * u->trace->base;
        } else if (node.kind == IWI_CALC && (node.flags & IWI_NODE_PHASE) != 0) {
            node.amount = (uint64_t)iwi_trace_compute(u->trace, replica * u->trace->base + base_rank, phase++,
                                                      (iw_time)node.amount);
        }
        put_traced(u, &node, base->call_of[n]);
        for (uint64_t d = base->first_dep[n]; d < base->first_dep[n + 1]; d++) {
            put_dep(u, u->place[base->deps[d].node]);
        }
    }
}

static iw_status walk_all(struct trace_unroller *u)
{
    u->nodes = u->deps = 0;
    for (uint32_t rank = 0; rank < u->program->ranks; rank++) {
        if (u->schedule != NULL) {
            u->schedule->first_node[rank] = u->nodes;
        }
        walk_rank(u, rank / u->trace->base, rank % u->trace->base);
        if (u->nodes - u->first_node > UINT32_MAX) {
            return iwi_fail(u->log, IW_ERR_RANGE,
                            "the program is too long to store: rank %" PRIu32 " has over 2^32 operations",
                            rank);
        }
    }
    return IW_OK;
}

/* Better to say so than to be killed half way. */
static iw_status check_memory(const struct trace_unroller *u, double nodes, double deps)
{
    const double needed = nodes * (sizeof(struct iwi_node) + sizeof(uint64_t) + sizeof(uint32_t)) +
                          deps * sizeof(struct iwi_dep);
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    if (needed > there / 2) {
        return iwi_fail(u->log, IW_ERR_RANGE,
                        "stored message by message this program needs %.0f GiB, more than half of this "
                        "machine's memory: use fewer ranks",
                        needed / (1 << 30));
    }
    return IW_OK;
}

static iw_status make_templates(struct trace_unroller *u)
{
    const struct iwi_schedule *base = u->trace->schedule;

    for (uint64_t n = 0; n < base->first_node[u->trace->base]; n++) {
        if (base->nodes[n].kind == IWI_COLLECTIVE) {
            IW_TRY(make_template(u, u->trace->collectives[base->nodes[n].amount].operation));
        }
    }
    return IW_OK;
}

static uint64_t longest_rank(const struct iwi_schedule *base)
{
    uint64_t longest = 0;

    for (uint32_t rank = 0; rank < base->ranks; rank++) {
        const uint64_t length = base->first_node[rank + 1] - base->first_node[rank];

        longest = length > longest ? length : longest;
    }
    return longest;
}

static iw_status unroll_all(struct trace_unroller *u)
{
    struct iwi_schedule *schedule;

    u->templates = iwi_new_array(u->log, u->trace->operation_count, sizeof(struct iwi_schedule *));
    u->place = iwi_new_array(u->log, (size_t)longest_rank(u->trace->schedule), sizeof *u->place);
    if (u->templates == NULL || u->place == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(check_memory(u, 2.0 * (double)u->trace->messages, 0)); /* a send and a receive each, at least */
    IW_TRY(make_templates(u));
    IW_TRY(walk_all(u));
    IW_TRY(check_memory(u, (double)u->nodes, (double)u->deps));
    IW_TRY(iwi_schedule_new(u->log, u->program->ranks, u->nodes, u->deps, &schedule));
    u->schedule = schedule;
    schedule->is_in_order = true;
    schedule->cpu_count = (uint8_t)(u->trace->has_aside ? u->trace->aside_cpu + 1 : 1);
    schedule->call_of = iwi_new_array(u->log, (size_t)u->nodes, sizeof *schedule->call_of);
    if (schedule->call_of == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(walk_all(u));
    schedule->first_node[u->program->ranks] = u->nodes;
    schedule->first_dep[u->nodes] = u->deps;
    return IW_OK;
}

static iw_status unroll_trace(const iw_log *log, const iw_program *program, struct iwi_schedule **schedule_p)
{
    struct trace_unroller u = {.log = log, .program = program, .trace = program->trace};
    const iw_status status = unroll_all(&u);

    for (size_t i = 0; u.templates != NULL && i < program->trace->operation_count; i++) {
        iwi_schedule_free(u.templates[i]);
    }
    free(u.templates);
    free(u.place);
    if (status != IW_OK) {
        iwi_schedule_free(u.schedule);
        return status;
    }
    *schedule_p = u.schedule;
    return IW_OK;
}

iw_status iwi_program_unroll(const iw_log *log, const iw_program *program, struct iwi_schedule **schedule_p)
{
    struct unroller u = {.program = program};
    iw_status status;

    if (program->trace != NULL) {
        return unroll_trace(log, program, schedule_p);
    }
    if (program->operations == NULL) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "only a pattern or a trace can be unrolled: this program is already a schedule");
    }
    status = unroll(log, &u, schedule_p);
    free(u.cursors);
    free(u.sends);
    free(u.recvs);
    return status;
}
