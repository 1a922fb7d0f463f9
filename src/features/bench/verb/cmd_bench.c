/* `idlewave bench`: phases of work and an operation on all ranks of an MPI job, without and with noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/bench.h>
#include <idlewave/internal/mpi.h>

#include "features/bench/verb/bench_noise.h"
#include "features/bench/verb/bench_opts.h"
#include "features/bench/verb/bench_verbs.h"
#include "features/replay/verb/injected_noise.h"
#include "options/simulate_opts.h"
#include "options/verbs.h"
#include "process/node_log.h"
#include "process/patient_polls.h"
#include "process/progress.h"

static const char *const synopsis[] = {"[options] barrier|allreduce|halo", "memory [options]", NULL};

static const char description[] =
    "Start it with the launcher of Open MPI or MPICH. Each rank works for a quantum, then all perform the "
    "operation: a barrier, an allreduce, or an exchange with both neighbours in a ring. The slowest rank of "
    "each phase counts: that is what the noise of one rank costs all of them.\nWith --noise, blocks of "
    "phases without and with injected noise alternate in the same processes, and the same phases are "
    "simulated with the same noise: measured and predicted slowdown side by side.\nEach rank needs a CPU of "
    "its own: where ranks share one, the numbers are not valid, and the result says so. Nothing is pinned; "
    "use the launcher's options for that. With --work sleep ranks sleep instead of "
    "working, waiting and being held up, so that hundreds of them fit on one machine: then the quantum "
    "should be "
    "tens of milliseconds.\nWithout a launcher, 'idlewave bench memory' measures how fast the "
    "cores of this node move data, alone and together.";

static const struct example examples[] = {
    {"what the noise of this host costs two ranks", "mpirun -n 2 idlewave bench barrier -o quiet.json"},
    {"prediction against reality", "mpirun -n 2 idlewave bench barrier --noise periodic:100Hz,1ms"},
    {"the noise of another node, synchronised in each phase",
     "mpirun -n 2 idlewave bench allreduce --noise node.h5 --sync phase -o noisy.json"},
    {"noise of other making against the quiet run",
     "mpirun -n 2 idlewave replay --noise node.h5 -- idlewave bench barrier --baseline quiet.json"},
    {"64 ranks on one machine: amplification through a real MPI library",
     "mpirun --oversubscribe -n 64 idlewave bench barrier --work sleep --compute 100ms --noise "
     "poisson:0.2Hz,fixed:200ms --duration 60s"},
    {"as a page", "idlewave report noisy.json -o noisy.html"},
    {"bandwidth of memory, for simulate --memory", "idlewave bench memory"},
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
        ui_hint(ui, "start at most one rank for each CPU");
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
            ui_hint(ui, "'%s' has %u ranks and a quantum of %g us: other phases than these", baseline->path,
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
        patient_polls_use();
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
                             "'%s' is no baseline for this: its operation is %s of %" PRIu64
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
        return ui_usage(ui, "start it by the launcher of an MPI: mpirun -n 2 idlewave bench barrier");
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
