/* Recordings from the files of other tools: which formats there are, and how a file's is told.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/convert/convert.h"

#include <idlewave/convert.h>
#include <idlewave/time.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opts.h"
#include "core/noise/recording_check.h"
#include "kit/files/io/input.h"

const struct iwi_convert_ops *const iwi_convert_formats[] = {
    &iwi_convert_idlewave,  &iwi_import_ftq, /* before netgauge, which has two columns of numbers too */
    &iwi_convert_netgauge,  &iwi_convert_csv,
    &iwi_convert_sysjitter, &iwi_import_osnoise,
    &iwi_import_trace_dat,  &iwi_import_jitterdebugger,
    &iwi_import_fwq,        NULL,
};

const iw_convert_format *iw_convert_format_at(size_t index)
{
    for (size_t i = 0; iwi_convert_formats[i] != NULL; i++) {
        if (i == index) {
            return &iwi_convert_formats[i]->about;
        }
    }
    return NULL;
}

/* "idlewave, netgauge, csv" */
static void list_formats(bool want_write, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; iwi_convert_formats[i] != NULL; i++) {
        const iw_convert_format *about = &iwi_convert_formats[i]->about;
        const size_t used = strlen(text);

        if (want_write ? about->can_write : about->can_read) {
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", about->name);
        }
    }
}

iw_status iwi_convert_find(const iw_log *log, const char *name, bool want_write,
                           const struct iwi_convert_ops **ops_p)
{
    char names[128];

    for (size_t i = 0; iwi_convert_formats[i] != NULL; i++) {
        const struct iwi_convert_ops *ops = iwi_convert_formats[i];

        if (strcmp(ops->about.name, name) == 0 && (want_write ? ops->about.can_write : ops->about.can_read)) {
            *ops_p = ops;
            return IW_OK;
        }
    }
    list_formats(want_write, names, sizeof names);
    return iwi_fail(log, IW_ERR_USAGE, "'%s' is not a format that can be %s: take one of %s", name,
                    want_write ? "written" : "read", names);
}

static iw_status tell_format(const struct iwi_import *in, const struct iwi_convert_ops **ops_p)
{
    char names[128];

    for (size_t i = 0; iwi_convert_formats[i] != NULL; i++) {
        if (iwi_convert_formats[i]->matches(in->data, in->size)) {
            *ops_p = iwi_convert_formats[i];
            return IW_OK;
        }
    }
    if (in->size == 0) {
        return iwi_fail(in->log, IW_ERR_TRUNCATED, "'%s' is empty", in->path);
    }
    list_formats(false, names, sizeof names);
    return iwi_fail(
        in->log, IW_ERR_FORMAT,
        "the content of '%s' tells no format: if it is in one of %s, name that one (`import.format`)",
        in->path, names);
}

/* ---- one CPU of it, its length ---- */

/* "sj.3" and "node.cpu3.txt" are of CPU 3. */
static uint32_t cpu_of_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        const bool has_word = strncmp(dot + 1, "cpu", 3) == 0;
        const char *digits = dot + 1 + (has_word ? 3 : 0);
        char *end;
        unsigned long number;

        if (*digits < '0' || *digits > '9') {
            continue;
        }
        number = strtoul(digits, &end, 10);
        if ((*end == '\0' || (has_word && *end == '.')) && number < UINT32_MAX) {
            return (uint32_t)number;
        }
    }
    return 0;
}

/* Keeps only the CPU at `place`; what the others hold is freed with a recording of their own. */
static iw_status keep_one_cpu(const iw_log *log, iw_recording *recording, size_t place)
{
    iw_detours *kept = iwi_new_array(log, 1, sizeof *kept);
    iw_recording *others;
    iw_status status;

    if (kept == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iw_recording_new(log, 0, &others);
    if (status != IW_OK) {
        free(kept);
        return status;
    }
    *kept = recording->cpus[place];
    recording->cpus[place] = (iw_detours){.cpu = 0};
    free(others->cpus);
    others->cpus = recording->cpus;
    others->cpu_count = recording->cpu_count;
    recording->cpus = kept;
    recording->cpu_count = 1;
    iw_recording_free(others);
    return IW_OK;
}

static iw_status choose_cpu(const struct iwi_import *in, const struct iwi_convert_ops *ops, uint32_t cpu,
                            iw_recording *recording)
{
    if (ops->is_of_one_cpu) {
        recording->cpus[0].cpu = cpu != IW_IMPORT_ALL_CPUS ? cpu : cpu_of_name(in->path);
        return IW_OK;
    }
    if (cpu == IW_IMPORT_ALL_CPUS) {
        return IW_OK;
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        if (recording->cpus[i].cpu == cpu) {
            return keep_one_cpu(in->log, recording, i);
        }
    }
    return iwi_fail(in->log, IW_ERR_RANGE, "'%s' has no CPU %" PRIu32, in->path, cpu);
}

static int64_t end_of(const iw_detours *cpu)
{
    return cpu->count > 0 ? cpu->start_ns[cpu->count - 1] + cpu->duration_ns[cpu->count - 1] : 0;
}

static iw_status set_length(const struct iwi_import *in, int64_t length_ns, iw_recording *recording)
{
    for (size_t i = 0; i < recording->cpu_count; i++) {
        iw_detours *cpu = &recording->cpus[i];

        cpu->length_ns = length_ns > 0 ? length_ns : cpu->length_ns;
        if (cpu->length_ns < end_of(cpu)) {
            return iwi_fail(in->log, length_ns > 0 ? IW_ERR_RANGE : IW_ERR_FORMAT,
                            "'%s': CPU %" PRIu32 ": the last detour ends at %" PRId64
                            " ns, behind the length of %" PRId64 " ns",
                            in->path, cpu->cpu, end_of(cpu), cpu->length_ns);
        }
    }
    return IW_OK;
}

/* ---- all of it ---- */

static iw_status finish(const struct iwi_import *in, const struct iwi_convert_ops *ops,
                        const iw_import_opts *opts, iw_recording *recording)
{
    IW_TRY(iwi_recording_check(in->log, in->path, recording, IW_ERR_FORMAT));
    IW_TRY(choose_cpu(in, ops, opts->cpu, recording));
    if (ops->is_foreign) {
        IW_TRY(iw_recording_set(in->log, recording, IWI_IMPORTED_FROM, ops->in_words));
    }
    return set_length(in, opts->length_ns, recording);
}

iw_status iwi_import_memory(const struct iwi_import *in, const struct iwi_convert_ops *ops,
                            const iw_import_opts *opts, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    if (ops == NULL) {
        IW_TRY(tell_format(in, &ops));
    }
    if (ops->needs_file && strcmp(in->path, "-") == 0) {
        return iwi_fail(in->log, IW_ERR_IO, "%s cannot be read from standard input: give its file",
                        ops->in_words);
    }
    IW_TRY(ops->read(in, &recording));
    status = finish(in, ops, opts, recording);
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

static iw_status check_opts(const iw_log *log, const iw_import_opts *opts)
{
    return opts->length_ns >= 0 && opts->length_ns <= IW_TIME_INPUT_MAX / IW_PS_PER_NS
               ? IW_OK
               : iwi_fail(log, IW_ERR_RANGE, "a length of %" PRId64 " ns is not between 0 and 240h",
                          opts->length_ns);
}

iw_status iw_recording_import(const iw_log *log, const char *path, const iw_import_opts *given,
                              iw_recording **recording_p)
{
    iw_import_opts known = IW_IMPORT_OPTS_INIT;
    const iw_import_opts *opts = &known;
    const bool is_stdin = strcmp(path, "-") == 0;
    const struct iwi_convert_ops *ops = NULL;
    struct iwi_input input;
    struct iwi_import in;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_IMPORT_OPTS_INIT", given, &known));
    IW_TRY(check_opts(log, opts));
    if (opts->format != NULL) {
        IW_TRY(iwi_convert_find(log, opts->format, false, &ops));
    }
    IW_TRY(iwi_input_open(log, is_stdin ? "/dev/stdin" : path, &input));
    in = (struct iwi_import){
        .log = log, .path = path, .data = input.data, .size = input.size, .length_ns = opts->length_ns};
    status = iwi_import_memory(&in, ops, opts, recording_p);
    iwi_input_close(&input);
    return status;
}
