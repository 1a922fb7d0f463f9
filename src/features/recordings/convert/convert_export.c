/* Recordings to the files of other tools: which format, which files, and what is lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/convert.h>

#include "core/noise/recording_check.h"
#include "features/recordings/convert/convert.h"

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
