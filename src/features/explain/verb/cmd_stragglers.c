/* `idlewave stragglers`: what a training job lost because its workers were not alike.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "options/shown_opts.h"
#include "options/trace_opts.h"
#include "options/verbs.h"

struct stragglers_opts {
    struct opt_origins origins;
    const char *meta, *left_out;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct stragglers_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("meta", OPT_STRING, meta, "FILE",
        "the file of sizes that comes with the timeline: it is checked, and says how many GPUs there were"),
    ROW("leave-out", OPT_STRING, left_out, "STEP[-STEP][,...]", "ignore these steps"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("The job", rows, 0),
    SHOWN_GROUP("Output; csv has a line for each step", offsetof(struct stragglers_opts, shown)),
};

static const struct stragglers_opts defaults = {.meta = NULL};

static const char *const synopsis[] = {"[options] TIMELINE", NULL};

static const char description[] =
    "Reads the timeline of a pipelined training job: how long each worker computed, and how long each "
    "transfer took once all had come. Replays it as it was, with the usual time of its kind for every "
    "operation, and with mixtures of the two. Says by which factor S the job was slower than with usual "
    "times, "
    "and how much of that is due to slow workers, unequal stages, micro-batches of unequal length and "
    "communication.\n"
    "Timelines are those of ByteDance's StragglerAnalysis: Chrome trace events named forward-compute, "
    "backward-send and so on, plain or gzipped. They hold no waiting, so 'idlewave waits' cannot read them.";

static const struct example examples[] = {
    {"a published job", "idlewave stragglers timeline-SE.json.gz --meta meta-SE.yaml --leave-out 31,32"},
    {"a page about another", "idlewave stragglers timeline-AR.json.gz --format html > AR.html"},
    {NULL, NULL},
};

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct stragglers_opts *opts = values;
    iw_straggler_job *job = NULL;
    iw_stragglers *result = NULL;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "which job? idlewave stragglers TIMELINE");
    }
    status = iw_straggler_load(&ui->log, args->values[0], opts->meta, opts->left_out, &job);
    if (status == IW_OK) {
        status = iw_straggler_run(&ui->log, job, &result);
    }
    iw_straggler_job_free(job);
    if (status != IW_OK) {
        hint_at_traces(ui, iw_is_folder(args->values[0]) ? args->values[0] : "");
        return ui_exit_of(status);
    }
    result->command = ui->command;
    code = shown_write(ui, &opts->shown, iw_stragglers_doc(result));
    iw_stragglers_free(result);
    return code;
}

const struct verb verb_stragglers = {
    .name = "stragglers",
    .group = VERB_PREDICTION,
    .summary = "report what a training job lost to slow workers, stages and micro-batches",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "TIMELINE",
    .argument_help = "JSON, plain or gzipped",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct stragglers_opts),
    .most_arguments = 1,
    .run = run,
};
