/* Finds what has a number by its hash: ranks and groups of a table of visits.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     for (at = iwi_numbered_first(&table, hash); (item = iwi_numbered_at(&table, hash, &at)) !=
 * IWI_NUMBERED_NONE;)
 *
 * goes through all items of this hash; those that only share it are for the caller to tell apart.
 */
#ifndef IWI_NUMBERED_H
#define IWI_NUMBERED_H

#include "core/base/base.h"

#define IWI_NUMBERED_NONE UINT32_MAX

/* Open addressing, at most half full. */
struct iwi_numbered {
    struct iwi_numbered_slot {
        uint64_t hash;
        uint32_t item; /* IWI_NUMBERED_NONE: empty */
    } * slots;
    size_t size, count; /* size: 0 or a power of two */
};

void iwi_numbered_release(struct iwi_numbered *table);
IW_NODISCARD iw_status iwi_numbered_add(const iw_log *log, struct iwi_numbered *table, uint64_t hash,
                                        uint32_t item);

static inline size_t iwi_numbered_first(const struct iwi_numbered *table, uint64_t hash)
{
    return table->size > 0 ? hash & (table->size - 1) : 0;
}

/* The next item of this hash from slot *at on, which then is behind it. */
static inline uint32_t iwi_numbered_at(const struct iwi_numbered *table, uint64_t hash, size_t *at)
{
    while (table->size > 0 && table->slots[*at].item != IWI_NUMBERED_NONE) {
        const struct iwi_numbered_slot *slot = &table->slots[*at];

        *at = (*at + 1) & (table->size - 1);
        if (slot->hash == hash) {
            return slot->item;
        }
    }
    return IWI_NUMBERED_NONE;
}

#endif
