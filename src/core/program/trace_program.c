/* Makes a program of a trace.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/trace_build.h"
#include "core/program/trace_resample.h"

#define MOST_RANKS (UINT32_C(1) << 30)

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
                 " ranks: %s%s; to span all replicas, use `grow`",
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
    if (opts->ranks > MOST_RANKS || opts->ranks % trace->rank_count != 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%" PRIu32 " ranks: the trace has %" PRIu32
                        " and can only be replicated to a multiple, for instance %" PRIu64,
                        opts->ranks, trace->rank_count,
                        (opts->ranks / trace->rank_count + UINT64_C(1)) * trace->rank_count);
    }
    if (!(opts->compute_scale >= 0) || isinf(opts->compute_scale)) {
        return iwi_fail(log, IW_ERR_RANGE, "invalid factor for compute times: %g", opts->compute_scale);
    }
    if (opts->clock == IW_COMPUTE_CPU && !trace->has_cpu_time) {
        return iwi_fail(log, IW_ERR_USAGE, "the trace has no CPU times: use wall-clock times");
    }
    if (opts->reduce < 0) {
        return iwi_fail(log, IW_ERR_RANGE, "negative time for a reduction");
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
                : iwi_fail(log, IW_ERR_RANGE, "the program has more than 2^63 messages: use fewer ranks");
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
    IW_TRY(iwi_program_unroll(log, program, &sequence));
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
