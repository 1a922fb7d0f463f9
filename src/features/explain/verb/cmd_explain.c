/* `idlewave explain`: why was this run slow?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "options/shown_opts.h"
#include "options/verbs.h"

struct explaining_opts {
    struct opt_origins origins;
    int only;
    const char *least;
    uint64_t top;
    const char *meta, *left_out;
    struct shown_opts shown;
};

/* In the order of iw_explain_view. */
static const char *const parts[] = {"all", "waits", "system", "stragglers", NULL};

#define ROW(...) OPT_ROW(struct explaining_opts, __VA_ARGS__)
static const struct opt part_rows[] = {
    ROW("only", OPT_CHOICE, only, "",
        "explain who made the others wait, what the operating system took, or what stragglers cost (default "
        "all that FILE can answer)",
        .choices = parts),
};
static const struct opt waits_rows[] = {
    ROW("least", OPT_STRING, least, "SHARE",
        "name only ranks that were busy longer than their peers by this share of the run (default 1%)"),
    ROW("top", OPT_COUNT, top, "N", "list the N ranks that cost most (default 10)", .min = 1,
        .max = UINT32_MAX),
};
static const struct opt stragglers_rows[] = {
    ROW("meta", OPT_STRING, meta, "FILE",
        "file of sizes that belongs to the timeline: check it, and read the number of GPUs from it"),
    ROW("leave-out", OPT_STRING, left_out, "STEP[-STEP][,...]", "ignore these steps"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What to explain", part_rows, 0),
    OPT_GROUP("Waits", waits_rows, 0),
    OPT_GROUP("Stragglers", stragglers_rows, 0),
    SHOWN_GROUP("Output; csv has one line per rank, source or step", offsetof(struct explaining_opts, shown)),
};

static const struct explaining_opts defaults = {.top = 10};

static const char *const synopsis[] = {"[options] FILE...", NULL};

static const char description[] =
    "Explain why a run was slow: who made the others wait, what the operating system took, and what "
    "stragglers cost. Print all that its files can answer, verdicts first.\nwaits: which ranks made the "
    "others wait, when, in which collectives they came last, and what that cost. Each wait is followed to "
    "its cause: a rank that was late because it waited itself is not blamed, but the rank that it waited "
    "for. The time of all ranks is split into computing, transfer, imbalance (the same ranks are late every "
    "time) and noise (late arrivals that vary), by node, stage, group and operation. Reads OTF2 traces of "
    "MPI programs ('idlewave trace' writes them) and traces of training: PyTorch profiles, Chakra execution "
    "traces and lines of NCCL's Inspector; a folder, a file, or the files of all ranks. One rank alone gives "
    "limits only.\nsystem: which interrupts and other programs' threads delayed the run on its critical "
    "path, and which MPI call felt each delay. Running the trace again without a source shows what the run "
    "would have taken; intervals are for another run, in which the other sources come at other times. Reads "
    "folders of 'idlewave trace --kernel'. Delays that the kernel does not report (the hypervisor, the "
    "hardware) are blamed on no source, but widen the intervals.\nstragglers: the factor S by which a "
    "pipelined training job was slower than with usual times, and how much of it is due to slow workers, "
    "unequal stages, micro-batches of unequal length and communication. Reads timelines of ByteDance's "
    "StragglerAnalysis, plain or gzipped.";

static const struct example examples[] = {
    {"trace and explain", "mpirun -n 64 idlewave trace --kernel -o run -- ./app\n  idlewave explain run"},
    {"a page with a map of ranks and iterations", "idlewave explain run --format html > run.html"},
    {"PyTorch profiles, one file per rank", "idlewave explain profiles"},
    {"only ranks that make the others wait, and only from 5 % of the run",
     "idlewave explain run --only waits --least 5%"},
    {"a published job of pipelined training",
     "idlewave explain timeline-SE.json.gz --meta meta-SE.yaml --leave-out 31,32"},
    {NULL, NULL},
};

/* UI_DONE, or it has been reported. */
static int read_opts(struct ui *ui, const struct explaining_opts *opts, const struct opt_args *args,
                     iw_waits_opts *waits)
{
    if (args->count == 0) {
        return ui_usage(ui, "no run given; type: idlewave explain FILE");
    }
    waits->top = (uint32_t)opts->top;
    return opts->least != NULL ? ui_parse_share(ui, "--least", opts->least, &waits->least_share) : UI_DONE;
}

/* What was typed about a part that is not there. */
static int check_typed(struct ui *ui, const struct explaining_opts *opts, const iw_explanation *explanation)
{
    if (explanation->waits == NULL && (opt_typed(opts, least) || opt_typed(opts, top))) {
        return ui_usage(ui, "--least and --top are for waits, which these files cannot answer");
    }
    if (explanation->stragglers == NULL && (opts->meta != NULL || opts->left_out != NULL)) {
        return ui_usage(ui, "--meta and --leave-out are for stragglers, which these files cannot answer");
    }
    return UI_DONE;
}

/* Without --only all parts are in one document; else the part is a result of its own. */
static int show(struct ui *ui, const struct explaining_opts *opts, const iw_explanation *explanation)
{
    switch ((iw_explain_view)opts->only) {
    case IW_EXPLAIN_WAITS: return shown_write(ui, &opts->shown, iw_waits_doc(explanation->waits));
    case IW_EXPLAIN_SYSTEM: return shown_write(ui, &opts->shown, iw_blame_doc(explanation->system));
    case IW_EXPLAIN_STRAGGLERS:
        return shown_write(ui, &opts->shown, iw_stragglers_doc(explanation->stragglers));
    default: break;
    }
    if (opts->shown.format == OUTPUT_CSV && !iw_doc_has_format(iw_explanation_doc(explanation), IW_DOC_CSV)) {
        return ui_usage(ui, "--format csv shows one part: add --only waits or --only system");
    }
    return shown_write(ui, &opts->shown, iw_explanation_doc(explanation));
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct explaining_opts *opts = values;
    iw_waits_opts waits = IW_WAITS_OPTS_INIT;
    iw_explain_opts how = IW_EXPLAIN_OPTS_INIT;
    iw_explanation *explanation = NULL;
    iw_status status;
    int code = read_opts(ui, opts, args, &waits);

    if (code != UI_DONE) {
        return code;
    }
    how.only = (iw_explain_view)opts->only;
    how.waits = &waits;
    how.meta = opts->meta;
    how.left_out = opts->left_out;
    status = iw_explanation_make(&ui->log, args->values, args->count, &how, &explanation);
    if (status != IW_OK) {
        if (how.only == IW_EXPLAIN_SYSTEM) {
            ui_hint(ui, "trace the program with 'idlewave trace --kernel', or use --only waits, which needs "
                        "no kernel recording");
        }
        return ui_exit_of(status);
    }
    if (explanation->stragglers != NULL) {
        explanation->stragglers->command = ui->command;
    }
    code = check_typed(ui, opts, explanation);
    code = code == UI_DONE ? show(ui, opts, explanation) : code;
    iw_explanation_free(explanation);
    return code;
}

const struct verb verb_explain = {
    .name = "explain",
    .group = VERB_RUN,
    .summary = "explain why a run was slow: waits, system noise, stragglers",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "a trace or profile of a run: its folder, a file, or the files of all ranks",
    VERB_GROUPS(groups),
    .most_used = "only least top format plot",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = SIZE_MAX,
    .run = run,
};
