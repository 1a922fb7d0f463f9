/* Process groups of execution traces: by name, and as PyTorch lists them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/chakra/chakra.h"

iw_status iwi_chakra_find_group(struct iwi_chakra *all, const char *name, uint32_t *group_p)
{
    struct iwi_chakra_group group = {.file = (uint32_t)all->file_count};

    (void)snprintf(group.name, sizeof group.name, "%s", name);
    for (size_t i = all->first_group; i < all->group_count; i++) {
        if (strcmp(all->groups[i].name, group.name) == 0) {
            *group_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->groups, &all->group_capacity, all->group_count + 1,
                    sizeof all->groups[0]));
    *group_p = (uint32_t)all->group_count;
    all->groups[all->group_count++] = group;
    return IW_OK;
}

/* Behind "key": in text[0 .. end - 1], blanks skipped; NULL: it is not there. Quotes may be escaped. */
static const char *value_of(const char *text, const char *end, const char *key)
{
    const size_t size = strlen(key);
    const char *at = memmem(text, (size_t)(end - text), key, size);

    if (at == NULL) {
        return NULL;
    }
    for (at += size; at < end && (*at == '\\' || *at == '"' || *at == ' ' || *at == ':');) {
        at++;
    }
    return at < end ? at : NULL;
}

/* Decimal digits at *at_p; false: none, or too many. */
static bool number_at(const char **at_p, const char *end, uint32_t *number_p)
{
    uint64_t number = 0;
    const char *at = *at_p;

    while (at < end && *at >= '0' && *at <= '9' && number <= UINT32_MAX) {
        number = number * 10 + (uint64_t)(*at++ - '0');
    }
    *number_p = (uint32_t)number;
    return at > *at_p && number <= UINT32_MAX ? (*at_p = at, true) : false;
}

/* "[0, 1, 5]" at `at`, added to the group. */
static iw_status read_ranks(struct iwi_chakra *all, const char *at, const char *end,
                            struct iwi_chakra_group *group)
{
    size_t capacity = 0;
    uint32_t rank;

    free(group->ranks);
    group->ranks = NULL;
    group->rank_count = 0;
    for (at += *at == '['; at < end && number_at(&at, end, &rank);) {
        IW_TRY(iwi_grow(all->log, (void **)&group->ranks, &capacity, (size_t)group->rank_count + 1,
                        sizeof group->ranks[0]));
        group->ranks[group->rank_count++] = rank;
        while (at < end && (*at == ',' || *at == ' ')) {
            at++;
        }
    }
    return IW_OK;
}

/* One object of the list, from its name on. */
static iw_status read_group(struct iwi_chakra *all, const char *name, const char *end)
{
    const char *ranks = value_of(name, end, "\"ranks"), *size = value_of(name, end, "\"group_size");
    const size_t length = strcspn(name, "\\\"'");
    char text[sizeof all->groups[0].name];
    uint32_t index;

    (void)snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), name);
    IW_TRY(iwi_chakra_find_group(all, text, &index));
    if (ranks != NULL) {
        IW_TRY(read_ranks(all, ranks, end, &all->groups[index]));
        all->groups[index].size = all->groups[index].rank_count;
    }
    if (size != NULL && all->groups[index].rank_count == 0 &&
        !number_at(&size, end, &all->groups[index].size)) {
        all->groups[index].size = 0;
    }
    return IW_OK;
}

iw_status iwi_chakra_read_groups(struct iwi_chakra *all, const char *text)
{
    static const char key[] = "\"pg_name";
    const char *end = text + strlen(text);

    for (const char *at = strstr(text, key), *next; at != NULL; at = next) {
        const char *name;

        next = strstr(at + 1, key);
        name = value_of(at, next != NULL ? next : end, key);
        if (name != NULL) {
            IW_TRY(read_group(all, name, next != NULL ? next : end));
        }
    }
    return IW_OK;
}
