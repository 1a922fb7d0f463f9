/* `idlewave model`: how noise slows a phase of work and a barrier, by formula instead of simulation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "features/model/verb/model_opts.h"
#include "options/verbs.h"

/* In the order of iw_model_barrier. */
static const char *const barriers[] = {"tree", "dissemination", NULL};

#define ROW(...) OPT_ROW(struct model_opts, __VA_ARGS__)
static const struct opt question_rows[] = {
    ROW("compute", OPT_TIME, compute_ps, "TIME",
        "work on every rank before each barrier (default none: only the barrier)"),
    ROW("barrier", OPT_CHOICE, barrier, "",
        "up and down a binary tree, or by dissemination (default tree; dissemination without --compute)",
        .choices = barriers),
    ROW("ranks", OPT_LIST, ranks, "N|RANGE",
        "2^1..2^24, 1023, or '3..3000 step x10'; may be repeated (default 2^1..2^20)"),
    ROW("rarest", OPT_TIME, rarest_ps, "TIME",
        "noise files: assume that every source recurs within TIME (default 60s)"),
};
static const struct opt check_rows[] = {
    ROW("check", OPT_FLAG, wants_check, "", "simulate the same and show both"),
    ROW("trials", OPT_COUNT, trials, "N", "simulate each number of ranks N times (default 100)", .min = 2,
        .max = UINT64_C(1) << 32),
    ROW("check-ranks", OPT_COUNT, check_ranks, "N", "simulate up to N ranks (default 64Ki)", .min = 1,
        .max = UINT64_C(1) << 30),
    ROW("seed", OPT_COUNT, seed, "N", "seed of all random choices (default 1)", .max = INT64_MAX),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Phase", question_rows, 0),
    {"Noise", noise_rows, NOISE_WHICH_ROWS, offsetof(struct model_opts, noise), false},
    {"Network", net_rows, NET_ROW_COUNT, offsetof(struct model_opts, net), false},
    OPT_GROUP("Check by simulation", check_rows, 0),
    SHOWN_GROUP("Output; csv has one line per number of ranks", offsetof(struct model_opts, shown)),
};

static const struct model_opts defaults = {
    .rarest_ps = 60 * IW_PS_PER_S,
    .net = NET_OPTS_INIT,
    .trials = 100,
    .seed = 1,
    .check_ranks = 65536,
};

static const char *const synopsis[] = {"[options] --noise SPEC|FILE --compute TIME --net NAME",
                                       "[options] --noise SPEC --net NAME", NULL};

static const char description[] =
    "Compute how long a phase takes on N ranks when each works and all then meet in a barrier, and from how "
    "many ranks noise doubles it. The theory of Agarwal, Garg and Vishnoi gives results at once for any N, "
    "while simulate draws the noise of each rank.\nGive one --noise: a file, a SPEC of simulate (poisson "
    "only with fixed and exp), or exp:F or pareto:F,A with F the share of all time. --compute also needs "
    "--net.\nWith a noise file, the slowest of N ranks comes from the recorded phases and, beyond "
    "them, from their fitted tail. Where neither is reliable, the report says how long to record "
    "instead.\nWith a network and --barrier dissemination, periodic and Poisson detours also "
    "hit the barrier's messages; without --compute the barrier is all there is.";

static const struct example examples[] = {
    {"1 % of exponential noise, to 16 million ranks",
     "idlewave model --noise exp:1% --compute 1ms --net none --L 2us --ranks 2^1..2^24"},
    {"the noise of this node at scale, checked by simulation",
     "idlewave model --noise node.h5 --compute 1ms --check"},
    {"only a barrier, under rare long detours",
     "idlewave model --noise periodic:0.375Hz,5.6ms --ranks 2^10..2^20"},
    {NULL, NULL},
};

static int check_options(const struct ui *ui, const struct model_opts *opts)
{
    const bool has_work = opt_given(opts, compute_ps);

    if (opts->noise.specs.count == 0) {
        return ui_usage(ui, "no noise given: add --noise exp:1%%, or --noise FILE");
    }
    if (opts->noise.specs.count > 1) {
        return ui_usage(ui, "--noise: give one noise source; for several, use simulate");
    }
    if (has_work && opts->compute_ps == 0) {
        return ui_usage(ui, "--compute is 0: leave it out for the barrier only");
    }
    if (!has_work && opt_given(opts, barrier) && opts->barrier == IW_MODEL_TREE) {
        return ui_usage(ui,
                        "--barrier tree needs --compute: without work there is only a model of dissemination "
                        "only");
    }
    return UI_DONE;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct model_opts *opts = values;
    struct model_run model = {.count = 0};
    int code = check_options(ui, opts);

    (void)args;
    if (code == UI_DONE) {
        code = model_answer(ui, opts, &model);
    }
    if (code == UI_DONE && opts->wants_check) {
        code = model_check(ui, opts, &model);
    }
    if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_model_doc(&model.report));
    }
    model_release(&model);
    return code;
}

const struct verb verb_model = {
    .name = "model",
    .group = VERB_PREDICTION,
    .summary = "compute by formula how noise slows phases, for any number of ranks",
    .synopsis = synopsis,
    .description = description,
    VERB_GROUPS(groups),
    .most_used = "compute ranks noise net check format",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .run = run,
};
