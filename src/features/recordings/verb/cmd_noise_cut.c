/* `idlewave noise cut`: writes a part of a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/verb/noise_edit.h"
#include "features/recordings/verb/noise_verbs.h"
#include "options/cpu_list.h"

struct cut_values {
    struct opt_origins origins;
    iw_time from_ps, to_ps, at_least_ps;
    const char *cpus;
    struct opt_list drop, keep;
    struct edit_output_opts output;
};

#define ROW(...) OPT_ROW(struct cut_values, __VA_ARGS__)
static const struct opt part_rows[] = {
    ROW("from", OPT_TIME, from_ps, "TIME", "start time (default 0)"),
    ROW("to", OPT_TIME, to_ps, "TIME", "end time (default the end)"),
    ROW("cpus", OPT_STRING, cpus, "LIST", "only these CPUs: 0-3,8 (default all)"),
    ROW("drop", OPT_LIST, drop, "SOURCE",
        "remove a source: its name, its class, or class/name, with the wildcard *. May be repeated"),
    ROW("keep", OPT_LIST, keep, "SOURCE", "remove all other sources. May be repeated"),
    ROW("at-least", OPT_TIME, at_least_ps, "TIME",
        "remove shorter detours, after everything else; raises the recording's threshold to TIME"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Part to keep", part_rows, 0),
    {"Output", edit_output_rows, EDIT_OUTPUT_ROWS, offsetof(struct cut_values, output), false},
    SHOWN_NO_CSV_GROUP("Output", offsetof(struct cut_values, output.shown)),
};

static const struct cut_values defaults = {.to_ps = 0};

static const char *const synopsis[] = {"[options] FILE -o FILE", NULL};

static const char description[] =
    "Write a part of a recording. Its time begins at 0 again; detours that straddle an edge are "
    "clipped.\nWith --drop or --keep it shows what a node would be like without some of its noise: detours "
    "of these sources vanish; detours shared with other sources begin as before and keep the rest of their "
    "time. All other detours stay where they are. FWQ and FTQ recordings can be cut by time and CPU only.";

static const struct example examples[] = {
    {"the second minute of two CPUs",
     "idlewave noise cut node.h5 --from 1min --to 2min --cpus 2,3 -o part.h5"},
    {"the same node without timer interrupts",
     "idlewave noise cut node.h5 --drop local_timer -o tickless.h5"},
    {"kernel workers only", "idlewave noise cut node.h5 --keep 'thread/kworker*' -o workers.h5"},
    {NULL, NULL},
};

static int64_t whole_ns(iw_time ps)
{
    return ps / IW_PS_PER_NS;
}

static int cut(struct ui *ui, const struct cut_values *v, const iw_cut_opts *opts, const char *path)
{
    iw_recording *recording = NULL, *part = NULL;
    iw_edit edit;
    int code = ui_exit_of(iw_recording_load(&ui->log, path, &recording));

    if (code == UI_DONE) {
        code = ui_exit_of(iw_recording_cut(&ui->log, path, recording, opts, &part, &edit));
    }
    if (code == UI_DONE) {
        code = edit_write(ui, &v->output, &edit, part, "edited");
    }
    iw_recording_free(part);
    iw_recording_free(recording);
    return code;
}

static int check(const struct ui *ui, const struct cut_values *v, const struct opt_args *args)
{
    if (args->count == 0) {
        return ui_usage(ui, "no recording given; type: idlewave noise cut FILE -o FILE");
    }
    if (opt_given(v, to_ps) && whole_ns(v->from_ps) >= whole_ns(v->to_ps)) {
        return ui_usage(ui, "--to must be later than --from");
    }
    return edit_check_output(ui, &v->output);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct cut_values *v = values;
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    struct cpu_list cpus;
    int code = check(ui, v, args);

    if (code == UI_DONE) {
        code = cpu_list_read(ui, v->cpus, &cpus);
    }
    if (code != UI_DONE) {
        return code;
    }
    opts.cpus = v->cpus != NULL ? cpus.numbers : NULL;
    opts.cpu_count = cpus.count;
    opts.from_ns = whole_ns(v->from_ps);
    opts.to_ns = opt_given(v, to_ps) ? whole_ns(v->to_ps) : INT64_MAX;
    opts.keep = v->keep.items;
    opts.keep_count = v->keep.count;
    opts.drop = v->drop.items;
    opts.drop_count = v->drop.count;
    opts.at_least_ns = whole_ns(v->at_least_ps + IW_PS_PER_NS - 1);
    return cut(ui, v, &opts, args->values[0]);
}

const struct verb verb_noise_cut = {
    .name = "noise cut",
    .summary = "write a part of a recording: time, CPUs, sources",
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
