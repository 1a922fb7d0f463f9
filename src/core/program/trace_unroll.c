/* Writes a trace program down as an in-order schedule: all replicas, all messages of all collectives.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each different operation is unrolled once, as a pattern of its own; ranks copy their part of it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/program/trace_resample.h"

struct unroller {
    const iw_log *log;
    const iw_program *program;
    const struct iwi_trace_program *trace;
    struct iwi_schedule **templates; /* of each operation; NULL: not needed yet */
    uint32_t *place;                 /* of one rank's base nodes: where they went within the rank */
    struct iwi_schedule *schedule;   /* NULL: counting */
    uint64_t first_node, nodes, deps;
};

static iw_status make_template(struct unroller *u, uint32_t operation)
{
    const iw_program alone = {.operations = &u->trace->operations[operation],
                              .operation_count = 1,
                              .repeat = 1,
                              .reduce = u->program->reduce,
                              .ranks = u->trace->operations[operation].ranks};

    return u->templates[operation] != NULL ? IW_OK
                                           : iwi_program_unroll(u->log, &alone, &u->templates[operation]);
}

static void put_dep(struct unroller *u, uint64_t node)
{
    if (u->schedule != NULL) {
        u->schedule->deps[u->deps] = (struct iwi_dep){(uint32_t)node, false};
    }
    u->deps++;
}

static void put_node(struct unroller *u, const struct iwi_node *node, uint32_t call)
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
static void put_collective(struct unroller *u, const struct iwi_node *base, uint32_t replica,
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
        put_node(u, &nothing, call);
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
        put_node(u, &node, call);
        for (uint64_t d = part->first_dep[n]; d < part->first_dep[n + 1]; d++) {
            put_dep(u, start + part->deps[d].node);
        }
    }
}

static void walk_rank(struct unroller *u, uint32_t replica, uint32_t base_rank)
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
        put_node(u, &node, base->call_of[n]);
        for (uint64_t d = base->first_dep[n]; d < base->first_dep[n + 1]; d++) {
            put_dep(u, u->place[base->deps[d].node]);
        }
    }
}

static iw_status walk_all(struct unroller *u)
{
    u->nodes = u->deps = 0;
    for (uint32_t rank = 0; rank < u->program->ranks; rank++) {
        if (u->schedule != NULL) {
            u->schedule->first_node[rank] = u->nodes;
        }
        walk_rank(u, rank / u->trace->base, rank % u->trace->base);
        if (u->nodes - u->first_node > UINT32_MAX) {
            return iwi_fail(u->log, IW_ERR_RANGE,
                            "the program is too long to be stored: rank %" PRIu32 " has over 2^32 operations",
                            rank);
        }
    }
    return IW_OK;
}

/* Better to say so than to be killed half way. */
static iw_status check_memory(const struct unroller *u, double nodes, double deps)
{
    const double needed = nodes * (sizeof(struct iwi_node) + sizeof(uint64_t) + sizeof(uint32_t)) +
                          deps * sizeof(struct iwi_dep);
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    if (needed > there / 2) {
        return iwi_fail(u->log, IW_ERR_RANGE,
                        "stored message by message this program needs %.0f GiB, more than half of the memory "
                        "here: take fewer ranks",
                        needed / (1 << 30));
    }
    return IW_OK;
}

static iw_status make_templates(struct unroller *u)
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

static iw_status unroll(struct unroller *u)
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

iw_status iwi_trace_unroll(const iw_log *log, const iw_program *program, struct iwi_schedule **schedule_p)
{
    struct unroller u = {.log = log, .program = program, .trace = program->trace};
    const iw_status status = unroll(&u);

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
