/* A hash table over the items of an array.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/lookup.h"

#include <stdlib.h>

enum { FIRST_SIZE = 64 };

static void put(struct iwi_lookup *table, struct iwi_lookup_slot slot)
{
    size_t at = slot.hash & (table->size - 1);

    while (table->slots[at].place != 0) {
        at = (at + 1) & (table->size - 1);
    }
    table->slots[at] = slot;
    table->count++;
}

static iw_status grow(const iw_log *log, struct iwi_lookup *table)
{
    struct iwi_lookup larger = {.size = table->size > 0 ? 2 * table->size : FIRST_SIZE};

    if (table->count > INT32_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "more than 2^31 different items in a table");
    }
    larger.slots = iwi_new_array(log, larger.size, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].place != 0) {
            put(&larger, table->slots[i]);
        }
    }
    free(table->slots);
    *table = larger;
    return IW_OK;
}

iw_status iwi_lookup_add(const iw_log *log, struct iwi_lookup *table, uint64_t hash, uint32_t item)
{
    if (2 * (table->count + 1) > table->size) {
        IW_TRY(grow(log, table));
    }
    put(table, (struct iwi_lookup_slot){iwi_lookup_fold(hash), item + 1});
    return IW_OK;
}

void iwi_lookup_release(struct iwi_lookup *table)
{
    free(table->slots);
    *table = (struct iwi_lookup){.size = 0};
}

static uint64_t hash_key(struct iwi_index_key key)
{
    return (key.a * UINT64_C(0x9e3779b97f4a7c15)) ^ (key.b * UINT64_C(0xc2b2ae3d27d4eb4f));
}

uint32_t iwi_index_find(const struct iwi_index *index, struct iwi_index_key key)
{
    const uint64_t hash = hash_key(key);
    uint32_t number;

    for (size_t at = 0; (number = iwi_lookup_next(&index->table, hash, &at)) != IWI_LOOKUP_NONE;) {
        if (index->keys[number].a == key.a && index->keys[number].b == key.b) {
            break;
        }
    }
    return number;
}

iw_status iwi_index_number(const iw_log *log, struct iwi_index *index, struct iwi_index_key key,
                           uint32_t *number_p)
{
    const uint32_t found = iwi_index_find(index, key);

    if (found != IWI_LOOKUP_NONE) {
        *number_p = found;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&index->keys, &index->capacity, (size_t)index->count + 1, sizeof key));
    IW_TRY(iwi_lookup_add(log, &index->table, hash_key(key), index->count));
    index->keys[index->count] = key;
    *number_p = index->count++;
    return IW_OK;
}

void iwi_index_release(struct iwi_index *index)
{
    free(index->keys);
    iwi_lookup_release(&index->table);
    *index = (struct iwi_index){.keys = NULL};
}
