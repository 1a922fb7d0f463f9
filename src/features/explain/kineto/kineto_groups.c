/* The groups of all files: a name and its ranks. Names repeat on disjoint groups.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

static uint64_t key_of(const char *name, const uint32_t *ranks, uint32_t count, uint32_t size)
{
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add_text(&hash, name);
    iwi_hash_add_u64(&hash, size);
    iwi_hash_add(&hash, ranks, ranks != NULL ? count * sizeof ranks[0] : 0);
    return iwi_hash_value(&hash);
}

/* Index of the group with a key, or group_count. Most are asked for again and again. */
static size_t find(struct iwi_kineto *kineto, uint64_t key)
{
    uint32_t *seen = &kineto->seen_last[key % IWI_KINETO_SEEN];
    size_t index = *seen;

    if (index >= kineto->group_count || kineto->groups[index].key != key) {
        for (index = 0; index < kineto->group_count && kineto->groups[index].key != key;) {
            index++;
        }
        *seen = (uint32_t)index; /* where it will be, if it is new */
    }
    return index;
}

iw_status iwi_kineto_group(struct iwi_kineto *kineto, const char *name, const char *about, uint32_t *ranks,
                           uint32_t count, uint32_t size, uint32_t *index_p)
{
    struct iwi_kineto_group *group;
    uint64_t key;
    size_t index;

    if (ranks != NULL) {
        iwi_sort(ranks, count, iwi_compare_u32);
    }
    key = key_of(name, ranks, count, size);
    index = find(kineto, key);
    if (index < kineto->group_count) {
        *index_p = (uint32_t)index;
        return IW_OK;
    }
    IW_TRY(iwi_grow(kineto->log, (void **)&kineto->groups, &kineto->group_capacity, kineto->group_count + 1,
                    sizeof *group));
    group = &kineto->groups[kineto->group_count];
    *group = (struct iwi_kineto_group){.key = key, .count = ranks != NULL ? count : 0, .size = size};
    if (ranks != NULL) {
        group->ranks = iwi_new_array(kineto->log, count, sizeof ranks[0]);
        if (group->ranks == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(group->ranks, ranks, count * sizeof ranks[0]);
    }
    (void)snprintf(group->name, sizeof group->name, about[0] != '\0' ? "%s (%s)" : "%s", name, about);
    *index_p = (uint32_t)kineto->group_count++;
    return IW_OK;
}
