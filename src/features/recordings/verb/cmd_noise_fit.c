/* `idlewave noise fit`: which laws describe recorded noise, as specs for simulations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"
#include "options/shown_opts.h"

struct fit_opts {
    struct opt_origins origins;
    uint64_t seed;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct fit_opts, __VA_ARGS__)
static const struct opt judge_rows[] = {
    ROW("seed", OPT_COUNT, seed, "N", "seed of the significance tests (default 1)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Tests", judge_rows, 0),
    SHOWN_GROUP("Output; csv has one line per law and source", offsetof(struct fit_opts, shown)),
};

static const struct fit_opts defaults = {.seed = 1};

static const char *const synopsis[] = {"[options] FILE", NULL};

static const char description[] =
    "Fit the laws that simulations draw from to recorded detours: durations as exponential, Pareto or "
    "lognormal, arrivals as periodic, at random, or both; for each source and for all together. Report how "
    "well they fit, and end with specs for 'idlewave simulate --noise' and 'idlewave noise "
    "synth'.\nRecordings lack detours below their threshold, so laws are fitted above it (left-truncated "
    "likelihoods). The best law has the lowest BIC; p-values come from a parametric bootstrap that fits each "
    "sample again.";

static const struct example examples[] = {
    {"laws of this noise", "idlewave noise fit node.h5"},
    {"for a paper", "idlewave noise fit node.h5 --plot fit.pdf"},
    {"only the specs", "idlewave noise fit node.h5 --format json | jq -r '.specs[].spec'"},
    {NULL, NULL},
};

static int show(struct ui *ui, const struct fit_opts *opts, const iw_recording *recording, const char *path)
{
    iw_fit_opts wanted = IW_FIT_OPTS_INIT;
    iw_noise_fit *fit = NULL;
    iw_status status;
    int code;

    wanted.name = ui_file_name(path);
    wanted.seed = opts->seed;
    status = iw_noise_fit_new(&ui->log, recording, &wanted, &fit);
    code = status == IW_OK ? shown_write(ui, &opts->shown, iw_fit_doc(fit)) : ui_exit_of(status);
    iw_noise_fit_free(fit);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    iw_recording *recording = NULL;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no recording given; type: idlewave noise fit FILE");
    }
    status = iw_recording_load(&ui->log, args->values[0], &recording);
    code = status == IW_OK ? show(ui, values, recording, args->values[0]) : ui_exit_of(status);
    iw_recording_free(recording);
    return code;
}

const struct verb verb_noise_fit = {
    .name = "noise fit",
    .summary = "find laws that describe a recording, as specs for simulations",
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
