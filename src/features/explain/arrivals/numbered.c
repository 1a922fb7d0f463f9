/* A table of items by their hashes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/numbered.h"

#include <stdlib.h>

enum { FIRST_SIZE = 64 };

void iwi_numbered_release(struct iwi_numbered *table)
{
    free(table->slots);
    *table = (struct iwi_numbered){.size = 0};
}

static void put(struct iwi_numbered *table, uint64_t hash, uint32_t item)
{
    size_t at = iwi_numbered_first(table, hash);

    while (table->slots[at].item != IWI_NUMBERED_NONE) {
        at = (at + 1) & (table->size - 1);
    }
    table->slots[at] = (struct iwi_numbered_slot){hash, item};
    table->count++;
}

static iw_status grow(const iw_log *log, struct iwi_numbered *table)
{
    struct iwi_numbered larger = {.size = table->size > 0 ? 2 * table->size : FIRST_SIZE};

    larger.slots = iwi_new_array(log, larger.size, sizeof larger.slots[0]);
    if (larger.slots == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < larger.size; i++) {
        larger.slots[i].item = IWI_NUMBERED_NONE;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].item != IWI_NUMBERED_NONE) {
            put(&larger, table->slots[i].hash, table->slots[i].item);
        }
    }
    free(table->slots);
    *table = larger;
    return IW_OK;
}

iw_status iwi_numbered_add(const iw_log *log, struct iwi_numbered *table, uint64_t hash, uint32_t item)
{
    if (2 * (table->count + 1) > table->size) {
        IW_TRY(grow(log, table));
    }
    put(table, hash, item);
    return IW_OK;
}
