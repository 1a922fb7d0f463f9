/* Recordings made by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_recording.h"

#include <stdlib.h>

#include "core/base/base.h"

static void must(iw_status status)
{
    if (status != IW_OK) {
        abort();
    }
}

iw_recording *iwt_recording(size_t cpu_count, int64_t length_ns)
{
    iw_recording *recording = NULL;

    must(iw_recording_new(NULL, cpu_count, &recording));
    recording->attribution = IW_ATTRIBUTION_LEVEL_TRACEFS;
    for (size_t i = 0; i < cpu_count; i++) {
        recording->cpus[i].cpu = (uint32_t)i;
        recording->cpus[i].length_ns = length_ns;
        recording->cpus[i].t_min_ns = 20.0;
        recording->cpus[i].threshold_ns = 180.0;
    }
    return recording;
}

uint32_t iwt_source(iw_recording *recording, iw_class kind, const char *name)
{
    uint32_t number = 0;

    must(iw_recording_source(NULL, recording, kind, name, &number));
    return number;
}

void iwt_attribute(iw_recording *recording, const char *name, const char *value)
{
    must(iw_recording_set(NULL, recording, name, value));
}

/* Capacities are powers of two, so the count alone says when an array is full. */
static void *with_room(void *array, size_t count, size_t element_size)
{
    void *grown = array;

    if ((count & (count - 1)) == 0) {
        grown = realloc(array, (count > 0 ? 2 * count : 1) * element_size);
    }
    if (grown == NULL) {
        abort();
    }
    return grown;
}

#define APPEND(array, count, value)                             \
    do {                                                        \
        (array) = with_room((array), (count), sizeof *(array)); \
        (array)[count] = (value);                               \
    } while (0)

void iwt_detour(iw_recording *recording, size_t cpu, int64_t start_ns, int64_t duration_ns, uint32_t source)
{
    iw_detours *d = &recording->cpus[cpu];

    APPEND(d->start_ns, d->count, start_ns);
    APPEND(d->duration_ns, d->count, duration_ns);
    APPEND(d->source, d->count, source);
    d->count++;
}

void iwt_part(iw_recording *recording, size_t cpu, uint32_t source, int64_t part_ns)
{
    iw_detours *d = &recording->cpus[cpu];

    APPEND(d->part_detour, d->part_count, d->count - 1);
    APPEND(d->part_source, d->part_count, source);
    APPEND(d->part_ns, d->part_count, part_ns);
    d->part_count++;
}

void iwt_sample(iw_recording *recording, size_t cpu, int64_t start_ns, double sample)
{
    iw_detours *d = &recording->cpus[cpu];

    APPEND(d->sample_start_ns, d->sample_count, start_ns);
    APPEND(d->sample, d->sample_count, sample);
    d->sample_count++;
}
