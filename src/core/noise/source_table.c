/* A hash table over the sources of a recording that is being made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/source_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* FNV-1a, 64 bits */
static uint64_t hash(const iw_source *source)
{
    uint64_t value = UINT64_C(14695981039346656037) ^ (uint64_t)source->kind;

    for (const char *c = source->name; *c != '\0'; c++) {
        value = (value ^ (unsigned char)*c) * UINT64_C(1099511628211);
    }
    return value;
}

/* So far only: others may have added sources since. */
static iw_status list_known(const iw_log *log, struct iwi_sources *sources)
{
    while (sources->table.count < sources->recording->source_count) {
        const uint32_t number = (uint32_t)sources->table.count;

        IW_TRY(iwi_lookup_add(log, &sources->table, hash(&sources->recording->sources[number]), number));
    }
    return IW_OK;
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
    uint32_t number;

    memcpy(source.name, name, name_bytes < sizeof source.name ? name_bytes : sizeof source.name - 1);
    IW_TRY(list_known(log, sources));
    for (size_t at = 0; (number = iwi_lookup_next(&sources->table, hash(&source), &at)) != IWI_LOOKUP_NONE;) {
        if (sources->recording->sources[number].kind == kind &&
            strcmp(sources->recording->sources[number].name, source.name) == 0) {
            *number_p = number;
            return IW_OK;
        }
    }
    *number_p = (uint32_t)sources->recording->source_count;
    return append(log, sources, &source);
}

void iwi_sources_release(struct iwi_sources *sources)
{
    iwi_lookup_release(&sources->table);
    *sources = (struct iwi_sources){.recording = NULL};
}
