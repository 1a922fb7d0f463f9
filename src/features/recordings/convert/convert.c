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
#include "core/base/order.h"
#include "core/noise/recording_check.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/files/io/input.h"

/* ---- rows of a file, by CPU ---- */

iw_status iwi_rows_add(const iw_log *log, struct iwi_rows *rows, const struct iwi_row *row)
{
    IW_TRY(iwi_grow(log, (void **)&rows->rows, &rows->capacity, rows->count + 1, sizeof *row));
    rows->rows[rows->count++] = *row;
    return IW_OK;
}

iw_status iwi_rows_add_facts(const iw_log *log, struct iwi_rows *rows, const struct iwi_cpu_facts *facts)
{
    IW_TRY(iwi_grow(log, (void **)&rows->facts, &rows->fact_capacity, rows->fact_count + 1, sizeof *facts));
    rows->facts[rows->fact_count++] = *facts;
    return IW_OK;
}

void iwi_rows_release(struct iwi_rows *rows)
{
    free(rows->rows);
    free(rows->facts);
    *rows = (struct iwi_rows){.rows = NULL};
}

iw_status iwi_recording_set_cpus(const iw_log *log, iw_recording *recording, size_t count)
{
    iw_detours *cpus = iwi_new_array(log, count, sizeof *cpus);

    if (cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    free(recording->cpus);
    recording->cpus = cpus;
    recording->cpu_count = count;
    return IW_OK;
}

IWI_COMPARE(by_place, struct iwi_row, IWI_RISING(cpu), IWI_RISING(start_ns), IWI_RISING(duration_ns))

IWI_COMPARE(by_cpu, struct iwi_cpu_facts, IWI_RISING(cpu))

/* Most files are in order already. */
static void sort(struct iwi_rows *rows)
{
    size_t i = 1;

    while (i < rows->count && by_place(&rows->rows[i - 1], &rows->rows[i]) <= 0) {
        i++;
    }
    if (i < rows->count) {
        iwi_sort(rows->rows, rows->count, by_place);
    }
    iwi_sort(rows->facts, rows->fact_count, by_cpu);
}

/* Joins overlapping detours; the longer one gives the source. Returns how many are left. */
static size_t unite(struct iwi_row *rows, size_t count)
{
    size_t last = 0;
    int64_t longest_ns = count > 0 ? rows[0].duration_ns : 0;

    for (size_t i = 1; i < count; i++) {
        struct iwi_row *open = &rows[last];

        if (rows[i].cpu == open->cpu && rows[i].start_ns < open->start_ns + open->duration_ns) {
            const int64_t end_ns =
                iwi_max(open->start_ns + open->duration_ns, rows[i].start_ns + rows[i].duration_ns);

            open->duration_ns = end_ns - open->start_ns;
            open->source = rows[i].duration_ns > longest_ns ? rows[i].source : open->source;
            longest_ns = iwi_max(longest_ns, rows[i].duration_ns);
        } else {
            rows[++last] = rows[i];
            longest_ns = rows[i].duration_ns;
        }
    }
    return count > 0 ? last + 1 : 0;
}

static iw_status copy_detours(const iw_log *log, const struct iwi_row *rows, size_t count, iw_detours *cpu)
{
    cpu->start_ns = iwi_new_array(log, count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, count, sizeof *cpu->source);
    if (cpu->start_ns == NULL || cpu->duration_ns == NULL || cpu->source == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        cpu->start_ns[i] = rows[i].start_ns;
        cpu->duration_ns[i] = rows[i].duration_ns;
        cpu->source[i] = rows[i].source;
    }
    cpu->count = count;
    return IW_OK;
}

static iw_status copy_quanta(const iw_log *log, const struct iwi_row *rows, size_t count, iw_detours *cpu)
{
    cpu->sample_start_ns = iwi_new_array(log, count, sizeof *cpu->sample_start_ns);
    cpu->sample = iwi_new_array(log, count, sizeof *cpu->sample);
    if (cpu->sample_start_ns == NULL || cpu->sample == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        cpu->sample_start_ns[i] = rows[i].start_ns;
        cpu->sample[i] = rows[i].sample;
    }
    cpu->sample_count = count;
    return IW_OK;
}

/* One CPU of the sorted rows and facts; both indices move behind what is of it. */
struct walk {
    size_t row, fact;
};

static bool has_more(const struct iwi_rows *rows, const struct walk *walk)
{
    return walk->row < rows->count || walk->fact < rows->fact_count;
}

static uint32_t next_cpu(const struct iwi_rows *rows, const struct walk *walk)
{
    const uint32_t of_row = walk->row < rows->count ? rows->rows[walk->row].cpu : UINT32_MAX;
    const uint32_t of_fact = walk->fact < rows->fact_count ? rows->facts[walk->fact].cpu : UINT32_MAX;

    return of_row < of_fact ? of_row : of_fact;
}

static void skip_cpu(const struct iwi_rows *rows, struct walk *walk, uint32_t cpu)
{
    while (walk->row < rows->count && rows->rows[walk->row].cpu == cpu) {
        walk->row++;
    }
    while (walk->fact < rows->fact_count && rows->facts[walk->fact].cpu == cpu) {
        walk->fact++;
    }
}

static size_t count_cpus(const struct iwi_rows *rows)
{
    struct walk walk = {0, 0};
    size_t count = 0;

    for (; has_more(rows, &walk); count++) {
        skip_cpu(rows, &walk, next_cpu(rows, &walk));
    }
    return count;
}

static int64_t last_end_ns(const struct iwi_rows *rows)
{
    int64_t end_ns = 0;

    for (size_t i = 0; i < rows->count; i++) {
        end_ns = iwi_max(end_ns, rows->rows[i].start_ns + rows->rows[i].duration_ns);
    }
    return end_ns;
}

/* The last facts that were told of a CPU count. */
static void copy_facts(const struct iwi_cpu_facts *facts, size_t count, iw_detours *cpu)
{
    if (count > 0) {
        const struct iwi_cpu_facts *last = &facts[count - 1];

        cpu->length_ns = last->length_ns > 0 ? last->length_ns : cpu->length_ns;
        cpu->t_min_ns = last->t_min_ns;
        cpu->threshold_ns = last->threshold_ns;
        cpu->dropped = last->dropped;
    }
}

iw_status iwi_rows_fill(const iw_log *log, struct iwi_rows *rows, iw_recording *recording)
{
    struct walk walk = {0, 0};
    int64_t end_ns;

    sort(rows);
    rows->count = rows->want_union ? unite(rows->rows, rows->count) : rows->count;
    end_ns = last_end_ns(rows);
    IW_TRY(iwi_recording_set_cpus(log, recording, count_cpus(rows)));
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const struct walk begin = walk;
        const struct iwi_row *first = rows->count > 0 ? &rows->rows[begin.row] : NULL;
        iw_detours *cpu = &recording->cpus[i];

        cpu->cpu = next_cpu(rows, &walk);
        cpu->length_ns = end_ns;
        skip_cpu(rows, &walk, cpu->cpu);
        IW_TRY(rows->is_quanta ? copy_quanta(log, first, walk.row - begin.row, cpu)
                               : copy_detours(log, first, walk.row - begin.row, cpu));
        if (walk.fact > begin.fact) {
            copy_facts(&rows->facts[begin.fact], walk.fact - begin.fact, cpu);
        }
    }
    return IW_OK;
}

/* ---- formats ---- */

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
