/* `idlewave explain`: why was this run slow?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/blame.h>
#include <idlewave/idlewave.h>

#include "options/shown_opts.h"
#include "options/verbs.h"

struct explaining_opts {
    struct opt_origins origins;
    struct shown_opts shown;
};

static const struct opt_group groups[] = {
    SHOWN_GROUP("Output; csv has one line per source", offsetof(struct explaining_opts, shown)),
};

static const struct explaining_opts defaults = {.shown.plot = NULL};

static const char *const synopsis[] = {"[options] RUN", NULL};

static const char description[] = "Reads a run that was traced with 'idlewave trace --kernel', and reports "
                                  "which interrupts and which other "
                                  "programs' threads delayed it: on the critical path of the run itself, "
                                  "from rank to rank, with the MPI call, "
                                  "the communicator and the iteration in which a delay was felt, and by "
                                  "whom.\nFor each source it runs the trace again "
                                  "without the detours of that source, and so says what the run would have "
                                  "taken. The interval is for another run "
                                  "without it, which meets the other sources at other times.\nWhat the "
                                  "kernel does not report (the hypervisor, the "
                                  "hardware) is not blamed on anybody, but widens the intervals.";

static const struct example examples[] = {
    {"trace and ask", "mpirun -n 64 idlewave trace --kernel -o run -- ./app\n  idlewave explain run"},
    {"a page of it", "idlewave explain run --format html > run.html"},
    {NULL, NULL},
};

static iw_status blame_run(struct ui *ui, const char *path, iw_blame **blame_p)
{
    iw_recording **kernel = NULL;
    iw_trace *trace = NULL;
    size_t count = 0;
    iw_status status;

    status = iw_blame_load(&ui->log, path, &kernel, &count);
    if (status != IW_OK) {
        ui_hint(ui,
                "trace the program with 'idlewave trace --kernel'; 'idlewave waits' needs no such recording");
        return status;
    }
    status = iw_trace_open(&ui->log, path, &trace);
    if (status == IW_OK) {
        status = iw_blame_run(&ui->log, path, trace, (const iw_recording *const *)kernel, count, blame_p);
    }
    iw_trace_free(trace);
    iw_recordings_free(kernel, count);
    return status;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct explaining_opts *opts = values;
    iw_blame *blame = NULL;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "which run? idlewave explain RUN");
    }
    status = blame_run(ui, args->values[0], &blame);
    code = status == IW_OK ? shown_write(ui, &opts->shown, iw_blame_doc(blame)) : ui_exit_of(status);
    iw_blame_free(blame);
    return code;
}

const struct verb verb_explain = {
    .name = "explain",
    .group = VERB_RUN,
    .summary = "explain what delayed a traced run and how long it would have taken otherwise",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "RUN",
    .argument_help = "the folder of a trace, made with 'idlewave trace --kernel'",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct explaining_opts),
    .most_arguments = 1,
    .run = run,
};
