/* `idlewave noise show`: what a recording says, for people or programs, and as a picture.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"
#include "options/shown_opts.h"

struct show_opts {
    struct opt_origins origins;
    uint64_t cpu;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct show_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("cpu", OPT_COUNT, cpu, "N", "only this CPU (default all)", .max = UINT32_MAX),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Selection", what_rows, 0),
    SHOWN_GROUP("Output; csv has one line per detour", offsetof(struct show_opts, shown)),
};

static const struct show_opts defaults = {.cpu = 0};

static const char *const synopsis[] = {"[options] FILE", NULL};

static const char description[] =
    "Show how much CPU time a node loses to noise, by source, and what a barrier and an allreduce pay for "
    "it: simulated back to back on 1,024 ranks of hdr-fat-tree. Also the least power of two ranks on which a "
    "barrier takes 5 % longer.\nA source is called periodic, and its period "
    "is shown, if most of its detours follow each other at the same distance, on each CPU or over all of "
    "them. For FWQ and FTQ, each quantum counts as one detour, as long as what it lost against the best "
    "quantum of its CPU.";

static const struct example examples[] = {
    {"summary of a recording", "idlewave noise show node.h5"},
    {"for a paper", "idlewave noise show node.h5 --plot node.pdf"},
    {"the ten longest detours", "idlewave noise show node.h5 --format csv | sort -t, -k3nr | head"},
    {NULL, NULL},
};

/* A recording of one CPU that borrows all from another one; `cpu_count` is 0 if that has no such CPU. */
static iw_recording only_cpu(const iw_recording *recording, uint64_t cpu)
{
    iw_recording one = *recording;

    one.cpu_count = 0;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        if (recording->cpus[i].cpu == cpu) {
            one.cpus = &recording->cpus[i];
            one.cpu_count = 1;
        }
    }
    return one;
}

static int show(struct ui *ui, const struct show_opts *opts, const iw_recording *recording, const char *path)
{
    iw_noise_report_opts wanted = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    int code;

    wanted.name = ui_file_name(path);
    wanted.has_cost = true;
    code = ui_exit_of(iw_noise_report_init(&ui->log, recording, &wanted, &report));
    if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_noise_doc(&report));
        iw_noise_report_release(&report);
    }
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct show_opts *opts = values;
    iw_recording *recording = NULL, shown;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no recording given; type: idlewave noise show FILE");
    }
    if (iw_is_digest_file(args->values[0])) {
        return ui_usage(ui, "'%s' has digests; type: idlewave fleet show %s", args->values[0],
                        args->values[0]);
    }
    status = iw_recording_load(&ui->log, args->values[0], &recording);
    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    shown = opt_given(opts, cpu) ? only_cpu(recording, opts->cpu) : *recording;
    if (shown.cpu_count == 0 && opt_given(opts, cpu)) {
        ui_error(ui, "'%s' has no CPU %llu", args->values[0], (unsigned long long)opts->cpu);
        code = UI_ERROR;
    } else {
        code = show(ui, opts, &shown, args->values[0]);
    }
    iw_recording_free(recording);
    return code;
}

const struct verb verb_noise_show = {
    .name = "noise show",
    .summary = "summarise a recording: sources, CPUs, pictures",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "a recording (HDF5)",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
