/* A hash table from keys to small numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_index.h"

#include <stdlib.h>

#include "core/base/base.h"

enum { FIRST_CAPACITY = 64 };

static size_t slot_of(const struct iwi_index *index, struct iwi_index_key key)
{
    const uint64_t mixed = (key.a * UINT64_C(0x9e3779b97f4a7c15)) ^ (key.b * UINT64_C(0xc2b2ae3d27d4eb4f));
    size_t slot = (size_t)((mixed ^ mixed >> 32) & (index->capacity - 1));

    while (index->slots[slot] != 0) {
        const struct iwi_index_key *there = &index->keys[index->slots[slot] - 1];

        if (there->a == key.a && there->b == key.b) {
            break;
        }
        slot = (slot + 1) & (index->capacity - 1);
    }
    return slot;
}

static iw_status grow_slots(const iw_log *log, struct iwi_index *index)
{
    const size_t capacity = index->capacity == 0 ? FIRST_CAPACITY : 2 * index->capacity;
    uint32_t *const old = index->slots;
    uint32_t *const slots = iwi_new_array(log, capacity, sizeof *slots);

    if (slots == NULL) {
        return IW_ERR_NOMEM;
    }
    index->slots = slots;
    index->capacity = capacity;
    for (uint32_t number = 0; number < index->count; number++) {
        slots[slot_of(index, index->keys[number])] = number + 1;
    }
    free(old);
    return IW_OK;
}

iw_status iwi_index_number(const iw_log *log, struct iwi_index *index, struct iwi_index_key key,
                           uint32_t *number_p)
{
    size_t slot;

    if (2 * ((size_t)index->count + 1) > index->capacity) {
        IW_TRY(grow_slots(log, index));
    }
    slot = slot_of(index, key);
    if (index->slots[slot] == 0) {
        void *keys = index->keys;

        if (index->count == UINT32_MAX - 1) {
            return iwi_fail(log, IW_ERR_RANGE, "more than 2^32 different tags or collectives");
        }
        IW_TRY(iwi_grow(log, &keys, &index->key_capacity, (size_t)index->count + 1, sizeof key));
        index->keys = keys;
        index->keys[index->count] = key;
        index->slots[slot] = ++index->count;
    }
    *number_p = index->slots[slot] - 1;
    return IW_OK;
}

void iwi_index_release(struct iwi_index *index)
{
    free(index->keys);
    free(index->slots);
    *index = (struct iwi_index){.keys = NULL};
}
