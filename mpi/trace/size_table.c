/* Lists of sizes by number.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/size_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

/* Of the list, or the free one where it belongs. */
static size_t slot_of(const struct iwi_size_table *table, uint64_t hash, const uint64_t *words, uint32_t count)
{
    size_t slot = (size_t)hash & (table->slot_count - 1);

    while (table->slots[slot] != 0) {
        const struct iwi_size_entry *entry = &table->entries[table->slots[slot] - 1];
        if (entry->hash == hash && entry->count == count &&
            memcmp(entry->words, words, count * sizeof *words) == 0) {
            break;
        }
        slot = (slot + 1) & (table->slot_count - 1);
    }
    return slot;
}

static bool make_room(struct iwi_size_table *table)
{
    if (table->count < table->capacity) {
        return true;
    }
    uint32_t capacity = table->capacity * 2 + 32;
    struct iwi_size_entry *entries = realloc(table->entries, capacity * sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    table->entries = entries;
    size_t slot_count = 64;
    while (slot_count < 2 * (size_t)capacity) {
        slot_count *= 2;
    }
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    table->capacity = capacity;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct iwi_size_entry *entry = &entries[i];
        slots[slot_of(table, entry->hash, entry->words, entry->count)] = i + 1;
    }
    return true;
}

uint32_t iwi_size_table_number(struct iwi_size_table *table, const uint64_t *words, uint32_t count, bool *is_new_p)
{
    uint64_t hash = iwi_hash_words(words, count);
    size_t bytes = count * sizeof *words;

    *is_new_p = false;
    if (!make_room(table)) {
        return 0;
    }
    size_t slot = slot_of(table, hash, words, count);
    if (table->slots[slot] != 0) {
        return table->slots[slot];
    }
    uint64_t *kept = bytes <= IWI_SIZE_TABLE_BYTES - table->bytes ? malloc(bytes + 1) : NULL;
    if (kept == NULL) {
        return 0;
    }
    memcpy(kept, words, bytes);
    table->bytes += bytes;
    table->entries[table->count++] = (struct iwi_size_entry){hash, kept, count};
    table->slots[slot] = table->count;
    *is_new_p = true;
    return table->count;
}

void iwi_size_table_release(struct iwi_size_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        free(table->entries[i].words);
    }
    free(table->entries);
    free(table->slots);
    memset(table, 0, sizeof *table);
}
