/* `idlewave training`: how long a step of training takes on how many GPUs, and what jitter costs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/training/verb/training_opts.h"
#include "features/training/verb/training_run.h"
#include "options/shown_opts.h"
#include "options/trace_opts.h"
#include "options/verbs.h"

struct training_opts {
    struct opt_origins origins;
    const char *model, *tp, *cp, *ep, *dp, *pp, *chunks, *microbatches, *microbatch_size, *schedule,
        *sharding, *rate, *step_rate, *forward, *backward, *detail;
    struct opt_list set, noise;
    uint64_t trials, seed, threads;
    bool has_no_bill, wants_list, is_quiet;
    struct training_bill_opts bill;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct training_opts, __VA_ARGS__)
static const struct opt model_rows[] = {
    ROW("model", OPT_STRING, model, "NAME",
        "a known model: llama3-8b, llama3-70b, llama3-405b, mixtral-8x7b"),
    ROW("tp", OPT_STRING, tp, "N", "tensor parallelism: GPUs that share each layer (default 1)"),
    ROW("cp", OPT_STRING, cp, "N", "context parallelism: GPUs that share a sequence (default 1)"),
    ROW("ep", OPT_STRING, ep, "N",
        "expert parallelism: GPUs that share the experts of a layer; must divide cp times dp (default 1)"),
    ROW("dp", OPT_STRING, dp, "N", "data parallelism: replicas (default 1)"),
    ROW("pp", OPT_STRING, pp, "N", "pipeline stages (default 1)"),
    ROW("chunks", OPT_STRING, chunks, "N",
        "chunks per stage; more than one selects the interleaved schedule (default 1)"),
    ROW("microbatches", OPT_STRING, microbatches, "N", "micro-batches per replica and step (default 1)"),
    ROW("microbatch-size", OPT_STRING, microbatch_size, "N", "sequences per micro-batch (default 1)"),
    ROW("schedule", OPT_STRING, schedule, "1f1b|gpipe",
        "order of forward and backward passes on a stage (default 1f1b)"),
    ROW("sharding", OPT_STRING, sharding, "zero1|none|fsdp",
        "what replicas share out: the optimizer's state (zero1), nothing (none) or all parameters (fsdp) "
        "(default zero1)"),
    ROW("rate", OPT_STRING, rate, "FLOP/s", "speed of a GPU while it computes, for example 494.5TFLOP/s"),
    ROW("step-rate", OPT_STRING, step_rate, "FLOP/s",
        "speed of a GPU over the whole step, including waiting, as usually published; --rate follows from "
        "it"),
    ROW("forward", OPT_STRING, forward, "TIME[,TIME...]",
        "measured time of a micro-batch's forward pass on every stage, or a list with one per stage; no "
        "model is needed then"),
    ROW("backward", OPT_STRING, backward, "TIME[,TIME...]", "the same for its backward pass"),
    ROW("detail", OPT_STRING, detail, "layer|chunk",
        "how often tensor-parallel ranks communicate: in each half of a layer, or once per chunk, which "
        "simulates faster (default layer)"),
    ROW("set", OPT_LIST, set, "KEY=VALUE",
        "any other setting of a training file, for example launch=8us; may be repeated"),
};
static const struct opt noise_rows[] = {
    ROW("noise", OPT_LIST, noise, "SOURCE[@WHERE[@SCOPE]]",
        "source of jitter: a ready one (see --list), a SPEC of 'idlewave simulate', a recording or other "
        "noise file, or a name that 'idlewave get' lists; WHERE is host, device, loader or network (default "
        "host), SCOPE rank, node or all (default rank); may be repeated"),
    ROW("list", OPT_FLAG, wants_list, "", "list the ready sources and the origin of their sizes"),
};
static const struct opt run_rows[] = {
    ROW("trials", OPT_COUNT, trials, "N", "number of trials, with different random numbers (default 10)",
        .min = 6, .max = 1000000),
    ROW("seed", OPT_COUNT, seed, "N", "seed of all random choices (default 1)", .max = INT64_MAX),
    ROW("threads", OPT_COUNT, threads, "N", "number of threads; 0: one per CPU (default 0)", .max = 1024,
        .is_setting = true),
};
static const struct opt bill_rows[] = {
    ROW("no-bill", OPT_FLAG, has_no_bill, "",
        "simulate only the step, not the changes of the bill, except those of --try"),
};
static const struct opt output_rows[] = {
    ROW("quiet", OPT_FLAG, is_quiet, "", "print no progress on stderr", .letter = 'q'),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What to run", model_rows, 0),
    OPT_GROUP("Jitter", noise_rows, 0),
    {"The bill", training_bill_rows, TRAINING_BILL_ROW_COUNT, offsetof(struct training_opts, bill), false},
    OPT_GROUP("The bill", bill_rows, 0),
    OPT_GROUP("How to run it", run_rows, 0),
    SHOWN_GROUP("Output; csv has one line per change of the bill", offsetof(struct training_opts, shown)),
    OPT_GROUP("Output; csv has one line per change of the bill", output_rows, 0),
};

static const struct training_opts defaults = {.trials = 10, .seed = 1, .bill = TRAINING_BILL_OPTS_INIT};

static const char *const synopsis[] = {"[options] FILE.yaml|WORKLOAD.txt",
                                       "[options] --model NAME --pp N ...",
                                       "[options] --forward TIME --backward TIME --pp N ...", "--list", NULL};

static const char description[] =
    "Simulate steps of synchronous training with pipeline, tensor, data, context and expert parallelism. A "
    "rank has three separate parts: the thread that launches kernels, the GPU, and its communication. "
    "Report how long a step takes without and with jitter, and what each source of jitter costs in time, "
    "GPU-hours and money. Options override the file. Workload files of SimAI are read too.\nTimes are "
    "computed from settings, published sizes and NCCL's tuning tables; nothing was run on a GPU.";

static const struct example examples[] = {
    {"Llama 3 405B on 16,384 GPUs, with garbage collection on every host",
     "idlewave training --model llama3-405b --tp 8 --pp 16 --dp 128 --chunks 8 --microbatches 16 \\\n"
     "    --step-rate 400TFLOP/s --noise python-gc --detail chunk --cost 2.50/h"},
    {"four stages with measured times, of which the last is slower",
     "idlewave training --pp 4 --microbatches 8 --forward 11ms,13ms,12ms,29ms --backward "
     "21ms,20ms,25ms,61ms"},
    {"a page with the savings of three changes of settings",
     "idlewave training job.yaml --try p2p-sync=no --try microbatches=32 --try pp=8,dp=256 \\\n"
     "    --format html > job.html"},
    {"the cost of a recorded node's noise", "idlewave training job.yaml --noise node.h5@host"},
    {NULL, NULL},
};

/* ---- settings ---- */

/* Options have the names of the settings that they stand for. */
static int fill_options(struct ui *ui, const struct training_opts *opts, iw_training *spec)
{
    for (size_t i = 0; i < sizeof model_rows / sizeof model_rows[0]; i++) {
        const char *text = NULL;

        if (model_rows[i].type == OPT_STRING) {
            memcpy(&text, (const char *)opts + model_rows[i].offset, sizeof text);
        }
        if (text != NULL && iw_training_set(&ui->log, spec, model_rows[i].name, text) != IW_OK) {
            return UI_USAGE;
        }
    }
    return UI_DONE;
}

static int fill_set(struct ui *ui, const struct opt_list *set, iw_training *spec)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *equals = strchr(set->items[i], '=');
        char key[64];

        if (equals == NULL || equals - set->items[i] >= (ptrdiff_t)sizeof key) {
            return ui_usage(ui, "--set '%s' is not a setting: write KEY=VALUE", set->items[i]);
        }
        (void)snprintf(key, sizeof key, "%.*s", (int)(equals - set->items[i]), set->items[i]);
        if (iw_training_set(&ui->log, spec, key, equals + 1) != IW_OK) {
            return UI_USAGE;
        }
    }
    return UI_DONE;
}

static int fill(struct ui *ui, const struct training_opts *opts, const struct opt_args *args,
                iw_training *spec)
{
    int code = args->count > 0 ? ui_exit_of(iw_training_load(&ui->log, args->values[0], spec)) : UI_DONE;

    if (code != UI_DONE) {
        hint_at_traces(ui, args->values[0]);
    } else {
        code = fill_options(ui, opts, spec);
    }
    if (code == UI_DONE) {
        code = fill_set(ui, &opts->set, spec);
    }
    return code == UI_DONE ? training_add_noise(ui, &opts->noise, spec) : code;
}

/* ---- running ---- */

static int simulate(struct ui *ui, const struct training_opts *opts, const iw_training *spec)
{
    iw_training_opts wanted = IW_TRAINING_OPTS_INIT;
    const int code = training_fill_bill(ui, &opts->bill, &wanted);

    wanted.trials = opts->trials;
    wanted.seed = opts->seed;
    wanted.threads = (uint32_t)opts->threads;
    wanted.wants_bill = !opts->has_no_bill;
    return code == UI_DONE ? training_run(ui, spec, &wanted, opts->is_quiet, &opts->shown) : code;
}

static void list_sources(void)
{
    for (size_t i = 0; iw_training_ready(i) != NULL; i++) {
        const iw_training_ready_source *source = iw_training_ready(i);

        (void)printf("%-14s ", source->name);
        if (source->settings != NULL) {
            (void)printf("settings %s\n", source->settings);
        } else {
            (void)printf("%-26s on the %s of %s %s", source->spec, iw_training_where_name(source->where),
                         source->scope == IW_TRAINING_ALL_RANKS ? "all" : "each",
                         source->scope == IW_TRAINING_ALL_RANKS ? "ranks together"
                                                                : iw_training_scope_name(source->scope));
            if (source->factor > 0) {
                (void)printf(", which then takes %g times as long", source->factor);
            }
            (void)putchar('\n');
        }
        (void)printf("               %s\n", source->origin);
    }
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct training_opts *opts = values;
    iw_training spec;
    int code;

    if (opts->wants_list) {
        list_sources();
        return UI_DONE;
    }
    iw_training_init(&spec);
    code = fill(ui, opts, args, &spec);
    if (code == UI_DONE) {
        code = simulate(ui, opts, &spec);
    }
    iw_training_release(&spec);
    return code;
}

const struct verb verb_training = {
    .name = "training",
    .group = VERB_PREDICTION,
    .summary = "predict how long a training step takes and what jitter costs",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "a training program in YAML, or a SimAI workload; not needed where options describe all",
    VERB_GROUPS(groups),
    .most_used = "model tp dp pp microbatches step-rate noise cost format",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
