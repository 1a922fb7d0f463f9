/* `idlewave wave`: idle waves in a timeline: how fast, how lasting, where they end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/idlewave.h>
#include <idlewave/program.h>

#include "options/shown_opts.h"
#include "options/verbs.h"

struct wave_opts {
    struct opt_origins origins;
    iw_time threshold_ps, least_delay_ps, gap_ps; /* 0: chosen        */
    uint64_t distance, sigma;                     /* 0: as the timeline says */
    bool is_periodic;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct wave_opts, __VA_ARGS__)
static const struct opt wave_rows[] = {
    ROW("threshold", OPT_TIME, threshold_ps, "TIME",
        "least extra waiting that counts as part of a wave (default depends on the usual waiting)"),
    ROW("least-delay", OPT_TIME, least_delay_ps, "TIME",
        "ignore shorter delays (default a quarter of a step's computation, a half for traces, and longer "
        "than noise)"),
    ROW("distance", OPT_COUNT, distance, "N",
        "d: distance of the farthest partner in ranks (default from the timeline)", .min = 1,
        .max = UINT32_MAX),
    ROW("sigma", OPT_COUNT, sigma, "N",
        "expect sigma d ranks per step: 2 for rendezvous messages in both directions, one after the other, "
        "else 1 (default from the timeline)",
        .min = 1, .max = UINT32_MAX),
};
static const struct opt trace_rows[] = {
    ROW("step-gap", OPT_TIME, gap_ps, "TIME",
        "start a step where a rank computes for at least TIME between two calls (default from the gaps)"),
    ROW("periodic", OPT_FLAG, is_periodic, "", "treat the last and the first rank as neighbours"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Waves", wave_rows, 0),
    OPT_GROUP("Traces", trace_rows, 0),
    SHOWN_GROUP("Output; csv has one line per rank that a wave reaches", offsetof(struct wave_opts, shown)),
};

static const struct wave_opts defaults = {.distance = 0};

static const char *const synopsis[] = {"[options] FILE", NULL};

static const char description[] =
    "A late rank makes its neighbours wait, and these make theirs wait in the next step: a wave of idle time "
    "runs through the program. This verb finds the delays in a timeline and follows the waves in "
    "each direction. It reports their speed, compared with sigma d / T (d: distance of partners, T: length "
    "of a step), their loss per rank to noise, and their end: at the border, around the ring, at another "
    "wave, or "
    "in noise.\nTimelines come from 'idlewave simulate --timeline'. In a trace of a real run, unusually long "
    "computation on a single rank counts as a delay.";

static const struct example examples[] = {
    {"A delay of 13.5 ms runs through a ring of 18 ranks",
     "idlewave simulate --pattern halo1d --ranks 18 --repeat 20 --compute 3ms --exchange split \\\n"
     "    --delay rank=5,time=13.5ms --timeline run.h5 && idlewave wave run.h5"},
    {"With a picture", "idlewave wave run.h5 --plot run.png"},
    {"A traced ring", "mpirun -n 8 idlewave trace -o traced -- ./ring && idlewave wave traced --periodic"},
    {NULL, NULL},
};

/* The timeline in a file, or made of a trace. */
static iw_status load(struct ui *ui, const struct wave_opts *opts, const char *path, iw_timeline **timeline_p)
{
    iw_timeline_opts made = IW_TIMELINE_OPTS_INIT;

    if (access(path, F_OK) != 0) {
        ui_error(ui, "cannot open '%s': %s", path, strerror(errno));
        return IW_ERR_IO;
    }
    if (iw_timeline_is_file(path)) {
        return iw_timeline_read(&ui->log, path, timeline_p);
    }
    if (!iw_trace_is_trace(path)) {
        ui_error(ui, "'%s' is neither a timeline nor a trace", path);
        ui_hint(ui, "make a timeline with 'idlewave simulate --timeline FILE'");
        return IW_ERR_FORMAT;
    }
    made.about.is_periodic = opts->is_periodic;
    return iw_timeline_from_trace(&ui->log, path, opts->gap_ps, &made, timeline_p);
}

/* The picture is the timeline's, with the waves in it. Returns an exit code. */
static int find_and_write(struct ui *ui, const struct wave_opts *opts, const iw_timeline *timeline)
{
    iw_wave_opts wanted = IW_WAVE_OPTS_INIT;
    struct shown_opts shown = opts->shown;
    iw_waves *waves = NULL;
    iw_status status;
    int code;

    wanted.threshold_ps = opts->threshold_ps;
    wanted.least_delay_ps = opts->least_delay_ps;
    wanted.distance = (uint32_t)opts->distance;
    wanted.sigma = (uint32_t)opts->sigma;
    wanted.is_periodic = opts->is_periodic;
    status = iw_waves_find(&ui->log, timeline, &wanted, &waves);
    shown.plot = NULL;
    code = status == IW_OK ? shown_write(ui, &shown, iw_waves_doc(waves)) : ui_exit_of(status);
    if (code == UI_DONE && opts->shown.plot != NULL) {
        code = ui_exit_of(iw_timeline_plot(&ui->log, timeline, waves, NULL, opts->shown.plot));
    }
    iw_waves_free(waves);
    return code;
}

/* 0, or what ui_usage() has returned. */
static int check(struct ui *ui, const struct wave_opts *opts, const char *path)
{
    const struct {
        const char *name;
        bool is_zero;
    } times[] = {{"--threshold", opt_given(opts, threshold_ps) && opts->threshold_ps == 0},
                 {"--least-delay", opt_given(opts, least_delay_ps) && opts->least_delay_ps == 0},
                 {"--step-gap", opt_given(opts, gap_ps) && opts->gap_ps == 0}};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (times[i].is_zero) {
            return ui_usage(ui, "%s must be above 0", times[i].name);
        }
    }
    if (opt_typed(opts, gap_ps) && iw_timeline_is_file(path)) {
        return ui_usage(ui, "--step-gap is for traces: '%s' is a timeline with known steps", path);
    }
    return 0;
}

/* A timeline of a pattern knows its neighbours; that of a simulated trace or schedule does not. */
static int check_neighbours(struct ui *ui, const struct wave_opts *opts, const char *path,
                            const iw_timeline *timeline)
{
    if (opts->is_periodic && iw_timeline_describe(timeline)->distance > 0) {
        return ui_usage(ui, "--periodic is for traces: '%s' is a timeline with known neighbours", path);
    }
    return 0;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct wave_opts *opts = values;
    iw_timeline *timeline = NULL;
    iw_status status;
    int wrong;

    if (args->count == 0) {
        return ui_usage(ui, "no timeline given; type: idlewave wave FILE");
    }
    wrong = check(ui, opts, args->values[0]);
    if (wrong != 0) {
        return wrong;
    }
    status = load(ui, opts, args->values[0], &timeline);
    if (status == IW_OK) {
        wrong = check_neighbours(ui, opts, args->values[0], timeline);
    }
    if (status == IW_OK && wrong == 0) {
        wrong = find_and_write(ui, opts, timeline);
    }
    iw_timeline_free(timeline);
    return wrong != 0 ? wrong : ui_exit_of(status);
}

const struct verb verb_wave = {
    .name = "wave",
    .group = VERB_PREDICTION,
    .summary = "find idle waves in a timeline: speed, decay, where they end",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE|TRACE",
    .argument_help = "a timeline (HDF5), or a trace of 'idlewave trace'",
    VERB_GROUPS(groups),
    .most_used = "threshold distance periodic format plot",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
