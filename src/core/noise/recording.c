/* Recordings in memory: their CPUs, their list of sources, and the facts about where they come from.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

#define NAME_OF(names, number) \
    ((size_t)(number) < sizeof(names) / sizeof(names)[0] ? (names)[number] : "unknown")

const char *iw_class_name(iw_class kind)
{
    static const char *const names[IW_CLASSES] = {"unknown", "thread", "irq", "softirq", "nmi", "hardware"};

    return NAME_OF(names, kind);
}

const char *iw_rung_name(iw_rung rung)
{
    static const char *const names[] = {"none", "switches", "perf", "tracefs", "osnoise", "bpf"};

    return NAME_OF(names, rung);
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
