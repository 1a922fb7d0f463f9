/* Makes a program of a trace.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/program/message_list.h"
#include "core/program/node_table.h"
#include "core/program/trace_build.h"
#include "core/program/trace_resample.h"

#define MAX_RANKS (UINT32_C(1) << 30)

void iwi_trace_program_free(struct iwi_trace_program *program)
{
    if (program == NULL) {
        return;
    }
    iwi_schedule_free(program->schedule);
    free(program->collectives);
    free(program->operations);
    for (size_t i = 0; i < program->message_list_count; i++) {
        iwi_message_list_free(program->message_lists[i]);
    }
    free(program->message_lists);
    free(program->grows);
    iwi_node_table_free(program->node_table);
    free(program->tags);
    free(program->first_membership);
    free(program->memberships);
    iwi_trace_resample_free(program->resample);
    free(program);
}

uint64_t iwi_trace_phases(const struct iwi_trace_program *program, uint32_t rank)
{
    const struct iwi_schedule *schedule = program->schedule;
    const uint32_t base = rank % program->base;
    uint64_t count = 0;

    for (uint64_t n = schedule->first_node[base]; n < schedule->first_node[base + 1]; n++) {
        count += schedule->nodes[n].kind == IWI_CALC && (schedule->nodes[n].flags & IWI_NODE_PHASE) != 0;
    }
    return count;
}

/* ---- who is in which communicator ---- */

uint32_t iwi_trace_rank_in(const struct iwi_trace_program *program, uint32_t comm, uint32_t rank)
{
    size_t at;

    if (program->comms[comm].members == NULL) {
        return rank;
    }
    IWI_FIRST_NOT(at, program->first_membership[rank], program->first_membership[rank + 1],
                  program->memberships[at].comm < comm);
    return at < program->first_membership[rank + 1] && program->memberships[at].comm == comm
               ? program->memberships[at].rank
               : UINT32_MAX;
}

static iw_status check_comms(const iw_log *log, const struct iwi_trace_program *program)
{
    for (uint32_t comm = 0; comm < program->comm_count; comm++) {
        const struct iwi_comm *c = &program->comms[comm];

        if (c->members == NULL && c->size != program->base) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "communicator %" PRIu32 " of %" PRIu32 " ranks has no list of members", comm,
                            c->size);
        }
        for (uint32_t i = 0; c->members != NULL && i < c->size; i++) {
            if (c->members[i] >= program->base) {
                return iwi_fail(log, IW_ERR_FORMAT,
                                "communicator %" PRIu32 ": member %" PRIu32 ", but the trace has %" PRIu32
                                " ranks",
                                comm, c->members[i], program->base);
            }
        }
    }
    return IW_OK;
}

/* Counts, then fills: first_membership[r + 1] is the next free place of rank r while filling. */
static iw_status list_memberships(const iw_log *log, struct iwi_trace_program *program)
{
    uint64_t *first = program->first_membership =
        iwi_new_array(log, (size_t)program->base + 2, sizeof *program->first_membership);

    if (first == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t comm = 0; comm < program->comm_count; comm++) {
        for (uint32_t i = 0; program->comms[comm].members != NULL && i < program->comms[comm].size; i++) {
            first[program->comms[comm].members[i] + 2]++;
        }
    }
    for (uint32_t rank = 0; rank < program->base; rank++) {
        first[rank + 2] += first[rank + 1];
    }
    program->memberships = iwi_new_array(log, (size_t)first[program->base + 1], sizeof *program->memberships);
    if (program->memberships == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t comm = 0; comm < program->comm_count; comm++) {
        for (uint32_t i = 0; program->comms[comm].members != NULL && i < program->comms[comm].size; i++) {
            program->memberships[first[program->comms[comm].members[i] + 1]++] =
                (struct iwi_trace_membership){comm, i};
        }
    }
    return IW_OK;
}

/* ---- which communicators grow ---- */

static iw_status choose_growing(struct iwi_trace_build *b)
{
    const char *told = b->opts->grow;
    const struct iwi_growing growing = iwi_trace_growing(b->trace, told);
    struct iwi_trace_program *program = b->program;
    bool has_some = false;

    program->grows = iwi_new_array(b->log, program->comm_count, sizeof *program->grows);
    if (program->grows == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t comm = 0; comm < program->comm_count; comm++) {
        const bool is_told = iwi_comm_grows(&growing, comm);

        program->grows[comm] = is_told || (b->trace->is_training && iwi_trace_is_world(program, comm));
        has_some |= is_told;
    }
    return told == NULL || has_some
               ? IW_OK
               : iwi_fail(b->log, IW_ERR_USAGE, "no communicator of the trace has '%s' in its name", told);
}

static bool keeps_size(const struct iwi_trace_build *b, uint32_t comm)
{
    return b->first_collective[comm + 1] > b->first_collective[comm] && b->program->comms[comm].size > 1 &&
           !iwi_trace_is_wide(b->program, comm);
}

/* Rows and columns of a process grid would often have more members on more ranks. */
static void warn_of_sizes(const struct iwi_trace_build *b)
{
    enum { NAMED = 3 };
    uint32_t count = 0;
    char text[NAMED * (IWI_COMM_NAME_SIZE + 32)] = "";
    size_t used = 0;

    for (uint32_t comm = 0; b->program->replicas > 1 && comm < b->program->comm_count; comm++) {
        if (keeps_size(b, comm) && count++ < NAMED) {
            char label[IWI_COMM_NAME_SIZE];

            iwi_comm_label(b->trace, comm, label);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%" PRIu32 " ranks)",
                                     used > 0 ? ", " : "", label, b->program->comms[comm].size);
        }
    }
    if (count > 0) {
        iwi_warn(b->log,
                 "%" PRIu32 " communicator%s traced size on %" PRIu32
                 " ranks: %s%s; `grow` lets one span all replicas",
                 count, count == 1 ? " keeps its" : "s keep their", b->program->base * b->program->replicas,
                 text, count > NAMED ? ", ..." : "");
    }
}

/* ---- options ---- */

static iw_status check_opts(const iw_log *log, const struct iw_trace *trace, const iw_trace_opts *opts)
{
    if (trace->rank_count == 0 || trace->comm_count == 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "the trace has no ranks");
    }
    if (opts->ranks > MAX_RANKS || opts->ranks % trace->rank_count != 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%" PRIu32 " ranks are not possible: the trace has %" PRIu32
                        ", which can be replicated to a multiple of that, for instance %" PRIu64,
                        opts->ranks, trace->rank_count,
                        (opts->ranks / trace->rank_count + UINT64_C(1)) * trace->rank_count);
    }
    if (!(opts->compute_scale >= 0) || isinf(opts->compute_scale)) {
        return iwi_fail(log, IW_ERR_RANGE, "compute times cannot be multiplied by %g", opts->compute_scale);
    }
    if (opts->clock == IW_COMPUTE_CPU && !trace->has_cpu_time) {
        return iwi_fail(log, IW_ERR_USAGE, "the trace has no CPU times: take wall-clock times");
    }
    if (opts->reduce < 0) {
        return iwi_fail(log, IW_ERR_RANGE, "a reduction cannot take negative time");
    }
    return IW_OK;
}

/* ---- messages ---- */

/* Adds n * times; false if that leaves 63 bits. */
static bool add_product(uint64_t *sum, uint64_t n, uint64_t times)
{
    uint64_t product;

    return !__builtin_mul_overflow(n, times, &product) && !__builtin_add_overflow(*sum, product, sum) &&
           *sum <= INT64_MAX;
}

static iw_status count_messages(const iw_log *log, struct iwi_trace_program *program, bool has_collectives)
{
    const uint64_t node_count = program->schedule->first_node[program->base];
    bool fits = true;

    for (uint64_t n = 0; n < node_count && fits; n++) {
        fits = program->schedule->nodes[n].kind != IWI_SEND ||
               add_product(&program->messages, 1, program->replicas);
    }
    for (uint64_t c = 0; has_collectives && fits && c < program->collective_count; c++) {
        const struct iwi_operation *op = &program->operations[program->collectives[c].operation];

        fits = add_product(&program->messages, op->algorithm->message_count(op),
                           iwi_trace_is_wide(program, program->collectives[c].comm) ? 1 : program->replicas);
    }
    return fits ? IW_OK
                : iwi_fail(log, IW_ERR_RANGE, "the program has more than 2^63 messages; take fewer ranks");
}

static iw_status check_reductions(const iw_log *log, const struct iwi_trace_program *program,
                                  iw_fs_per_byte reduce)
{
    for (size_t i = 0; i < program->operation_count; i++) {
        if (iwi_bytes_cost(reduce, program->operations[i].bytes) > IW_TIME_INPUT_MAX) {
            return iwi_fail(log, IW_ERR_RANGE, "the reduction of %" PRIu64 " bytes must last at most 10 days",
                            program->operations[i].bytes);
        }
    }
    return IW_OK;
}

/* ---- collectives beside the rest ---- */

/* What goes on side by side is no sequence of operations: the program becomes a graph. */
static iw_status become_graph(const iw_log *log, iw_program *program)
{
    struct iwi_schedule *sequence;
    iw_status status;

    if (program->trace->collective_count > UINT32_MAX - program->trace->tag_count) {
        return iwi_fail(log, IW_ERR_RANGE, "the trace has more than 2^32 collectives");
    }
    IW_TRY(iwi_trace_unroll(log, program, &sequence));
    status = iwi_schedule_to_dag(log, sequence, &program->schedule);
    iwi_schedule_free(sequence);
    if (status == IW_OK) {
        iwi_trace_program_free(program->trace);
        program->trace = NULL;
    }
    return status;
}

/* Collectives over a part of all replicas fit neither within a replica nor between segments of all. */
static bool has_growing(const struct iwi_trace_program *program)
{
    for (uint32_t comm = 0; program->replicas > 1 && comm < program->comm_count; comm++) {
        if (program->grows[comm] && !iwi_trace_is_world(program, comm)) {
            return true;
        }
    }
    return false;
}

/* ---- the program ---- */

static iw_status build(struct iwi_trace_build *b)
{
    struct iwi_trace_program *program = b->program;
    const bool has_collectives = !b->opts->drops_collectives;

    IW_TRY(check_comms(b->log, program));
    IW_TRY(list_memberships(b->log, program));
    IW_TRY(choose_growing(b));
    if (has_collectives) {
        IW_TRY(iwi_trace_build_collectives(b));
        warn_of_sizes(b);
        IW_TRY(check_reductions(b->log, program, b->opts->reduce));
    }
    IW_TRY(iwi_trace_build_nodes(b));
    if (program->replicas > 1 && b->opts->replica_compute == IW_REPLICA_RESAMPLE) {
        IW_TRY(iwi_trace_resample_new(b, &program->resample));
    }
    return count_messages(b->log, program, has_collectives);
}

iw_status iwi_program_from_rules(const iw_log *log, const struct iw_trace *trace, const iw_trace_opts *opts,
                                 const struct iwi_rule_set *set, iw_program **program_p)
{
    iw_trace_opts own = *opts;
    struct iwi_trace_build b = {.log = log, .trace = trace, .opts = &own, .set = set};
    iw_program *program;
    iw_status status;

    own.async = trace->is_training ? IW_ASYNC_THREAD : opts->async;
    IW_TRY(check_opts(log, trace, opts));
    program = iwi_new_array(log, 1, sizeof *program);
    if (program == NULL || (program->trace = iwi_new_array(log, 1, sizeof *program->trace)) == NULL) {
        iw_program_free(program);
        return IW_ERR_NOMEM;
    }
    b.program = program->trace;
    program->trace->base = trace->rank_count;
    program->trace->replicas = opts->ranks == 0 ? 1 : opts->ranks / trace->rank_count;
    program->trace->comms = trace->comms;
    program->trace->comm_count = trace->comm_count;
    program->ranks = program->trace->base * program->trace->replicas;
    program->reduce = opts->reduce;
    program->repeat = 1;
    program->trace->aside_cpu = own.async == IW_ASYNC_THREAD ? 1 : 0;
    status = build(&b);
    free(b.first_collective);
    if (status == IW_OK && (program->trace->has_aside || has_growing(program->trace))) {
        status = become_graph(log, program);
    }
    if (status != IW_OK) {
        iw_program_free(program);
        return status;
    }
    *program_p = program;
    return IW_OK;
}

/* Writes a trace program down as an in-order schedule: all replicas, all messages of all collectives.
 *
 * Each different operation is unrolled once, as a pattern of its own; ranks copy their part of it.
 */

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
