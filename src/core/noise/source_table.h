/* Finds the number of a source among many, for readers and joiners that meet name after name.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SOURCE_TABLE_H
#define IWI_SOURCE_TABLE_H

#include <idlewave/recording.h>

#include "core/base/lookup.h"

/* A hash table over recording->sources. Zeroed to begin with. */
struct iwi_sources {
    iw_recording *recording; /* its list of sources grows */
    struct iwi_lookup table;
    size_t capacity; /* of recording->sources */
};

/* Number of that source, added if new; longer names are cut. */
IW_NODISCARD iw_status iwi_sources_find(const iw_log *log, struct iwi_sources *sources, iw_class kind,
                                        const char *name, size_t name_bytes, uint32_t *number_p);

void iwi_sources_release(struct iwi_sources *sources);

#endif
