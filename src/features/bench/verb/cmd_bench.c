/* `idlewave bench`, and `bench memory`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/bench.h>
#include <idlewave/internal/memory_bench.h>
#include <idlewave/internal/mpi.h>

#include "features/bench/verb/bench_noise.h"
#include "features/replay/verb/injected_noise.h"
#include "options/cpu_list.h"
#include "options/shown_opts.h"
#include "options/simulate_opts.h"
#include "options/suggest.h"
#include "options/verbs.h"
#include "process/mpi_run.h"
#include "process/node_log.h"
#include "process/progress.h"

/* ======== bench memory ======== */

struct bench_memory_opts {
    struct opt_origins origins;
    const char *cpus, *path;
    iw_time duration_ps;
    uint64_t array_bytes;
    struct shown_opts shown;
};

#define MEMORY_ROW(...) OPT_ROW(struct bench_memory_opts, __VA_ARGS__)
static const struct opt measure_rows[] = {
    MEMORY_ROW("cpus", OPT_STRING, cpus, "LIST",
               "CPUs of one NUMA node: 0-3,8 (default one per core, of the first NUMA node available)",
               .is_setting = true),
    MEMORY_ROW("duration", OPT_TIME, duration_ps, "TIME",
               "duration of the measurement, up to 1min (default 20s)"),
    MEMORY_ROW("size", OPT_COUNT, array_bytes, "SIZE",
               "size of the three arrays together (default 12 times all caches of these cores)",
               .min = UINT64_C(1) << 20, .max = UINT64_C(1) << 46),
};

static const struct opt memory_output_rows[] = {
    SHOWN_OUTPUT_ROW(struct bench_memory_opts, path, "FILE", "also write the result as JSON, for report"),
};
#undef MEMORY_ROW

static const struct opt_group groups[] = {
    OPT_GROUP("How to measure", measure_rows, 0),
    OPT_GROUP("Output; csv has one line per number of cores", memory_output_rows, 0),
    SHOWN_GROUP("Output; csv has one line per number of cores", offsetof(struct bench_memory_opts, shown)),
};

static const struct bench_memory_opts defaults = {.duration_ps = 20 * IW_PS_PER_S};

static const char *const memory_synopsis[] = {"[options]", NULL};

static const char memory_description[] =
    "Measure how many bytes per second one core moves, and all cores of a NUMA node together: the two "
    "numbers of simulate --memory. Needs no launcher and no privileges.\nOne thread is pinned to each CPU. "
    "In short windows the first 1, 2, ... of them run the STREAM triad over arrays far larger than the "
    "caches, while the others sleep. Windows in which another process used one of the CPUs do not count; the "
    "result has their number.";

static const struct example memory_examples[] = {
    {"this node", "idlewave bench memory"},
    {"the second socket, with a picture",
     "idlewave bench memory --cpus 64-127 -o socket1.json --plot socket1.svg"},
    {NULL, NULL},
};

static int read_plan(const struct ui *ui, const struct bench_memory_opts *opts, struct cpu_list *cpus,
                     iw_memory_plan *plan)
{
    int code;

    if (opts->duration_ps <= 0 || opts->duration_ps > 60 * IW_PS_PER_S) {
        return ui_usage(ui, "--duration: above zero and up to 1 min");
    }
    code = cpu_list_read(ui, opts->cpus, cpus);
    if (code != UI_DONE) {
        return code;
    }
    *plan = (iw_memory_plan){.cpus = cpus->count > 0 ? cpus->numbers : NULL,
                             .cpu_count = cpus->count,
                             .seconds = (double)opts->duration_ps / (double)IW_PS_PER_S,
                             .array_bytes = opts->array_bytes};
    return UI_DONE;
}

static iw_status write_memory_json(const iw_log *log, void *curve, FILE *out)
{
    return iw_doc_write(log, iw_memory_doc(curve), IW_DOC_JSON, NULL, out);
}

static void write_next(const iw_memory *memory)
{
    char text[IW_MEMORY_TEXT_SIZE];

    (void)printf("\nNext: idlewave simulate --pattern halo1d --ranks %u --compute-bytes 100MB \\\n"
                 "      --memory %s\n",
                 2 * memory->ranks, iw_memory_text(memory, text));
}

static int show(struct ui *ui, const struct bench_memory_opts *opts, iw_memory_curve *curve)
{
    const iw_status written =
        opts->path != NULL ? iw_write_file(&ui->log, opts->path, write_memory_json, curve) : IW_OK;
    const int code = shown_write(ui, &opts->shown, iw_memory_doc(curve));

    if (code == UI_DONE && opts->shown.format == OUTPUT_TEXT) {
        write_next(&curve->memory);
    }
    return code != UI_DONE ? code : ui_exit_of(written);
}

static int run_memory(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct bench_memory_opts *opts = values;
    iw_memory_samples *samples = NULL;
    iw_memory_curve *curve = NULL;
    struct progress progress;
    struct cpu_list cpus;
    iw_memory_plan plan;
    int code = read_plan(ui, opts, &cpus, &plan);

    (void)args;
    if (code == UI_DONE && opts->path != NULL) {
        code = ui_exit_of(iw_output_check(&ui->log, opts->path, false));
    }
    if (code != UI_DONE) {
        return code;
    }
    progress_begin(&progress, 0.0, NULL);
    plan.progress = progress_calls(&progress);
    ui->progress = &progress;
    code = ui_exit_of_value(ui, iw_memory_measure(&ui->log, &plan, &samples));
    ui->progress = NULL;
    progress_wipe(&progress);
    if (code == UI_DONE) {
        code = ui_exit_of(iw_memory_evaluate(&ui->log, samples, &curve));
    }
    if (code == UI_DONE) {
        curve->command = ui->command;
        code = show(ui, opts, curve);
    }
    iw_memory_curve_free(curve);
    iw_memory_samples_free(samples);
    return code;
}

static const struct verb verb_bench_memory = {
    .name = "bench memory",
    .summary = "measure memory bandwidth of one core and of all cores",
    .synopsis = memory_synopsis,
    .description = memory_description,
    VERB_GROUPS(groups),
    .examples = memory_examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 0,
    .run = run_memory,
};

/* ======== options ======== */

static const char *const works[] = {"spin", "sleep", NULL}; /* in the order of iw_bench_work */

#define ROW(...) OPT_ROW(struct bench_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("compute", OPT_TIME, compute_ps, "TIME", "work on every rank in each phase (default 1ms)"),
    ROW("work", OPT_CHOICE, work, "",
        "how ranks work: by arithmetic, or by sleeping, which allows many ranks per CPU (default spin)",
        .choices = works),
    ROW("bytes", OPT_COUNT, bytes, "SIZE",
        "size of an allreduce, or of each message of a halo exchange (default 8)", .max = UINT64_C(1) << 30),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "duration of the measurement (default 10s)",
        .is_setting = true),
    ROW("phases", OPT_COUNT, phases, "N", "measure N phases instead; with noise, N of each kind", .min = 1,
        .max = UINT64_C(1) << 40),
};
static const struct opt block_rows[] = {
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "ranks per node: they share a place in the recording, and each has the detours of one CPU (default "
        "the number of CPUs of the file; 1 for SPECs)",
        .min = 1, .max = 65536),
    ROW("block", OPT_TIME, block_ps, "TIME",
        "length of the blocks in which phases without and with noise alternate (default 250ms)"),
};
static const struct opt prediction_rows[] = {
    ROW("trials", OPT_COUNT, trials, "N", "number of blocks to simulate (default up to 400)", .min = 2,
        .max = 1000000),
};
static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct bench_opts, path, "FILE", "write the result as JSON, for report and --baseline"),
    ROW("baseline", OPT_STRING, baseline, "FILE",
        "a result of this command without noise; report how much slower this run is"),
};
#undef ROW

const struct opt_group bench_groups[BENCH_GROUP_COUNT] = {
    OPT_GROUP("What to measure", what_rows, 0),
    {"Noise, injected into every other block of phases", injection_rows, INJECTION_ROW_COUNT,
     offsetof(struct bench_opts, injection), true},
    OPT_GROUP("Blocks", block_rows, 0),
    OPT_GROUP("Prediction", prediction_rows, 0),
    {"Network of the prediction (default one whose operation takes what was measured)", net_rows,
     NET_ROW_COUNT, offsetof(struct bench_opts, net), true},
    SHOWN_GROUP("Output; csv has all phases", offsetof(struct bench_opts, shown)),
    OPT_GROUP("Output; csv has all phases", output_rows, 0),
};

const struct bench_opts bench_defaults = {
    .compute_ps = IW_PS_PER_MS,
    .duration_ps = 10 * IW_PS_PER_S,
    .block_ps = 250 * IW_PS_PER_MS,
    .bytes = 8,
    .injection = INJECTION_OPTS_INIT,
    .net = NET_OPTS_INIT,
};

/* ---- checks ---- */

static int find_op(const struct ui *ui, const char *name, iw_bench_op *op_p)
{
    struct suggestion suggestion;

    suggest_begin(&suggestion, name);
    for (int op = 0; op < IW_BENCH_OPS; op++) {
        if (strcmp(name, iw_bench_op_name((iw_bench_op)op)) == 0) {
            *op_p = (iw_bench_op)op;
            return UI_DONE;
        }
        suggest_offer(&suggestion, iw_bench_op_name((iw_bench_op)op));
    }
    if (suggestion.best != NULL) {
        return ui_usage(ui, "unknown operation '%s': did you mean '%s'?", name, suggestion.best);
    }
    return ui_usage(ui, "unknown operation '%s': use barrier, allreduce or halo", name);
}

bool bench_has_net(const struct bench_opts *opts)
{
    return opt_first_typed(net_rows, NET_ROW_COUNT, &opts->net, "") != NULL;
}

/* An option that needs --noise; NULL: none was typed. */
static const char *option_of_noise(const struct bench_opts *opts)
{
    const struct {
        const struct opt *rows;
        size_t count;
        const void *values;
    } tables[] = {
        {injection_rows, INJECTION_ROW_COUNT, &opts->injection},
        {block_rows, sizeof block_rows / sizeof block_rows[0], opts},
        {prediction_rows, sizeof prediction_rows / sizeof prediction_rows[0], opts},
        {net_rows, NET_ROW_COUNT, &opts->net},
    };
    const char *option = NULL;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && option == NULL; i++) {
        option = opt_first_typed(tables[i].rows, tables[i].count, tables[i].values, "block");
    }
    return option;
}

static int check_noise(const struct ui *ui, const struct bench_opts *opts)
{
    const char *option = option_of_noise(opts);

    if (opts->injection.noise.count == 0 && option != NULL) {
        return ui_usage(ui, "--%s is for injected noise: add --noise", option);
    }
    if (bench_has_net(opts) && !opt_typed(&opts->net, name_or_path)) {
        return ui_usage(ui, "--%s is for a network: add --net",
                        opt_first_typed(net_rows, NET_ROW_COUNT, &opts->net, ""));
    }
    if (opts->block_ps < 10 * IW_PS_PER_MS) {
        return ui_usage(ui, "--block must be at least 10 ms");
    }
    return injection_check(ui, &opts->injection);
}

int bench_check(struct ui *ui, const struct bench_opts *opts, const struct opt_args *args, iw_bench_op *op_p)
{
    if (args->count == 0) {
        return ui_usage(ui, "no operation given; type: mpirun -n 2 idlewave bench barrier");
    }
    if (opts->compute_ps < IW_PS_PER_US || opts->compute_ps > 10 * IW_PS_PER_S) {
        return ui_usage(ui, "--compute: from 1 us to 10 s");
    }
    if (opts->work == IW_BENCH_SLEEP && opts->compute_ps < 10 * IW_PS_PER_MS) {
        return ui_usage(
            ui, "--work sleep needs a --compute of at least 10 ms, because waking up takes a part of it");
    }
    if (opts->work == IW_BENCH_SLEEP && opt_typed(&opts->injection, back_end)) {
        return ui_usage(ui, "--work sleep injects sleeping detours: leave out --back-end");
    }
    if (opts->duration_ps < IW_PS_PER_MS) {
        return ui_usage(ui, "--duration must be at least one millisecond");
    }
    if (find_op(ui, args->values[0], op_p) != UI_DONE || check_noise(ui, opts) != UI_DONE) {
        return UI_USAGE;
    }
    return UI_DONE;
}

/* ======== bench ======== */

static const char *const synopsis[] = {"[options] barrier|allreduce|halo", "memory [options]", NULL};

static const char description[] =
    "Time work and an MPI operation, with and without noise. Start the command with the launcher of Open MPI "
    "or MPICH. Each rank works for a quantum, then all perform the operation: a barrier, an allreduce, or an "
    "exchange with both neighbours in a ring. The slowest rank of "
    "each phase counts, as noise on one rank delays all of them.\nWith --noise, blocks of phases without and "
    "with injected noise alternate in the same processes. The same phases are simulated with the same noise, "
    "so that measured and predicted slowdown stand side by side.\nEach rank needs a CPU of its own; where "
    "ranks share one, the numbers are marked as not valid. Nothing is pinned; use the launcher's options for "
    "that. With --work sleep ranks sleep instead of working, waiting and being delayed, so that hundreds of "
    "them fit on one machine; use a quantum of tens of milliseconds then.\nWithout a launcher, 'idlewave "
    "bench memory' measures the memory bandwidth of this node's cores, alone and together.";

static const struct example examples[] = {
    {"the cost of this host's noise for two ranks", "mpirun -n 2 idlewave bench barrier -o quiet.json"},
    {"prediction against measurement", "mpirun -n 2 idlewave bench barrier --noise periodic:100Hz,1ms"},
    {"the noise of another node, synchronised in each phase",
     "mpirun -n 2 idlewave bench allreduce --noise node.h5 --sync phase -o noisy.json"},
    {"noise injected by replay against the quiet run",
     "mpirun -n 2 idlewave replay --noise node.h5 -- idlewave bench barrier --baseline quiet.json"},
    {"64 ranks on one machine: amplification through a real MPI library",
     "mpirun --oversubscribe -n 64 idlewave bench barrier --work sleep --compute 100ms --noise "
     "poisson:0.2Hz,fixed:200ms --duration 60s"},
    {"as a page", "idlewave report noisy.json -o noisy.html"},
    {"memory bandwidth, for simulate --memory", "idlewave bench memory"},
    {NULL, NULL},
};

/* All that is read before anything is measured. */
struct inputs {
    const struct bench_opts *opts;
    iw_bench_op op;
    struct bench_noise noise;
    iw_bench_baseline baseline; /* path "": none */
    iw_net *net;                /* with --net */
    const iw_mpi_plugin *part;
};

/* ---- the result ---- */

static iw_status write_json(const iw_log *log, void *result, FILE *out)
{
    return iw_doc_write(log, iw_bench_doc(result), IW_DOC_JSON, NULL, out);
}

static void describe(const struct ui *ui, const struct bench_opts *opts, const struct bench_noise *noise,
                     iw_bench_result *result)
{
    iw_bench_injection *injection = &result->injection;

    result->command = ui->command;
    injection->sources = opts->injection.noise.items;
    injection->source_count = opts->injection.noise.count;
    (void)snprintf(injection->back_end, sizeof injection->back_end, "%s",
                   iw_back_end_name(bench_back_end(opts)));
    injection->sync = (iw_sync)opts->injection.sync;
    injection->skew_ns = (double)opts->injection.skew_ps / (double)IW_PS_PER_NS;
    injection->ranks_per_node = noise->ranks_per_node;
    injection->recorded_cpus = noise->is_of_file ? (uint32_t)noise->recording->cpu_count : 0;
    if (noise->cpus != NULL) {
        (void)iw_cpu_set_text(noise->cpus, injection->cpus, sizeof injection->cpus);
    }
}

static int write_result(struct ui *ui, const struct bench_opts *opts, iw_bench_result *result)
{
    const iw_status written =
        opts->path != NULL ? iw_write_file(&ui->log, opts->path, write_json, result) : IW_OK;
    int code;

    if (opts->shown.format == OUTPUT_CSV) {
        code = ui_exit_of(iw_bench_write_csv(&ui->log, result->samples, stdout));
    } else {
        code = shown_write(ui, &opts->shown, iw_bench_doc(result));
    }
    if (result->samples->warning[0] != '\0') {
        ui_error(ui, "the numbers are not valid: %s", result->samples->warning);
        ui_hint(ui, "start at most one rank per CPU");
    }
    return code != UI_DONE ? code : ui_exit_of(written);
}

/* What was measured is written, also if it cannot be simulated. */
static int evaluate(struct ui *ui, const struct inputs *inputs, const iw_bench_samples *samples)
{
    const struct bench_opts *opts = inputs->opts;
    const iw_bench_baseline *baseline = &inputs->baseline;
    iw_bench_result *result = NULL;
    int code = ui_exit_of(iw_bench_evaluate(&ui->log, samples, opts->injection.time_scale, &result));
    int written;

    if (code != UI_DONE) {
        return code;
    }
    if (baseline->path[0] != '\0') {
        iw_bench_set_baseline(result, baseline);
        if (baseline->ranks != samples->ranks || baseline->quantum_ns != result->quantum_ns) {
            ui_hint(ui, "'%s' has %u ranks and a quantum of %g us, so its phases differ", baseline->path,
                    baseline->ranks, baseline->quantum_ns / 1e3);
        }
    }
    if (opts->injection.noise.count > 0) {
        code = bench_simulate(ui, opts, &inputs->noise, inputs->net, result);
    }
    describe(ui, opts, &inputs->noise, result);
    written = write_result(ui, opts, result);
    iw_bench_result_free(result);
    return written != UI_DONE ? written : code;
}

/* ---- the run ---- */

static void fill_plan(const struct bench_opts *opts, iw_bench_op op, iw_bench_plan *plan)
{
    plan->op = op;
    plan->work = (iw_bench_work)opts->work;
    plan->bytes = op == IW_BENCH_BARRIER ? 0 : opts->bytes;
    plan->quantum_ns = (double)opts->compute_ps / (double)IW_PS_PER_NS * opts->injection.time_scale;
    plan->phases = opts->phases;
    plan->duration_seconds = (double)opts->duration_ps / (double)IW_PS_PER_S;
    plan->block_seconds = (double)opts->block_ps / (double)IW_PS_PER_S;
}

static int measure(struct ui *ui, struct inputs *inputs)
{
    const iw_bench_noise calls = bench_noise_calls(&inputs->noise);
    const iw_mpi_plugin *part = inputs->part;
    iw_bench_plan plan = IW_BENCH_PLAN_INIT;
    iw_bench_samples *samples = NULL;
    struct progress progress;
    uint32_t rank, size;
    int code;

    if (inputs->opts->work == IW_BENCH_SLEEP) {
        sleeping_polls_use();
    }
    ui->has_mpi = true;
    code = ui_exit_of(part->start(&ui->log, &rank, &size));
    if (code == UI_DONE) {
        fill_plan(inputs->opts, inputs->op, &plan);
        plan.noise = inputs->opts->injection.noise.count > 0 ? &calls : NULL;
        progress_begin(&progress, 0.0, NULL);
        if (rank == 0) {
            plan.progress = progress_calls(&progress);
            ui->progress = &progress;
        }
        code = ui_exit_of(part->bench_measure(&ui->log, &plan, &samples));
        ui->progress = NULL;
        progress_wipe(&progress);
    }
    if (code == UI_DONE && samples != NULL) {
        code = evaluate(ui, inputs, samples);
    }
    iw_bench_samples_free(samples);
    part->stop();
    return code;
}

static int load_baseline(struct node_log *node_log, struct inputs *inputs)
{
    const uint64_t bytes = inputs->op == IW_BENCH_BARRIER ? 0 : inputs->opts->bytes;
    iw_bench_baseline *baseline = &inputs->baseline;
    const int code = ui_exit_of(iw_bench_load_baseline(&node_log->log, inputs->opts->baseline, baseline));

    if (code == UI_DONE && (baseline->op != inputs->op || baseline->bytes != bytes)) {
        return node_log_fail(node_log,
                             "'%s' cannot be the baseline: its operation is %s of %" PRIu64
                             " bytes, not %s of %" PRIu64,
                             baseline->path, iw_bench_op_name(baseline->op), baseline->bytes,
                             iw_bench_op_name(inputs->op), bytes);
    }
    return code;
}

static int load_net(const struct ui *ui, const struct node_log *node_log, const struct bench_opts *opts,
                    iw_net **net_p)
{
    struct ui once = *ui;

    once.log = node_log->log;
    return simulate_make_net(&once, &opts->net, opts->ranks_per_node, net_p);
}

/* What needs no MPI comes first: mistakes are told before anything is started. */
static int prepare(struct ui *ui, struct node_log *node_log, struct inputs *inputs)
{
    const struct bench_opts *opts = inputs->opts;
    iw_launcher launcher;
    int code = ui_exit_of(iw_launcher_detect(&node_log->log, &launcher));

    if (code == UI_DONE && launcher.name == NULL) {
        return ui_usage(ui, "no launcher; type: mpirun -n 2 idlewave bench barrier");
    }
    if (code == UI_DONE && opts->baseline != NULL) {
        code = load_baseline(node_log, inputs);
    }
    if (code == UI_DONE && bench_has_net(opts)) {
        code = load_net(ui, node_log, opts, &inputs->net);
    }
    if (code == UI_DONE && opts->injection.noise.count > 0) {
        code = bench_noise_load(ui, node_log, opts, &inputs->noise);
    }
    if (code == UI_DONE) {
        code = ui_exit_of(iw_mpi_load(&node_log->log, launcher.name, &inputs->part));
    }
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    struct inputs inputs = {.opts = values, .noise = {.opts = values}};
    struct node_log node_log;
    int code;

    node_log_init(&node_log, ui);
    node_log_take_ui(&node_log, ui);
    code = bench_check(ui, values, args, &inputs.op);
    node_log_leave_ui(&node_log, ui);
    if (code != UI_DONE) {
        return code;
    }
    code = prepare(ui, &node_log, &inputs);
    if (code == UI_DONE && inputs.part != NULL) {
        code = measure(ui, &inputs);
    }
    bench_noise_release(&inputs.noise);
    iw_net_free(inputs.net);
    return code;
}

static const struct verb *const subverbs[] = {&verb_bench_memory, NULL};

const struct verb verb_bench = {
    .name = "bench",
    .group = VERB_RUN,
    .summary = "time work and an MPI operation, with and without noise",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "OPERATION",
    .argument_help = "barrier, allreduce or halo",
    .groups = bench_groups,
    .group_count = BENCH_GROUP_COUNT,
    .most_used = "compute bytes duration noise baseline output format",
    .examples = examples,
    .defaults = &bench_defaults,
    .values_size = sizeof(struct bench_opts),
    .most_arguments = 1,
    .meets_others = true,
    .subverbs = subverbs,
    .run = run,
};
