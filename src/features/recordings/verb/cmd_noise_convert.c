/* `idlewave noise convert`: recordings from and to the files of other tools.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"

struct convert_opts {
    struct opt_origins origins;
    const char *from, *to;
    uint64_t cpu;
    iw_time length_ps;
};

static const char *format_name(size_t index)
{
    const iw_convert_format *format = iw_convert_format_at(index);

    return format != NULL ? format->name : NULL;
}

/* ---- lists of formats, for help ---- */

static bool is_written(const iw_convert_format *format)
{
    return format->can_write;
}

static bool is_only_read(const iw_convert_format *format)
{
    return !format->can_write;
}

static bool is_of_one_cpu(const iw_convert_format *format)
{
    return format->is_of_one_cpu;
}

static bool has_suffix(const iw_convert_format *format)
{
    return format->suffix != NULL;
}

/* The index-th that is so, or NULL. */
static const iw_convert_format *format_that(bool (*is_so)(const iw_convert_format *format), size_t index)
{
    const iw_convert_format *format;

    for (size_t i = 0; (format = iw_convert_format_at(i)) != NULL; i++) {
        if (is_so(format) && index-- == 0) {
            return format;
        }
    }
    return NULL;
}

/* "netgauge (text; LogGOPSim reads it too)", valid until the next call. */
static const char *described(const iw_convert_format *format)
{
    static char text[160];

    if (format == NULL) {
        return NULL;
    }
    (void)snprintf(text, sizeof text, "%s (%s)", format->name, format->summary);
    return text;
}

static const char *written_format(size_t index)
{
    return described(format_that(is_written, index));
}

static const char *only_read_format(size_t index)
{
    return described(format_that(is_only_read, index));
}

static const char *format_of_one_cpu(size_t index)
{
    const iw_convert_format *format = format_that(is_of_one_cpu, index);

    return format != NULL ? format->name : NULL;
}

/* ".h5 idlewave" */
static const char *suffix_of_format(size_t index)
{
    static char text[64];
    const iw_convert_format *format = format_that(has_suffix, index);

    if (format == NULL) {
        return NULL;
    }
    (void)snprintf(text, sizeof text, "%s %s", format->suffix, format->name);
    return text;
}

#define ROW(...) OPT_ROW(struct convert_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("from", OPT_STRING, from, "FORMAT", "format of IN (default from its content)", .known = format_name),
    ROW("to", OPT_STRING, to, "FORMAT", "format of OUT (default from its suffix: {})", .known = format_name,
        .lists = {suffix_of_format}),
    ROW("cpu", OPT_COUNT, cpu, "N", "only this CPU; for formats without CPU numbers ({}), the number to use",
        .max = UINT32_MAX - 1, .lists = {format_of_one_cpu}),
    ROW("length", OPT_TIME, length_ps, "TIME",
        "length of the recording IN (default as stated in it, else up to its last detour)"),
};
#undef ROW

static const struct opt_group groups[] = {OPT_GROUP("Conversion", rows, 0)};

static const struct convert_opts defaults = {.cpu = 0};

static const char *const synopsis[] = {"[options] IN OUT", NULL};

static const char description[] =
    "Convert recordings of other tools to noise files, and noise files to their formats. Warnings name data "
    "that a format cannot hold.\nReads and writes: {}. Reads only: {}.\n"
    "Some have one file per CPU ({}): for several CPUs, OUT.txt becomes OUT.cpu0.txt, OUT.cpu1.txt, ... "
    "unless --cpu chooses one.";

static const struct example examples[] = {
    {"a trace of rtla, as a recording", "idlewave noise convert osnoise_trace.txt node.h5"},
    {"one CPU for LogGOPSim", "idlewave noise convert node.h5 noise.txt --cpu 3"},
    {"through a pipe", "idlewave noise convert node.h5 - --to csv | gzip > node.csv.gz"},
    {NULL, NULL},
};

/* "converted 1977 detours of 2 CPUs, watched for 1.235 s" */
static void tell(const iw_recording *recording)
{
    const iw_detours *first = &recording->cpus[0];
    uint64_t detours = 0, quanta = 0;
    char length[24];

    for (size_t i = 0; i < recording->cpu_count; i++) {
        detours += recording->cpus[i].count;
        quanta += recording->cpus[i].sample_count;
    }
    if (!iw_probe_has_quanta(recording->probe)) {
        printf("converted %" PRIu64 " detour%s", detours, detours == 1 ? "" : "s");
    } else {
        printf("converted %" PRIu64 " quant%s", quanta, quanta == 1 ? "um" : "a");
    }
    printf(" of %zu CPU%s", recording->cpu_count, recording->cpu_count == 1 ? "" : "s");
    printf(", watched for %s\n", iw_format_time(first->length_ns * IW_PS_PER_NS, length, sizeof length));
}

/* Bad content of a file is no wrong use. */
static int exit_of(const struct ui *ui, iw_status status)
{
    return status == IW_ERR_USAGE ? ui_exit_of_value(ui, status) : ui_exit_of(status);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct convert_opts *opts = values;
    iw_import_opts import = IW_IMPORT_OPTS_INIT;
    iw_recording *recording;
    iw_status status;

    if (args->count < 2) {
        return ui_usage(ui, "no files given; type: idlewave noise convert IN OUT");
    }
    import.format = opts->from;
    import.cpu = opt_given(opts, cpu) ? (uint32_t)opts->cpu : IW_IMPORT_ALL_CPUS;
    import.length_ns = opts->length_ps / IW_PS_PER_NS;
    status = iw_recording_import(&ui->log, args->values[0], &import, &recording);
    if (status != IW_OK) {
        return exit_of(ui, status);
    }
    status = iw_recording_export(&ui->log, recording, args->values[1], opts->to);
    if (status == IW_OK && strcmp(args->values[1], "-") != 0) {
        tell(recording);
    }
    iw_recording_free(recording);
    return exit_of(ui, status);
}

const struct verb verb_noise_convert = {
    .name = "noise convert",
    .summary = "read and write the noise files of other tools",
    .synopsis = synopsis,
    .description = description,
    .lists = {written_format, only_read_format, format_of_one_cpu},
    .argument_name = "IN OUT",
    .argument_help = "files; - is standard input or output (text formats)",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 2,
    .run = run,
};
