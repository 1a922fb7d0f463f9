/* `idlewave noise synth`: writes noise from specs as if it had been recorded.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/verb/noise_edit.h"
#include "features/recordings/verb/noise_verbs.h"

struct synth_values {
    struct opt_origins origins;
    iw_time duration_ps, threshold_ps, t_min_ps;
    uint64_t cpu_count, seed;
    int sync;
    struct edit_output_opts output;
};

/* In the order of iw_sync. */
static const char *const syncs[] = {"none", "start", NULL};

#define ROW(...) OPT_ROW(struct synth_values, __VA_ARGS__)
static const struct opt noise_rows[] = {
    ROW("duration", OPT_TIME, duration_ps, "TIME", "length of the recording (default 60s)"),
    ROW("cpus", OPT_COUNT, cpu_count, "N", "number of CPUs (default 1)", .min = 1, .max = 65536),
    ROW("sync", OPT_CHOICE, sync, "", "independent noise on each CPU, or the same on all (default none)",
        .choices = syncs),
    ROW("seed", OPT_COUNT, seed, "N", "seed of all random choices (default 1)", .max = INT64_MAX),
    ROW("threshold", OPT_TIME, threshold_ps, "TIME",
        "drop shorter detours, like a probe that cannot see them (default 0)"),
    ROW("t-min", OPT_TIME, t_min_ps, "TIME", "duration of the undisturbed loop of such a probe (default 0)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Noise", noise_rows, 0),
    {"Output", edit_output_rows, EDIT_OUTPUT_ROWS, offsetof(struct synth_values, output), false},
    SHOWN_NO_CSV_GROUP("Output", offsetof(struct synth_values, output.shown)),
};

static const struct synth_values defaults = {.duration_ps = 60 * IW_PS_PER_S, .cpu_count = 1, .seed = 1};

static const char *const synopsis[] = {"[options] [[CLASS/]NAME=]SPEC... -o FILE", NULL};

static const char description[] =
    "Write a noise file with the noise of SPECs, as in simulate --noise: {}, with DIST one of {}. CPU r has "
    "the detours of rank r in the first trial of a simulation with the same seed, rounded to the nanosecond. "
    "The same command writes the same bytes.\nEach SPEC is one source. A name and a class identify it later: "
    "irq/tick=periodic:1kHz,2us. Classes are thread, irq, softirq, nmi, hardware and unknown. "
    "Where detours overlap or touch they are one detour with several parts.";

static const struct example examples[] = {
    {"a tick and a daemon on four CPUs",
     "idlewave noise synth irq/tick=periodic:1kHz,2us --cpus 4 -o made.h5 \\\n"
     "      thread/daemon=poisson:1Hz,exp:500us"},
    {"the same node without the daemon", "idlewave noise cut made.h5 --drop daemon -o without.h5"},
    {NULL, NULL},
};

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct synth_values *v = values;
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no noise given: add a SPEC such as irq/tick=periodic:1kHz,2us");
    }
    code = edit_check_output(ui, &v->output);
    if (code != UI_DONE) {
        return code;
    }
    opts.specs = args->values;
    opts.spec_count = args->count;
    opts.duration_ns = v->duration_ps / IW_PS_PER_NS;
    opts.cpu_count = (size_t)v->cpu_count;
    opts.seed = v->seed;
    opts.sync = (iw_sync)v->sync;
    opts.t_min_ns = (double)v->t_min_ps / (double)IW_PS_PER_NS;
    opts.threshold_ns = (double)v->threshold_ps / (double)IW_PS_PER_NS;
    code = ui_exit_of_value(ui, iw_recording_synth(&ui->log, &opts, &recording, &edit));
    if (code == UI_DONE) {
        code = edit_write(ui, &v->output, &edit, recording, "command");
    }
    iw_recording_free(recording);
    return code;
}

const struct verb verb_noise_synth = {
    .name = "noise synth",
    .summary = "write synthetic noise as a recording",
    .synopsis = synopsis,
    .description = description,
    .lists = {iw_noise_clocked_usage, iw_noise_duration_usage},
    .argument_name = "SPEC",
    .argument_help = "noise; up to eight",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = IW_NOISE_MAX_SOURCES,
    .run = run,
};
