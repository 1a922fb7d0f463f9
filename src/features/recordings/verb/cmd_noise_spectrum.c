/* `idlewave noise spectrum`: which frequencies the noise has, and what they come from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"
#include "options/shown_opts.h"

struct spectrum_opts {
    struct opt_origins origins;
    uint64_t cpu;
    const char *max_frequency;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct spectrum_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("max-frequency", OPT_STRING, max_frequency, "RATE",
        "highest frequency (default 5kHz, or the highest that the quanta allow)"),
    ROW("cpu", OPT_COUNT, cpu, "N", "only this CPU (default the mean of all)", .max = UINT32_MAX),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Selection", what_rows, 0),
    SHOWN_GROUP("Output; csv has one line per frequency", offsetof(struct spectrum_opts, shown)),
};

static const struct spectrum_opts defaults = {.cpu = 0};

static const char *const synopsis[] = {"[options] FILE", NULL};

static const char description[] =
    "Find noise at regular intervals: ticks, daemons, timers. The power spectrum of the time lost (Welch's "
    "mean over overlapping windows) shows it as lines above a floor; a line and its multiples count "
    "as one, and sources with the same period are named.\n"
    "FWQ and FTQ recordings show frequencies up to half of the rate of their quanta.";

static const struct example examples[] = {
    {"periodic noise of this node", "idlewave noise spectrum node.h5"},
    {"up to 100 kHz, on one CPU", "idlewave noise spectrum node.h5 --cpu 3 --max-frequency 100kHz"},
    {"for a paper", "idlewave noise spectrum node.h5 --plot spectrum.pdf"},
    {NULL, NULL},
};

static int show(struct ui *ui, const struct spectrum_opts *opts, const iw_spectrum_opts *wanted,
                const iw_recording *recording)
{
    iw_noise_spectrum *spectrum = NULL;
    int code = ui_exit_of(iw_noise_spectrum_new(&ui->log, recording, wanted, &spectrum));

    if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_noise_spectrum_doc(spectrum));
    }
    iw_noise_spectrum_free(spectrum);
    return code;
}

/* Nine digits: the period has been rounded to picoseconds. */
static double frequency_of(iw_time period_ps)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%.9g", (double)IW_PS_PER_S / (double)period_ps);
    return strtod(digits, NULL);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct spectrum_opts *opts = values;
    iw_spectrum_opts wanted = IW_SPECTRUM_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_time period_ps;
    iw_status status = IW_OK;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no recording given; type: idlewave noise spectrum FILE");
    }
    if (opts->max_frequency != NULL) {
        ui->option = "--max-frequency";
        status = iw_parse_rate(&ui->log, opts->max_frequency, &period_ps);
        ui->option = NULL;
    }
    if (status != IW_OK) {
        return ui_exit_of_value(ui, status);
    }
    if (opts->max_frequency != NULL) {
        wanted.max_frequency_hz = frequency_of(period_ps);
    }
    wanted.cpu = opt_given(opts, cpu) ? (int64_t)opts->cpu : -1;
    wanted.name = ui_file_name(args->values[0]);
    status = iw_recording_load(&ui->log, args->values[0], &recording);
    code = status == IW_OK ? show(ui, opts, &wanted, recording) : ui_exit_of(status);
    iw_recording_free(recording);
    return code;
}

const struct verb verb_noise_spectrum = {
    .name = "noise spectrum",
    .summary = "find noise at regular intervals, and its sources",
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
