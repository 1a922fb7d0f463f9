/* Recordings: made, checked, grown, and what stands at their head.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/detour_builder.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_head.h"

#define NAME_OF(names, number) \
    ((size_t)(number) < sizeof(names) / sizeof(names)[0] ? (names)[number] : "unknown")

const char *iw_class_name(iw_class kind)
{
    static const char *const names[IW_CLASSES] = {"unknown", "thread", "irq", "softirq", "nmi", "hardware"};

    return NAME_OF(names, kind);
}

const char *iw_attribution_level_name(iw_attribution_level attribution)
{
    static const char *const names[] = {"none", "switches", "perf", "tracefs", "osnoise", "bpf"};

    return NAME_OF(names, attribution);
}

const char *iw_probe_name(iw_probe probe)
{
    static const char *const names[] = {"selfish", "fwq", "ftq", "watch"};

    return NAME_OF(names, probe);
}

iw_status iw_recording_new(const iw_log *log, size_t cpu_count, iw_recording **recording_p)
{
    iw_recording *recording = iwi_new_array(log, 1, sizeof *recording);

    if (recording == NULL) {
        return IW_ERR_NOMEM;
    }
    recording->cpus = iwi_new_array(log, cpu_count, sizeof *recording->cpus);
    recording->sources = iwi_new_array(log, 1, sizeof *recording->sources); /* zeroed: the unknown source */
    if (recording->cpus == NULL || recording->sources == NULL) {
        iw_recording_free(recording);
        return IW_ERR_NOMEM;
    }
    recording->cpu_count = cpu_count;
    recording->source_count = 1;
    *recording_p = recording;
    return IW_OK;
}

static void release_detours(iw_detours *detours)
{
    free(detours->start_ns);
    free(detours->duration_ns);
    free(detours->source);
    free(detours->part_detour);
    free(detours->part_source);
    free(detours->part_ns);
    free(detours->sample_start_ns);
    free(detours->sample);
}

void iw_recording_free(iw_recording *recording)
{
    if (recording == NULL) {
        return;
    }
    for (size_t i = 0; recording->cpus != NULL && i < recording->cpu_count; i++) {
        release_detours(&recording->cpus[i]);
    }
    for (size_t i = 0; i < recording->attribute_count; i++) {
        free(recording->attributes[i].name);
        free(recording->attributes[i].value);
    }
    free(recording->cpus);
    free(recording->sources);
    free(recording->attributes);
    free(recording);
}

/* Room for one element more behind `count`. */
static void *with_room_for_one(const iw_log *log, void *array, size_t count, size_t element_size)
{
    size_t capacity = count;

    return iwi_grow(log, &array, &capacity, count + 1, element_size) == IW_OK ? array : NULL;
}

iw_status iw_recording_source(const iw_log *log, iw_recording *recording, iw_class kind, const char *name,
                              uint32_t *number_p)
{
    iw_source source = {.kind = kind};
    iw_source *sources;

    snprintf(source.name, sizeof source.name, "%s", name); /* longer names are cut alike, so found again */
    for (size_t i = 0; i < recording->source_count; i++) {
        if (recording->sources[i].kind == kind && strcmp(recording->sources[i].name, source.name) == 0) {
            *number_p = (uint32_t)i;
            return IW_OK;
        }
    }
    if (recording->source_count >= UINT32_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "a recording has at most %" PRIu32 " sources", UINT32_MAX);
    }
    sources = with_room_for_one(log, recording->sources, recording->source_count, sizeof *sources);
    if (sources == NULL) {
        return IW_ERR_NOMEM;
    }
    recording->sources = sources;
    sources[recording->source_count] = source;
    *number_p = (uint32_t)recording->source_count++;
    return IW_OK;
}

static char *copy_text(const iw_log *log, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        (void)iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu bytes", strlen(text) + 1);
    }
    return copy;
}

static iw_attribute *find_attribute(const iw_recording *recording, const char *name)
{
    for (size_t i = 0; i < recording->attribute_count; i++) {
        if (strcmp(recording->attributes[i].name, name) == 0) {
            return &recording->attributes[i];
        }
    }
    return NULL;
}

static iw_status add_attribute(const iw_log *log, iw_recording *recording, const char *name, char *value)
{
    iw_attribute *attributes =
        with_room_for_one(log, recording->attributes, recording->attribute_count, sizeof *attributes);
    char *own_name;

    if (attributes == NULL) {
        return IW_ERR_NOMEM;
    }
    recording->attributes = attributes;
    own_name = copy_text(log, name);
    if (own_name == NULL) {
        return IW_ERR_NOMEM;
    }
    attributes[recording->attribute_count++] = (iw_attribute){own_name, value};
    return IW_OK;
}

iw_status iw_recording_set(const iw_log *log, iw_recording *recording, const char *name, const char *value)
{
    iw_attribute *attribute = find_attribute(recording, name);
    char *own_value = copy_text(log, value);
    iw_status status;

    if (own_value == NULL) {
        return IW_ERR_NOMEM;
    }
    if (attribute != NULL) {
        free(attribute->value);
        attribute->value = own_value;
        return IW_OK;
    }
    status = add_attribute(log, recording, name, own_value);
    if (status != IW_OK) {
        free(own_value);
    }
    return status;
}

const char *iw_recording_get(const iw_recording *recording, const char *name)
{
    const iw_attribute *attribute = find_attribute(recording, name);

    return attribute != NULL ? attribute->value : NULL;
}

/* Checks recordings: those of files before others see them, those of callers before they are used or written.
 */

#define MOST_NS (IW_TIME_INPUT_MAX / IW_PS_PER_NS)

struct checker {
    const iw_log *log;
    const char *name;
    const iw_recording *recording;
    iw_status fault;
};

static bool is_time(int64_t ns)
{
    return ns >= 0 && ns <= MOST_NS;
}

static bool is_positive(double value)
{
    return isfinite(value) && value >= 0;
}

static iw_status check_detours(const struct checker *c, const iw_detours *detours)
{
    int64_t end_ns = 0;

    for (size_t i = 0; i < detours->count; i++) {
        const int64_t start_ns = detours->start_ns[i], duration_ns = detours->duration_ns[i];

        if (!is_time(start_ns) || !is_time(duration_ns) || !is_time(start_ns + duration_ns)) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", detour %zu (start %" PRId64 " ns, duration %" PRId64
                            " ns) is not between 0 and 240h",
                            c->name, detours->cpu, i, start_ns, duration_ns);
        }
        if (start_ns < end_ns) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", detour %zu starts at %" PRId64
                            " ns, before the end of the previous one at %" PRId64 " ns",
                            c->name, detours->cpu, i, start_ns, end_ns);
        }
        if (detours->source[i] >= c->recording->source_count) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", detour %zu is of source %" PRIu32
                            ", but there are only %zu sources",
                            c->name, detours->cpu, i, detours->source[i], c->recording->source_count);
        }
        end_ns = start_ns + duration_ns;
    }
    return IW_OK;
}

static iw_status check_parts(const struct checker *c, const iw_detours *detours)
{
    uint64_t least = 0;

    for (size_t i = 0; i < detours->part_count; i++) {
        const uint64_t detour = detours->part_detour[i];

        if (detour >= detours->count || detour < least) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", part %zu belongs to detour %" PRIu64
                            ", but must belong to one from %" PRIu64 " on, below %zu",
                            c->name, detours->cpu, i, detour, least, detours->count);
        }
        if (detours->part_source[i] >= c->recording->source_count || !is_time(detours->part_ns[i])) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", part %zu (source %" PRIu32 " of %zu, %" PRId64
                            " ns) is out of range",
                            c->name, detours->cpu, i, detours->part_source[i], c->recording->source_count,
                            detours->part_ns[i]);
        }
        least = detour;
    }
    return IW_OK;
}

static iw_status check_samples(const struct checker *c, const iw_detours *detours)
{
    int64_t least_ns = 0;

    for (size_t i = 0; i < detours->sample_count; i++) {
        const int64_t start_ns = detours->sample_start_ns[i];

        if (!is_time(start_ns) || start_ns < least_ns || !is_positive(detours->sample[i])) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", sample %zu (start %" PRId64
                            " ns, value %g) is negative, too large or out of order",
                            c->name, detours->cpu, i, start_ns, detours->sample[i]);
        }
        least_ns = start_ns;
    }
    return IW_OK;
}

static iw_status check_cpu(const struct checker *c, const iw_detours *detours)
{
    if (!is_time(detours->length_ns) || !is_positive(detours->t_min_ns) ||
        !is_positive(detours->threshold_ns)) {
        return iwi_fail(c->log, c->fault,
                        "'%s': CPU %" PRIu32 ": length %" PRId64
                        " ns, t_min %g ns or threshold %g ns is not between 0 and 240h",
                        c->name, detours->cpu, detours->length_ns, detours->t_min_ns, detours->threshold_ns);
    }
    IW_TRY(check_detours(c, detours));
    IW_TRY(check_parts(c, detours));
    return check_samples(c, detours);
}

static iw_status check_sources(const struct checker *c)
{
    const iw_recording *recording = c->recording;

    if (recording->source_count == 0 || recording->sources[0].kind != IW_CLASS_UNKNOWN) {
        return iwi_fail(c->log, c->fault, "'%s': source 0 must be the unknown source", c->name);
    }
    for (size_t i = 0; i < recording->source_count; i++) {
        const iw_source *source = &recording->sources[i];

        if ((unsigned)source->kind >= IW_CLASSES || memchr(source->name, '\0', sizeof source->name) == NULL) {
            return iwi_fail(c->log, c->fault,
                            "'%s': source %zu is of class %d (there are %d), or its name has no end", c->name,
                            i, (int)source->kind, IW_CLASSES);
        }
    }
    return IW_OK;
}

iw_status iwi_recording_check(const iw_log *log, const char *name, const iw_recording *recording,
                              iw_status fault)
{
    const struct checker c = {log, name, recording, fault};

    if ((unsigned)recording->probe >= IW_PROBES ||
        (unsigned)recording->attribution >= IW_ATTRIBUTION_LEVELS || !is_time(recording->quantum_ns)) {
        return iwi_fail(log, fault,
                        "'%s': probe %d, level of attribution %d or a quantum of %" PRId64 " ns is unknown",
                        name, (int)recording->probe, (int)recording->attribution, recording->quantum_ns);
    }
    IW_TRY(check_sources(&c));
    for (size_t i = 0; i < recording->cpu_count; i++) {
        IW_TRY(check_cpu(&c, &recording->cpus[i]));
    }
    return IW_OK;
}

/* What recordings that are made from others share: their head, and lists of what there is, for messages. */

bool iwi_is_of_the_whole(const char *attribute)
{
    static const char *const names[] = {"start_raw_ns",         "start_wall_ns", "steal_ms",
                                        "involuntary_switches", "kernel_events", "kernel_events_matched",
                                        "recorder_ms",          "interrupts"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(attribute, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

int64_t iwi_common_length_ns(const iw_recording *recording)
{
    int64_t length_ns = recording->cpu_count > 0 ? INT64_MAX : 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        length_ns = iwi_min(length_ns, recording->cpus[i].length_ns);
    }
    return length_ns;
}

void iwi_edit_count(iw_edit *edit, const iw_recording *recording)
{
    edit->recording_count++;
    edit->cpu_count += recording->cpu_count;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        edit->detour_count += cpu->count;
        edit->sample_count += cpu->sample_count;
        edit->watched_ns += (double)cpu->length_ns;
        for (size_t k = 0; k < cpu->count; k++) {
            edit->busy_ns += (double)cpu->duration_ns[k];
        }
    }
}

/* Appends `item`, with the separator where it is not the first; false, and "..." instead, if it does not fit.
 */
static bool append(char *buf, size_t size, const char *separator, const char *item)
{
    static const char more[] = "...";
    const size_t used = strlen(buf), need = strlen(separator) + strlen(item);

    if (used + need + strlen(separator) + sizeof more > size) {
        snprintf(buf + used, size - used, "%s%s", used > 0 ? separator : "", more);
        return false;
    }
    snprintf(buf + used, size - used, "%s%s", used > 0 ? separator : "", item);
    return true;
}

/* Sorts `numbers`. */
static void list_numbers(uint32_t *numbers, size_t count, char *buf, size_t size)
{
    char item[32];
    bool has_room = true;

    iwi_sort(numbers, count, iwi_compare_u32);
    for (size_t first = 0, next; first < count && has_room; first = next) {
        for (next = first + 1; next < count && numbers[next] - numbers[first] == next - first; next++) {
        }
        snprintf(item, sizeof item, next - first > 1 ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, numbers[first],
                 numbers[next - 1]);
        has_room = append(buf, size, ",", item);
    }
}

char *iwi_list_cpus(const iw_recording *recording, char *buf, size_t size)
{
    uint32_t *numbers = iwi_new_array(NULL, recording->cpu_count, sizeof *numbers);

    buf[0] = '\0';
    for (size_t i = 0; numbers != NULL && i < recording->cpu_count; i++) {
        numbers[i] = recording->cpus[i].cpu;
    }
    if (numbers != NULL) {
        list_numbers(numbers, recording->cpu_count, buf, size);
    }
    free(numbers);
    return buf;
}

char *iwi_source_text(const iw_source *source, char buf[IWI_SOURCE_TEXT_SIZE])
{
    snprintf(buf, IWI_SOURCE_TEXT_SIZE, "%s%s%s", iw_class_name(source->kind),
             source->name[0] != '\0' ? "/" : "", source->name);
    for (char *c = buf; *c != '\0'; c++) {
        *c = iscntrl((unsigned char)*c) ? '?' : *c; /* threads choose their names, terminals obey them */
    }
    return buf;
}

/* A source whose part is 0 ns counts too: it is there to be dropped. */
static void mark_used(const iw_recording *recording, bool *is_used)
{
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        for (size_t k = 0; k < cpu->count; k++) {
            is_used[cpu->source[k]] = true;
        }
        for (size_t k = 0; k < cpu->part_count; k++) {
            is_used[cpu->part_source[k]] = true;
        }
    }
}

char *iwi_list_sources(const iw_recording *recording, char *buf, size_t size)
{
    bool *is_used = iwi_new_array(NULL, recording->source_count, sizeof *is_used), has_room = true;
    char text[IWI_SOURCE_TEXT_SIZE];

    buf[0] = '\0';
    if (is_used == NULL) {
        return buf;
    }
    mark_used(recording, is_used);
    for (size_t i = 0; i < recording->source_count && has_room; i++) {
        has_room = !is_used[i] || append(buf, size, ", ", iwi_source_text(&recording->sources[i], text));
    }
    free(is_used);
    return buf;
}
