/* A hash table over the sources of a recording that is being made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/source_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum { FIRST_SLOTS = 64 };

/* FNV-1a, 64 bits */
static uint64_t hash(const iw_source *source)
{
    uint64_t value = UINT64_C(14695981039346656037) ^ (uint64_t)source->kind;

    for (const char *c = source->name; *c != '\0'; c++) {
        value = (value ^ (unsigned char)*c) * UINT64_C(1099511628211);
    }
    return value;
}

/* The slot of that source: where it is, or where it belongs. */
static uint32_t *find_slot(const struct iwi_sources *sources, const iw_source *source)
{
    size_t at = (size_t)hash(source) & (sources->slot_count - 1);

    for (; sources->slots[at] != 0; at = (at + 1) & (sources->slot_count - 1)) {
        const iw_source *other = &sources->recording->sources[sources->slots[at] - 1];

        if (other->kind == source->kind && strcmp(other->name, source->name) == 0) {
            break;
        }
    }
    return &sources->slots[at];
}

/* Makes room for one source more, so that at least half of the slots stay free. */
static iw_status make_room(const iw_log *log, struct iwi_sources *sources)
{
    const size_t count = sources->recording->source_count;
    const size_t slot_count = sources->slot_count == 0 ? FIRST_SLOTS : 2 * sources->slot_count;
    uint32_t *slots;

    if (2 * (count + 1) <= sources->slot_count) {
        return IW_OK;
    }
    slots = iwi_new_array(log, slot_count, sizeof *slots);
    if (slots == NULL) {
        return IW_ERR_NOMEM;
    }
    free(sources->slots);
    sources->slots = slots;
    sources->slot_count = slot_count;
    for (size_t i = 0; i < count; i++) {
        *find_slot(sources, &sources->recording->sources[i]) = (uint32_t)i + 1;
    }
    return make_room(log, sources);
}

static iw_status append(const iw_log *log, struct iwi_sources *sources, const iw_source *source)
{
    iw_recording *recording = sources->recording;

    if (recording->source_count >= UINT32_MAX - 1) {
        return iwi_fail(log, IW_ERR_RANGE, "a recording has at most %" PRIu32 " sources", UINT32_MAX - 1);
    }
    sources->capacity = sources->capacity > 0 ? sources->capacity : recording->source_count;
    IW_TRY(iwi_grow(log, (void **)&recording->sources, &sources->capacity, recording->source_count + 1,
                    sizeof *source));
    recording->sources[recording->source_count++] = *source;
    return IW_OK;
}

iw_status iwi_sources_find(const iw_log *log, struct iwi_sources *sources, iw_class kind, const char *name,
                           size_t name_bytes, uint32_t *number_p)
{
    iw_source source = {.kind = kind};
    uint32_t *slot;

    memcpy(source.name, name, name_bytes < sizeof source.name ? name_bytes : sizeof source.name - 1);
    IW_TRY(make_room(log, sources));
    slot = find_slot(sources, &source);
    if (*slot == 0) {
        IW_TRY(append(log, sources, &source));
        *slot = (uint32_t)sources->recording->source_count;
    }
    *number_p = *slot - 1;
    return IW_OK;
}

void iwi_sources_release(struct iwi_sources *sources)
{
    free(sources->slots);
    *sources = (struct iwi_sources){.recording = NULL};
}
