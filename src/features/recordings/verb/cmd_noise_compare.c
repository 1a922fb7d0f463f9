/* `idlewave noise compare`: is one recording noisier than another, beyond chance, and because of what?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"
#include "options/shown_opts.h"

struct compare_opts {
    struct opt_origins origins;
    int metric;
    const char *tolerance;
    uint64_t seed;
    struct shown_opts shown;
};

static const iw_compare_metric metrics[] = {IW_COMPARE_SHARE, IW_COMPARE_RATE, IW_COMPARE_P99};
static const char *const metric_names[] = {"share", "rate", "p99", NULL};

#define ROW(...) OPT_ROW(struct compare_opts, __VA_ARGS__)
static const struct opt verdict_rows[] = {
    ROW("metric", OPT_CHOICE, metric, "",
        "what to compare: time lost, detours per second, or their 99th percentile (default share)",
        .choices = metric_names),
    ROW("tolerance", OPT_STRING, tolerance, "SHARE",
        "how much worse B may be: a share of the time, or for other metrics a share of A's (default 0)",
        .is_setting = true),
    ROW("seed", OPT_COUNT, seed, "N", "seed of the significance tests (default 1)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Verdict", verdict_rows, 0),
    SHOWN_GROUP("Output; csv has one line per source", offsetof(struct compare_opts, shown)),
};

static const struct compare_opts defaults = {.seed = 1};

static const char *const synopsis[] = {"[options] A B", NULL};

static const char description[] =
    "Test whether recording B (another node, another kernel, after a change) is noisier than recording A, "
    "and which sources make the difference.\nDetours come in bursts, so significance comes from a block "
    "bootstrap: each recording is cut into blocks of a hundredth of its length (at least 100 ms, at least 20 "
    "blocks) with all CPUs, which are resampled 2000 times.\nExit status: 2 if B is worse (the whole 95 % "
    "interval of the difference lies above 0 and above the tolerance), 1 if there are too few detours for a "
    "percentile, otherwise 0.";

static const struct example examples[] = {
    {"whether isolating the CPUs helped", "idlewave noise compare before.h5 after.h5"},
    {"fail if a node loses 0.1 % more of its time",
     "idlewave noise compare good.h5 node07.h5 --tolerance 0.1% || echo look there"},
    {NULL, NULL},
};

/* Files of the same name keep their folders. */
static void name_sides(const char *const *paths, iw_compare_opts *wanted)
{
    const bool is_same_name = strcmp(ui_file_name(paths[0]), ui_file_name(paths[1])) == 0;

    wanted->name_a = is_same_name ? paths[0] : ui_file_name(paths[0]);
    wanted->name_b = is_same_name ? paths[1] : ui_file_name(paths[1]);
}

static int compare(struct ui *ui, const struct compare_opts *opts, const iw_compare_opts *wanted,
                   const iw_recording *a, const iw_recording *b)
{
    iw_noise_comparison *comparison = NULL;
    iw_compare_verdict verdict;
    int code = ui_exit_of(iw_noise_compare(&ui->log, a, b, wanted, &comparison));

    if (code != UI_DONE) {
        return code;
    }
    verdict = comparison->verdict;
    code = shown_write(ui, &opts->shown, iw_compare_doc(comparison));
    iw_noise_comparison_free(comparison);
    if (code == UI_DONE && verdict == IW_COMPARE_UNKNOWN) {
        ui_error(ui, "too few detours to compare by %s; use --metric share or rate",
                 metric_names[opts->metric]);
        return UI_ERROR;
    }
    return code == UI_DONE && verdict == IW_COMPARE_WORSE ? UI_NEGATIVE : code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct compare_opts *opts = values;
    iw_compare_opts wanted = IW_COMPARE_OPTS_INIT;
    iw_recording *a = NULL, *b = NULL;
    iw_status status = IW_OK;
    int code;

    if (args->count < 2) {
        return ui_usage(ui, "two recordings needed; type: idlewave noise compare A B");
    }
    if (opts->tolerance != NULL) {
        ui->option = "--tolerance";
        status = iw_parse_share(&ui->log, opts->tolerance, &wanted.tolerance);
        ui->option = NULL;
    }
    if (status != IW_OK) {
        return ui_exit_of_value(ui, status);
    }
    wanted.metric = metrics[opts->metric];
    wanted.seed = opts->seed;
    name_sides(args->values, &wanted);
    status = iw_recording_load(&ui->log, args->values[0], &a);
    if (status == IW_OK) {
        status = iw_recording_load(&ui->log, args->values[1], &b);
    }
    code = status == IW_OK ? compare(ui, opts, &wanted, a, b) : ui_exit_of(status);
    iw_recording_free(a);
    iw_recording_free(b);
    return code;
}

const struct verb verb_noise_compare = {
    .name = "noise compare",
    .summary = "test whether one recording is noisier than another, and why",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "A B",
    .argument_help = "two recordings (HDF5)",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 2,
    .run = run,
};
