/* `idlewave schedule`: patterns, traces and GOAL files in, GOAL text or binary out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/training/verb/training_run.h"
#include "options/help.h"
#include "options/program_opts.h"
#include "options/verbs.h"

struct schedule_output_opts {
    struct opt_origins origins;
    int format;
    const char *path;
    bool wants_list;
};

struct schedule_node_opts {
    struct opt_origins origins;
    uint64_t ranks_per_node; /* 0: not known */
};

struct schedule_training_opts {
    struct opt_origins origins;
    uint64_t steps, seed;
};

struct schedule_opts {
    struct program_opts program;
    struct schedule_training_opts training;
    struct schedule_node_opts nodes;
    struct schedule_output_opts output;
};

enum { FORMAT_GOAL, FORMAT_GOAL_BIN, LIST_COLUMN = 36 };
static const char *const formats[] = {"goal", "goal-bin", NULL};

#define ROW(...) OPT_ROW(struct schedule_output_opts, __VA_ARGS__)
static const struct opt output_rows[] = {
    ROW("format", OPT_CHOICE, format, "", "GOAL as text or binary (default goal)", .choices = formats),
    ROW("output", OPT_STRING, path, "FILE", "output file (default standard output, text only)",
        .letter = 'o'),
    ROW("list", OPT_FLAG, wants_list, "", "list all operations and algorithms of --pattern"),
};
#undef ROW

#define ROW(...) OPT_ROW(struct schedule_node_opts, __VA_ARGS__)
static const struct opt node_rows[] = {
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "ranks per node, for node-aware algorithms (two-level, ...)", .min = 1, .max = UINT32_MAX,
        .is_setting = true),
};
#undef ROW

#define ROW(...) OPT_ROW(struct schedule_training_opts, __VA_ARGS__)
static const struct opt training_rows[] = {
    ROW("steps", OPT_COUNT, steps, "N", "steps of the training program (default 1)", .min = 1,
        .max = 1000000),
    ROW("seed", OPT_COUNT, seed, "N", "seed of its slow GPUs (default 1)", .max = INT64_MAX),
};
#undef ROW

static const struct opt_group groups[] = {
    {"What to run", program_rows, PROGRAM_ROW_COUNT, offsetof(struct schedule_opts, program), false},
    {"Halo and sweep patterns", halo_rows, HALO_ROW_COUNT, offsetof(struct schedule_opts, program), false},
    {"Traces", trace_rows, TRACE_ROW_COUNT, offsetof(struct schedule_opts, program), false},
    OPT_GROUP("Training", training_rows, offsetof(struct schedule_opts, training)),
    OPT_GROUP("Nodes", node_rows, offsetof(struct schedule_opts, nodes)),
    OPT_GROUP("Output", output_rows, offsetof(struct schedule_opts, output)),
};

static const struct schedule_opts defaults = {.program = PROGRAM_OPTS_INIT,
                                              .training = {.steps = 1, .seed = 1}};

static const char *const synopsis[] = {"[options] --pattern OP[:ALGORITHM] --ranks N", "[options] FILE",
                                       "--list", NULL};

static const char description[] =
    "Write what the ranks run as a GOAL schedule, the format of LogGOPSim. Patterns and traces are unrolled "
    "(a trace with its collectives as messages, on request replicated to more ranks); a GOAL file is "
    "converted between text and binary. A training program (as for 'idlewave training') becomes a graph in "
    "which streams of a GPU are CPUs of a rank and all times are calcs; simulate it with a network without "
    "costs, and use --goal-unit 1ps for exact times.";

static const struct example examples[] = {
    {"the schedule of a broadcast", "idlewave schedule --pattern bcast:binomial --ranks 8 --bytes 64KiB"},
    {"a traced program on four times as many ranks",
     "idlewave schedule run --ranks 256 --collectives mpich -o app.goal"},
    {"a training step; simulate it with --goal-unit 1ps and --net none",
     "idlewave schedule job.yaml --goal-unit 1ps -o step.goal"},
    {"GOAL text to binary", "idlewave schedule app.goal --format goal-bin -o app.bin"},
    {"all operations and algorithms", "idlewave schedule --list"},
    {NULL, NULL},
};

/* Algorithms of an operation stand together; the first one is its default. */
static int list_algorithms(void)
{
    const char *op, *algorithm, *summary, *previous = "";
    char name[80], text[200];

    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        const bool is_default = strcmp(op, previous) != 0;

        if (is_default) {
            (void)printf("%s%s\n", i > 0 ? "\n" : "", op);
        }
        snprintf(name, sizeof name, "%s:%s", op, algorithm);
        snprintf(text, sizeof text, "%s%s", summary, is_default ? " (default)" : "");
        help_row(stdout, LIST_COLUMN, name, text);
        previous = op;
    }
    return UI_DONE;
}

static int check(const struct ui *ui, const struct schedule_opts *opts)
{
    if (opts->output.format == FORMAT_GOAL_BIN && opts->output.path == NULL) {
        return ui_usage(ui, "--format goal-bin needs a file: add -o FILE");
    }
    if (opts->program.goal_unit_ps == 0) {
        return ui_usage(ui, "--goal-unit must be above zero");
    }
    return UI_DONE;
}

#if IW_FEATURE_TRAINING
static int make_training(struct ui *ui, const struct schedule_opts *opts, const char *path,
                         iw_program **program_p)
{
    iw_training spec;
    iw_status status;

    if (opts->program.patterns.count > 0) {
        return ui_usage(ui, "'%s' already defines what runs: leave out --pattern %s", path,
                        opts->program.patterns.items[0]);
    }
    iw_training_init(&spec);
    status = iw_training_load(&ui->log, path, &spec);
    if (status == IW_OK) {
        status = iw_training_program(&ui->log, &spec, (uint32_t)opts->training.steps, opts->training.seed,
                                     program_p);
    }
    iw_training_release(&spec);
    return ui_exit_of(status);
}
#else
static int make_training(struct ui *ui, const struct schedule_opts *opts, const char *path,
                         iw_program **program_p)
{
    (void)opts;
    (void)program_p;
    return ui_lacks(ui, path, "training");
}
#endif

static int write_schedule(struct ui *ui, const struct schedule_opts *opts, const iw_program *program)
{
    const char *path = opts->output.path != NULL ? opts->output.path : "-";

    return ui_exit_of(iw_program_write_goal(&ui->log, program, path, opts->output.format == FORMAT_GOAL_BIN,
                                            opts->program.goal_unit_ps));
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct schedule_opts *opts = values;
    const struct program_place place = {NULL, opts->nodes.ranks_per_node};
    struct program_source source = {.path = NULL};
    iw_program *program = NULL;
    int code;

    if (opts->output.wants_list) {
        return list_algorithms();
    }
    code = check(ui, opts);
    if (code == UI_DONE) {
        code = args->count == 1 && training_is_program(args->values[0])
                   ? make_training(ui, opts, args->values[0], &program)
                   : program_make(ui, &opts->program, &place, args, &source, &program);
    }
    if (code == UI_DONE) {
        code = write_schedule(ui, opts, program);
    }
    iw_program_free(program);
    program_source_release(&source);
    return code;
}

const struct verb verb_schedule = {
    .name = "schedule",
    .group = VERB_FILES,
    .summary = "write patterns, traces and schedules as GOAL text or binary",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = PROGRAM_FILE_HELP,
    VERB_GROUPS(groups),
    .most_used = "pattern ranks bytes repeat compute output format list",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
