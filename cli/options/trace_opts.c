/* Traces as programs: their options, and what is made of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/trace_opts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "options/program_opts.h"

/* In the order of iw_compute_clock. */
static const char *const clocks[] = {"auto", "wall", "cpu", NULL};
/* In the order of iw_replica_compute. */
static const char *const computes[] = {"resample", "copy", NULL};

/* In the order of iw_async. */
static const char *const asyncs[] = {"wait", "calls", "thread", NULL};

#define ROW(...) OPT_ROW(struct program_opts, __VA_ARGS__)
const struct opt trace_rows[] = {
    ROW("collectives", OPT_STRING, trace.rules, "RULES",
        "algorithms of a trace's collectives: paper, ompi-4.1, ompi-5, mpich, nccl-ring, nccl, or a file of "
        "Open MPI's "
        "rules (default paper); also of a pattern's operations without ALGORITHM (by name)",
        .known = iw_rules_name),
    ROW("algorithm", OPT_LIST, algorithms, "OP[>SIZE]=NAME",
        "another algorithm for one operation, for example 'bcast>64KiB=chain/8KiB' (in segments of 8 KiB); "
        "may be repeated"),
    ROW("no-p2p", OPT_FLAG, trace.drops_p2p, "", "leave out point-to-point messages and their waits"),
    ROW("no-collectives", OPT_FLAG, trace.drops_collectives, "", "leave out collectives"),
    ROW("compute-scale", OPT_FACTOR, trace.compute_scale, "FACTOR",
        "multiply traced computation by FACTOR; 0: communication only", .may_be_zero = true),
    ROW("compute-clock", OPT_CHOICE, trace.clock, "",
        "take computation as wall-clock time, which includes the noise of the traced run, or as CPU time "
        "(default auto: cpu if the trace has it)",
        .choices = clocks),
    ROW("replica-compute", OPT_CHOICE, trace.replica_compute, "",
        "computation on more ranks than were traced: each replica draws its own from the traced computation, "
        "so that imbalance grows with the number of ranks, or all replicas copy it (default resample)",
        .choices = computes),
    ROW("async", OPT_CHOICE, trace.async, "",
        "where nonblocking collectives go on: in the wait that completes them, in all calls of their rank, "
        "or "
        "at any time by a thread on a CPU of its own (default wait)",
        .choices = asyncs),
    ROW("grow", OPT_STRING, trace.grow, "NAME",
        "on more ranks than were traced, groups with NAME in their name span all replicas; others are copied "
        "(default: those of data parallelism by their usual names)"),
    ROW("replica-seed", OPT_COUNT, trace.replica_seed, "N", "seed of what replicas draw (default 1)",
        .min = 1, .max = INT64_MAX),
};
#undef ROW
_Static_assert(sizeof trace_rows / sizeof trace_rows[0] == TRACE_ROW_COUNT, "count of rows in the header");

/* What the result calls it. */
static void describe(const iw_trace *trace, const iw_program *program, struct program_source *source)
{
    const size_t size = 128;
    iw_trace_info info;
    char *what = ui_grow(NULL, size, 1);
    const char *joined;

    iw_trace_describe(trace, &info);
    joined = info.threaded_ranks > 0 ? ", calls of several threads in one sequence" : "";
    if (iw_program_ranks(program) > info.ranks) {
        snprintf(what, size, "%lu replicas of %lu traced ranks%s",
                 (unsigned long)(iw_program_ranks(program) / info.ranks), (unsigned long)info.ranks, joined);
    } else {
        snprintf(what, size, "traced%s", joined);
    }
    source->note = what;
}

static iw_status make(struct ui *ui, const struct program_opts *opts, const iw_net *net,
                      struct program_source *source, iw_program **program_p)
{
    const char **algorithms = ui_grow(NULL, opts->algorithms.count + 1, sizeof *algorithms);
    iw_trace_opts trace_opts = opts->trace;
    iw_status status;

    for (size_t i = 0; i < opts->algorithms.count; i++) {
        algorithms[i] = opts->algorithms.items[i];
    }
    algorithms[opts->algorithms.count] = NULL;
    trace_opts.algorithms = algorithms;
    trace_opts.ranks = (uint32_t)opts->ranks;
    trace_opts.reduce = opts->reduce;
    if (net != NULL) {
        trace_opts.nodes = iw_net_nodes(net);
    }
    status = iw_program_from_trace(&ui->log, source->trace, &trace_opts, program_p);
    if (status == IW_OK) {
        status = iw_trace_describe_program(&ui->log, source->trace, &trace_opts, &source->traced);
    }
    free(algorithms);
    return status;
}

int program_make_from_trace(struct ui *ui, const struct program_opts *opts, const iw_net *net,
                            struct program_source *source, iw_program **program_p)
{
    iw_program *program = NULL;
    iw_status status = iw_trace_open(&ui->log, source->path, &source->trace);

    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    status = make(ui, opts, net, source, &program);
    if (status == IW_OK) {
        status = iw_program_set_delays(&ui->log, program, source->delays, source->delay_count);
    }
    if (status != IW_OK) {
        iw_program_free(program);
        return status == IW_ERR_FORMAT ? ui_exit_of(status) : ui_exit_of_value(ui, status);
    }
    describe(source->trace, program, source);
    *program_p = program;
    return UI_DONE;
}

void program_explain_deadlock(const struct ui *ui, const struct program_source *source)
{
    iw_trace_info info = {.threaded_ranks = 0};

    if (source->trace != NULL) {
        iw_trace_describe(source->trace, &info);
    }
    if (info.threaded_ranks > 0) {
        ui_hint(ui, "the likely reason: ranks called MPI from several threads; their calls are put in one "
                    "sequence, in which a call may wait for one that comes after it");
    }
}

void hint_at_traces(const struct ui *ui, const char *path)
{
    const size_t length = strlen(path);

    if (iw_is_folder(path) || (length > 5 && strcmp(path + length - 5, ".json") == 0) ||
        (length > 3 && strcmp(path + length - 3, ".gz") == 0)) {
        ui_hint(ui, "'idlewave explain' and 'idlewave simulate' read traces and profiles of whole runs");
    }
}
