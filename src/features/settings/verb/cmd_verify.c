/* `idlewave verify`: is this node set up as somebody thinks, and does it work?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include <idlewave/idlewave.h>

#include "features/settings/verb/verify_worth.h"
#include "options/shown_opts.h"
#include "options/verbs.h"

struct verify_opts {
    struct opt_origins origins;
    const char *sysroot, *cpus;
    iw_time watch_ps;
    bool is_quiet;
    struct worth_opts worth;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct verify_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("cpus", OPT_STRING, cpus, "LIST",
        "the application's CPUs, 2-7 (default those of the batch job, else those set apart by the kernel)",
        .is_setting = true),
    ROW("watch", OPT_TIME, watch_ps, "TIME",
        "without FILE: watch the kernel's counters for TIME; 0: check settings only (default 2s)"),
    ROW("sysroot", OPT_STRING, sysroot, "DIR",
        "read another node's files from the copy below DIR (default this node's)"),
};
static const struct opt worth_rows[] = {
    ROW("ranks-per-node", OPT_COUNT, worth.ranks_per_node, "N",
        "ranks per node (default one per CPU of FILE that should be quiet)", .min = 1, .max = 1u << 20,
        .is_setting = true),
    ROW("trials", OPT_COUNT, worth.trials, "N", "simulate each change N times, in pairs (default 20)",
        .min = 2, .max = 1u << 20, .is_setting = true),
    ROW("seed", OPT_COUNT, worth.seed, "N", "seed of all random numbers (default 1)", .max = INT64_MAX),
};
static const struct opt output_rows[] = {
    ROW("quiet", OPT_FLAG, is_quiet, "", "print one line per contradiction, and nothing if there is none",
        .letter = 'q'),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What to verify", what_rows, 0),
    SHOWN_PAGE_GROUP("Output; csv has one line per mitigation", offsetof(struct verify_opts, shown)),
    OPT_GROUP("Output; csv has one line per mitigation", output_rows, 0),
    {"What it is worth to a job", program_rows, WORTH_PROGRAM_ROWS,
     offsetof(struct verify_opts, worth.program), false},
    {"Halo and sweep patterns", halo_rows, HALO_ROW_COUNT, offsetof(struct verify_opts, worth.program),
     false},
    {"Network", net_rows, NET_ROW_COUNT, offsetof(struct verify_opts, worth.net), false},
    {"Memory, for --compute-bytes", memory_rows, MEMORY_ROW_COUNT, offsetof(struct verify_opts, worth.memory),
     false},
    OPT_GROUP("Simulation", worth_rows, 0),
};

static const struct verify_opts defaults = {.watch_ps = 2 * IW_PS_PER_S, .worth = WORTH_OPTS_INIT};

static const char *const synopsis[] = {"[options] [FILE]", NULL};

static const char description[] =
    "Read how a node is configured against noise: nohz_full, isolated CPUs, interrupts, watchdogs, "
    "frequency, memory, ... Check that against a recording of the node, or against the kernel's counters. "
    "Report for each mitigation whether it is configured, in effect, contradicted, not configured "
    "or unknown, and what to do. Changes nothing.\nA rate counts as too high if a Poisson process of the "
    "allowed rate would give as many events with a probability below 0.1 %.\nWith --pattern and --ranks, "
    "also estimate what each mitigation is worth to such a job. The job is simulated with the noise of FILE, "
    "and without the sources that the mitigation removes, as in whatif.\nExits with 2 if a setting is "
    "contradicted, 0 if none is, 1 on errors, so it can run in the prolog of a batch system.";

static const struct example examples[] = {
    {"is this node configured as it should be?", "idlewave verify"},
    {"the same, checked against what happens on the CPUs of jobs",
     "idlewave record --cpus 2-63 -o node.h5 && idlewave verify node.h5 --cpus 2-63"},
    {"what is it worth to a job of 4096 ranks, 64 per node?",
     "idlewave verify node.h5 --pattern allreduce --ranks 4096 --ranks-per-node 64 \\\n"
     "      --compute 1ms --repeat 100"},
    {"in a prolog: fail only if a setting is contradicted", "idlewave verify --quiet; test $? -ne 2"},
    {NULL, NULL},
};

/* ---- what is asked for ---- */

static int read_options(struct ui *ui, const struct verify_opts *opts, bool has_file, iw_cpu_set *cpus,
                        iw_verify_opts *wanted)
{
    char fault[IW_CPU_FAULT_SIZE];

    if (opts->cpus != NULL && !iw_cpu_set_parse(opts->cpus, cpus, fault)) {
        return ui_usage(ui, "--cpus: %s", fault);
    }
    if (opt_typed(opts, watch_ps) && (has_file || opts->sysroot != NULL)) {
        return ui_usage(ui, "--watch watches the counters of this node; drop FILE and --sysroot, or --watch");
    }
    if (worth_is_asked(&opts->worth) && !has_file) {
        return ui_usage(ui, "--pattern needs the noise of the node: give a recording as FILE");
    }
    wanted->cpus = opts->cpus != NULL ? cpus : NULL;
    wanted->root = opts->sysroot != NULL ? opts->sysroot : "";
    if (!has_file && opts->sysroot == NULL) {
        wanted->watch_ns = opts->watch_ps / IW_PS_PER_NS;
    }
    return UI_DONE;
}

static int verify(struct ui *ui, const struct verify_opts *opts, const iw_verify_opts *wanted,
                  const char *name)
{
    iw_verify *answer = NULL;
    int code = ui_exit_of(iw_verify_run(&ui->log, wanted, &answer));

    if (code == UI_DONE && worth_is_asked(&opts->worth)) {
        code = worth_fill(ui, &opts->worth, name, wanted->recording, answer);
    }
    if (code == UI_DONE) {
        code = opts->is_quiet && opts->shown.format == OUTPUT_TEXT
                   ? ui_exit_of(iw_verify_write_brief(&ui->log, answer, stdout))
                   : shown_write(ui, &opts->shown, iw_verify_doc(answer));
    }
    if (code == UI_DONE && answer->counts[IW_MITIGATION_CONTRADICTED] > 0) {
        code = UI_NEGATIVE;
    }
    iw_verify_free(answer);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct verify_opts *opts = values;
    iw_verify_opts wanted = IW_VERIFY_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_cpu_set cpus;
    int code = read_options(ui, opts, args->count > 0, &cpus, &wanted);

    if (code == UI_DONE && args->count > 0) {
        code = ui_exit_of(iw_recording_load(&ui->log, args->values[0], &recording));
        wanted.recording = recording;
        wanted.recording_name = args->values[0];
    }
    if (code == UI_DONE) {
        code = verify(ui, opts, &wanted, args->count > 0 ? args->values[0] : NULL);
    }
    iw_recording_free(recording);
    return code;
}

const struct verb verb_verify = {
    .name = "verify",
    .summary = "check whether settings against noise are in effect",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "a recording of the node (HDF5)",
    VERB_GROUPS(groups),
    .most_used = "cpus watch sysroot format quiet pattern ranks compute",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
