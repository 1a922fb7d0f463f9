/* Recordings from and to the files of other tools: which formats there are, how a file's is told, and what is
 * lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/convert.h>
#include <idlewave/files.h>
#include <idlewave/time.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opts.h"
#include "core/noise/recording_check.h"
#include "features/recordings/convert/convert.h"
#include "kit/files/io/input.h"

/* ---- our own recordings in HDF5 ---- */

static bool is_hdf5(const char *data, size_t size)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";

    return size >= sizeof signature - 1 && memcmp(data, signature, sizeof signature - 1) == 0 &&
           !iwi_import_jitterdebugger.matches(data, size);
}

static iw_status read_recording(const struct iwi_import *in, iw_recording **recording_p)
{
    return iw_recording_load(in->log, in->path, recording_p);
}

static iw_status write_recording(const iw_log *log, const iw_recording *recording, const char *path)
{
    if (strcmp(path, "-") == 0) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "a recording in HDF5 cannot go to standard output: name a file, or another format "
                        "(`export.format`)");
    }
    return iw_recording_save(log, recording, path);
}

static const struct iwi_convert_ops idlewave = {
    .about =
        {.name = "idlewave", .summary = "our HDF5", .suffix = ".h5", .can_read = true, .can_write = true},
    .in_words = "a recording in HDF5",
    .needs_file = true,
    .matches = is_hdf5,
    .read = read_recording,
    .write_file = write_recording,
};

/* ---- formats ---- */

const struct iwi_convert_ops *const iwi_convert_formats[] = {
    &idlewave,
#define ROW(format) &iwi_##format,
    IWI_CONVERT_FORMATS(ROW)
#undef ROW
        NULL,
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

static iw_status find_format(const iw_log *log, const char *name, bool want_write,
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
    return iwi_fail(log, IW_ERR_USAGE, "'%s' is not a format that can be %s: use one of %s", name,
                    want_write ? "written" : "read", names);
}

static iw_status tell_by_content(const struct iwi_import *in, const struct iwi_convert_ops **ops_p)
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
    return iwi_fail(in->log, IW_ERR_FORMAT,
                    "cannot recognise the format of '%s': if it is one of %s, name it (`import.format`)",
                    in->path, names);
}

/* ---- reading: one CPU of it, its length ---- */

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
    if (ops->about.is_of_one_cpu) {
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
                            " ns, after the length of %" PRId64 " ns",
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
        IW_TRY(tell_by_content(in, &ops));
    }
    if (ops->needs_file && strcmp(in->path, "-") == 0) {
        return iwi_fail(in->log, IW_ERR_IO, "%s cannot be read from standard input: name its file",
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
        IW_TRY(find_format(log, opts->format, false, &ops));
    }
    IW_TRY(iwi_input_open(log, is_stdin ? "/dev/stdin" : path, &input));
    in = (struct iwi_import){
        .log = log, .path = path, .data = input.data, .size = input.size, .length_ns = opts->length_ns};
    status = iwi_import_memory(&in, ops, opts, recording_p);
    iwi_input_close(&input);
    return status;
}

/* ---- writing: what is lost ---- */

struct losses {
    char text[256]; /* "5 sources, 2 attributes" */
};

static void lose(struct losses *losses, size_t count, const char *one, const char *many)
{
    const size_t used = strlen(losses->text);

    if (count > 0) {
        snprintf(losses->text + used, sizeof losses->text - used, "%s%zu %s", used > 0 ? ", " : "", count,
                 count == 1 ? one : many);
    }
}

/* Without the one that the reader made itself. */
static size_t count_attributes(const iw_recording *recording)
{
    return recording->attribute_count - (iw_recording_get(recording, IWI_IMPORTED_FROM) != NULL ? 1 : 0);
}

static void warn_of_losses(const iw_log *log, const iw_recording *recording,
                           const struct iwi_convert_ops *ops)
{
    const unsigned of_quanta = iw_probe_has_quanta(recording->probe) ? IWI_LOSES_DETOURS_OF_QUANTA : 0;
    const unsigned lost = ops->losses;
    struct losses losses = {.text = ""};
    size_t parts = 0, quanta = 0, detours = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        parts += recording->cpus[i].part_count;
        quanta += recording->cpus[i].sample_count;
        detours += recording->cpus[i].count;
    }
    lose(&losses, (lost & IWI_LOSES_SOURCES) != 0 ? recording->source_count - 1 : 0, "source", "sources");
    lose(&losses, (lost & IWI_LOSES_PARTS) != 0 ? parts : 0, "part of a detour", "parts of detours");
    lose(&losses, (lost & IWI_LOSES_QUANTA) != 0 ? quanta : 0, "quantum", "quanta");
    lose(&losses, (lost & of_quanta) != 0 ? detours : 0, "detour", "detours");
    lose(&losses, (lost & IWI_LOSES_FACTS) != 0 ? count_attributes(recording) : 0, "attribute", "attributes");
    if (losses.text[0] != '\0') {
        iwi_warn(log, "%s cannot hold everything: dropped %s", ops->in_words, losses.text);
    }
}

/* ---- the files ---- */

static iw_status write_one(const iw_log *log, const iw_recording *recording,
                           const struct iwi_convert_ops *ops, const char *path)
{
    struct iwi_out out;

    if (ops->write_file != NULL) {
        return ops->write_file(log, recording, path);
    }
    IW_TRY(iwi_out_open_file(log, path, &out));
    ops->write(recording, &out);
    return iwi_out_close(&out);
}

/* "node.txt" to "node.cpu3.txt". */
static char *name_of_cpu(const iw_log *log, const char *path, uint32_t cpu)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const size_t size = strlen(path) + sizeof ".cpu4294967295";
    char *name = iwi_new_array(log, size, 1);

    if (dot == NULL || (slash != NULL && dot < slash) || dot == path || dot[-1] == '/') {
        dot = path + strlen(path);
    }
    if (name != NULL) {
        snprintf(name, size, "%.*s.cpu%" PRIu32 "%s", (int)(dot - path), path, cpu, dot);
    }
    return name;
}

static iw_status write_cpu(const iw_log *log, const iw_recording *recording, size_t place,
                           const struct iwi_convert_ops *ops, const char *path)
{
    iw_recording one = *recording;
    char *name = name_of_cpu(log, path, recording->cpus[place].cpu);
    iw_status status;

    if (name == NULL) {
        return IW_ERR_NOMEM;
    }
    one.cpus = &recording->cpus[place];
    one.cpu_count = 1;
    status = write_one(log, &one, ops, name);
    free(name);
    return status;
}

/* "wrote 'node.cpu0.txt' to 'node.cpu3.txt'" */
static iw_status note_names(const iw_log *log, const iw_recording *recording,
                            const struct iwi_convert_ops *ops, const char *path)
{
    char *first = name_of_cpu(log, path, recording->cpus[0].cpu);
    char *last = name_of_cpu(log, path, recording->cpus[recording->cpu_count - 1].cpu);
    const iw_status status = first != NULL && last != NULL ? IW_OK : IW_ERR_NOMEM;
    char text[512];

    if (status == IW_OK && log != NULL && log->write != NULL) {
        snprintf(text, sizeof text, "%s has one CPU per file: wrote '%s' to '%s'", ops->in_words, first,
                 last);
        log->write(log->arg, IW_LOG_INFO, text);
    }
    free(first);
    free(last);
    return status;
}

static iw_status write_cpus(const iw_log *log, const iw_recording *recording,
                            const struct iwi_convert_ops *ops, const char *path)
{
    if (strcmp(path, "-") == 0) {
        return iwi_fail(log, IW_ERR_USAGE, "%s holds one CPU, but the recording has %zu: choose one (`cpu`)",
                        ops->in_words, recording->cpu_count);
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        IW_TRY(write_cpu(log, recording, i, ops, path));
    }
    return note_names(log, recording, ops, path);
}

static iw_status check_detours(const iw_log *log, const iw_recording *recording,
                               const struct iwi_convert_ops *ops)
{
    if (recording->probe == IW_PROBE_FTQ && (ops->losses & IWI_LOSES_QUANTA) != 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "%s is a list of detours, but ftq does not record when detours were: record with the "
                        "probe selfish or fwq",
                        ops->in_words);
    }
    return IW_OK;
}

static iw_status tell_by_suffix(const iw_log *log, const char *path, const struct iwi_convert_ops **ops_p)
{
    const size_t length = strlen(path);

    for (size_t i = 0; iwi_convert_formats[i] != NULL; i++) {
        const iw_convert_format *about = &iwi_convert_formats[i]->about;
        const size_t suffix_length = about->suffix != NULL ? strlen(about->suffix) : 0;

        if (about->can_write && suffix_length > 0 && length > suffix_length &&
            strcmp(path + length - suffix_length, about->suffix) == 0) {
            *ops_p = iwi_convert_formats[i];
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_USAGE,
                    strcmp(path, "-") == 0
                        ? "standard output ('%s') has no suffix: name a format (`export.format`)"
                        : "unknown suffix of '%s': use .h5, .txt (netgauge) or .csv, or name the format "
                          "(`export.format`)",
                    path);
}

iw_status iw_recording_export(const iw_log *log, const iw_recording *recording, const char *path,
                              const char *format)
{
    const struct iwi_convert_ops *ops;

    IW_TRY(format != NULL ? find_format(log, format, true, &ops) : tell_by_suffix(log, path, &ops));
    IW_TRY(iwi_recording_check(log, path, recording, IW_ERR_RANGE));
    IW_TRY(check_detours(log, recording, ops));
    warn_of_losses(log, recording, ops);
    return ops->about.is_of_one_cpu && recording->cpu_count > 1 ? write_cpus(log, recording, ops, path)
                                                                : write_one(log, recording, ops, path);
}
