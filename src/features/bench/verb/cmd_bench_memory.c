/* `idlewave bench memory`: how fast the cores of this node move data, alone and together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/memory_bench.h>

#include "features/bench/verb/bench_verbs.h"
#include "options/cpu_list.h"
#include "options/shown_opts.h"
#include "process/progress.h"

struct bench_memory_opts {
    struct opt_origins origins;
    const char *cpus, *path;
    iw_time duration_ps;
    uint64_t array_bytes;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct bench_memory_opts, __VA_ARGS__)
static const struct opt measure_rows[] = {
    ROW("cpus", OPT_STRING, cpus, "LIST",
        "CPUs of one NUMA node: 0-3,8 (default one of each core, of the first NUMA node that may be used)",
        .is_setting = true),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "how long to measure, up to 1min (default 20s)"),
    ROW("size", OPT_COUNT, array_bytes, "SIZE",
        "size of the three arrays together (default 12 times all caches of these cores)",
        .min = UINT64_C(1) << 20, .max = UINT64_C(1) << 46),
};

static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct bench_memory_opts, path, "FILE", "also write the result as JSON, for report"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("How to measure", measure_rows, 0),
    OPT_GROUP("Output; csv has a line for each number of cores", output_rows, 0),
    SHOWN_GROUP("Output; csv has a line for each number of cores", offsetof(struct bench_memory_opts, shown)),
};

static const struct bench_memory_opts defaults = {.duration_ps = 20 * IW_PS_PER_S};

static const char *const synopsis[] = {"[options]", NULL};

static const char description[] =
    "Measures how many bytes per second one core moves, and how many all cores of a NUMA node together: the "
    "two numbers of simulate --memory. No launcher, no privileges.\nOne thread is pinned to each CPU. In "
    "short windows the first 1, 2, ... of them run the STREAM triad over arrays far larger than the caches, "
    "while the others sleep. Windows in which another process had one of the CPUs do not count, and the "
    "result says how many.";

static const struct example examples[] = {
    {"this node", "idlewave bench memory"},
    {"the second socket, as a picture",
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

static iw_status write_json(const iw_log *log, void *curve, FILE *out)
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
        opts->path != NULL ? iw_write_file(&ui->log, opts->path, write_json, curve) : IW_OK;
    const int code = shown_write(ui, &opts->shown, iw_memory_doc(curve));

    if (code == UI_DONE && opts->shown.format == OUTPUT_TEXT) {
        write_next(&curve->memory);
    }
    return code != UI_DONE ? code : ui_exit_of(written);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
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

const struct verb verb_bench_memory = {
    .name = "bench memory",
    .summary = "measure memory bandwidth, of one core and of all",
    .synopsis = synopsis,
    .description = description,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct bench_memory_opts),
    .most_arguments = 0,
    .run = run,
};
