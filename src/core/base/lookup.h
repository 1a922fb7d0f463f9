/* Finding items of an array: by any key, through its hash, or by two numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     for (size_t at = 0; (item = iwi_lookup_next(&table, hash, &at)) != IWI_LOOKUP_NONE;)
 *
 * goes through all items with this hash and a few others: the caller compares their keys. All zeroed to begin
 * with.
 */
#ifndef IWI_LOOKUP_H
#define IWI_LOOKUP_H

#include "core/base/base.h"

#define IWI_LOOKUP_NONE UINT32_MAX

/* Open addressing, at most half full. */
struct iwi_lookup {
    struct iwi_lookup_slot {
        uint32_t hash, place; /* place: of the item + 1; 0: free */
    } * slots;
    size_t size, count; /* size: 0 or a power of two */
};

/* IW_ERR_NOMEM, IW_ERR_RANGE: more than 2^31 items. */
IW_NODISCARD iw_status iwi_lookup_add(const iw_log *log, struct iwi_lookup *table, uint64_t hash,
                                      uint32_t item);
void iwi_lookup_release(struct iwi_lookup *table);

static inline uint32_t iwi_lookup_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

/* The next item that may be it, from the at-th slot of this hash on; *at is then behind it. */
static inline uint32_t iwi_lookup_next(const struct iwi_lookup *table, uint64_t hash, size_t *at)
{
    const uint32_t folded = iwi_lookup_fold(hash);

    while (table->size > 0) {
        const struct iwi_lookup_slot *slot = &table->slots[(folded + (*at)++) & (table->size - 1)];

        if (slot->place == 0) {
            break;
        }
        if (slot->hash == folded) {
            return slot->place - 1;
        }
    }
    return IWI_LOOKUP_NONE;
}

/* Numbers things by their keys: the first key seen is 0, the next new one 1, ... */
struct iwi_index {
    struct iwi_index_key {
        uint64_t a, b;
    } * keys; /* count of them, by number */
    size_t capacity;
    uint32_t count;
    struct iwi_lookup table;
};

/* The key's number; it is new if that equals the count before. Errors: as iwi_lookup_add(). */
IW_NODISCARD iw_status iwi_index_number(const iw_log *log, struct iwi_index *index, struct iwi_index_key key,
                                        uint32_t *number_p);

/* IWI_LOOKUP_NONE: it has none. */
uint32_t iwi_index_find(const struct iwi_index *index, struct iwi_index_key key);
void iwi_index_release(struct iwi_index *index);

#endif
