/* Recordings to the files of other tools: which format, which files, and what is lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/convert.h>
#include <idlewave/files.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/noise/recording_check.h"
#include "features/recordings/convert/convert.h"
#include "kit/schema/csv.h"

/* ---- CSV, with what has no column in comments before the rows ---- */

const char *const iwi_csv_heads[] = {
    [IW_PROBE_SELFISH] = "cpu,start_ns,duration_ns,class,source",
    [IW_PROBE_FWQ] = "cpu,start_ns,duration_ns",
    [IW_PROBE_FTQ] = "cpu,start_ns,work",
    [IW_PROBE_WATCH] = "cpu,wanted_ns,duration_ns,class,source",
};

/* The shorter of two forms that gives the same number when read; always with a point. */
static void write_real(struct iwi_out *out, double value)
{
    char digits[32];
    char *comma;

    snprintf(digits, sizeof digits, "%.15g", value);
    if (strtod(digits, NULL) != value) {
        snprintf(digits, sizeof digits, "%.17g", value);
    }
    comma = strchr(digits, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    iwi_out_bytes(out, digits, strlen(digits));
}

static void put_to_out(void *out, const char *bytes, size_t count)
{
    iwi_out_bytes(out, bytes, count);
}

static void write_field(struct iwi_out *out, const char *text)
{
    iwi_csv_put(text, put_to_out, out);
}

/* On one line. */
static void write_attribute(struct iwi_out *out, const iw_attribute *attribute)
{
    if (strpbrk(attribute->name, ":\r\n") != NULL) {
        return;
    }
    iwi_out_print(out, "# origin %.200s: ", attribute->name);
    for (const char *c = attribute->value; *c != '\0'; c++) {
        const bool is_break = *c == '\n' || *c == '\r';

        iwi_out_bytes(out, is_break ? " " : iscntrl((unsigned char)*c) ? "?" : c, 1);
    }
    iwi_out_bytes(out, "\n", 1);
}

static void write_facts(struct iwi_out *out, const iw_detours *cpu)
{
    iwi_out_print(out, "# cpu %" PRIu32 ": length_ns %" PRId64 ", t_min_ns ", cpu->cpu, cpu->length_ns);
    write_real(out, cpu->t_min_ns);
    iwi_out_print(out, ", threshold_ns ");
    write_real(out, cpu->threshold_ns);
    iwi_out_print(out, ", dropped %" PRIu64 "\n", cpu->dropped);
}

static void write_head(const iw_recording *recording, struct iwi_out *out)
{
    const bool is_quanta = iw_probe_has_quanta(recording->probe);
    size_t rows = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        rows += iwi_csv_row_count(recording, &recording->cpus[i]);
    }
    iwi_out_print(out, "# rows: %zu\n# rung: %s\n", rows, iw_rung_name(recording->rung));
    if (is_quanta) {
        iwi_out_print(out, "# quantum_ns: %" PRId64 "\n", recording->quantum_ns);
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        write_facts(out, &recording->cpus[i]);
    }
    for (size_t i = 0; i < recording->attribute_count; i++) {
        write_attribute(out, &recording->attributes[i]);
    }
    iwi_out_print(out, "%s\n", iwi_csv_heads[recording->probe]);
}

static void write_detour(const iw_recording *recording, const iw_detours *cpu, size_t i, struct iwi_out *out)
{
    const iw_source *source = &recording->sources[cpu->source[i]];

    iwi_out_print(out, "%" PRIu32 ",%" PRId64 ",%" PRId64 ",%s,", cpu->cpu, cpu->start_ns[i],
                  cpu->duration_ns[i], iw_class_name(source->kind));
    write_field(out, source->name);
    iwi_out_bytes(out, "\n", 1);
}

static void write_quantum(const iw_detours *cpu, size_t i, struct iwi_out *out)
{
    iwi_out_print(out, "%" PRIu32 ",%" PRId64 ",", cpu->cpu, cpu->sample_start_ns[i]);
    write_real(out, cpu->sample[i]);
    iwi_out_bytes(out, "\n", 1);
}

size_t iwi_csv_row_count(const iw_recording *recording, const iw_detours *cpu)
{
    return !iw_probe_has_quanta(recording->probe) ? cpu->count : cpu->sample_count;
}

void iwi_csv_write_rows(const iw_recording *recording, const iw_detours *cpu, size_t begin, size_t end,
                        struct iwi_out *out)
{
    for (size_t i = begin; i < end; i++) {
        if (!iw_probe_has_quanta(recording->probe)) {
            write_detour(recording, cpu, i, out);
        } else {
            write_quantum(cpu, i, out);
        }
    }
}

static void write_csv(const iw_recording *recording, struct iwi_out *out)
{
    write_head(recording, out);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        iwi_csv_write_rows(recording, cpu, 0, iwi_csv_row_count(recording, cpu), out);
    }
}

const struct iwi_convert_ops iwi_convert_csv = {
    .about = {"csv", "one line per detour, as 'noise show' writes it as CSV", ".csv", true, true},
    .in_words = "csv",
    .losses = IWI_LOSES_PARTS | IWI_LOSES_DETOURS_OF_QUANTA,
    .matches = iwi_csv_matches,
    .read = iwi_csv_read,
    .write = write_csv,
};

/* ---- our own recordings in HDF5 ---- */

static bool matches(const char *data, size_t size)
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

const struct iwi_convert_ops iwi_convert_idlewave = {
    .about = {"idlewave", "our recordings in HDF5", ".h5", true, true},
    .in_words = "a recording in HDF5",
    .needs_file = true,
    .matches = matches,
    .read = read_recording,
    .write_file = write_recording,
};

/* ---- all formats ---- */

void iwi_out_print(struct iwi_out *out, const char *format, ...)
{
    char *at = iwi_out_reserve(out);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(at, IWI_OUT_RESERVE_MAX, format, args);
    va_end(args);
    if (length > 0) {
        out->used += (size_t)iwi_min(length, IWI_OUT_RESERVE_MAX - 1);
    }
}

static iw_status tell_format(const iw_log *log, const char *path, const struct iwi_convert_ops **ops_p)
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
                        ? "standard output ('%s') tells no format: name one (`export.format`)"
                        : "the suffix of '%s' tells no format: write .h5, .txt (netgauge) or .csv, or name "
                          "the format (`export.format`)",
                    path);
}

/* ---- what is lost ---- */

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
        iwi_warn(log, "%s has no place for all of it: dropped %s", ops->in_words, losses.text);
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
        snprintf(text, sizeof text, "%s holds one CPU a file: wrote '%s' to '%s'", ops->in_words, first,
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
        return iwi_fail(log, IW_ERR_USAGE, "%s holds one CPU, but there are %zu: choose one (`cpu`)",
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
                        "%s is a list of detours, but ftq does not say when detours were: record with "
                        "the probe selfish or fwq",
                        ops->in_words);
    }
    return IW_OK;
}

iw_status iw_recording_export(const iw_log *log, const iw_recording *recording, const char *path,
                              const char *format)
{
    const struct iwi_convert_ops *ops;

    IW_TRY(format != NULL ? iwi_convert_find(log, format, true, &ops) : tell_format(log, path, &ops));
    IW_TRY(iwi_recording_check(log, path, recording, IW_ERR_RANGE));
    IW_TRY(check_detours(log, recording, ops));
    warn_of_losses(log, recording, ops);
    return ops->is_of_one_cpu && recording->cpu_count > 1 ? write_cpus(log, recording, ops, path)
                                                          : write_one(log, recording, ops, path);
}
