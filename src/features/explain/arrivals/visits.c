/* The table of visits: made, added to, freed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"

const char *iwi_visit_op_name(unsigned op)
{
    static const char *const names[IWI_VISIT_OPS] = {"allreduce", "allgather", "reduce-scatter", "alltoall",
                                                     "broadcast", "reduce",    "gather",         "scatter",
                                                     "barrier",   "message",   "other"};

    return op < IWI_VISIT_OPS ? names[op] : NULL;
}

const char *iwi_pause_cause_name(unsigned cause)
{
    static const char *const names[IWI_PAUSE_CAUSES] = {"garbage collection",   "data loading",
                                                        "late launches",        "slow kernels",
                                                        "memory of the device", "other"};

    return cause < IWI_PAUSE_CAUSES ? names[cause] : NULL;
}

void iwi_visits_init(struct iwi_visits *visits, const iw_log *log, const char *origin)
{
    *visits = (struct iwi_visits){.log = log};
    (void)snprintf(visits->origin, sizeof visits->origin, "%s", origin);
}

void iwi_visits_release(struct iwi_visits *visits)
{
    for (size_t i = 0; i < visits->group_count; i++) {
        free(visits->groups[i].members);
    }
    free(visits->ranks);
    free(visits->groups);
    free(visits->visits);
    free(visits->encounters);
    free(visits->stretches);
    free(visits->pauses);
    free(visits->steps);
    free(visits->host_waits);
    iwi_index_release(&visits->rank_index);
    iwi_lookup_release(&visits->group_table);
    *visits = (struct iwi_visits){.log = visits->log};
}

iw_status iwi_visits_rank(struct iwi_visits *visits, uint32_t number, const char *node, uint32_t *index_p)
{
    IW_TRY(iwi_index_number(visits->log, &visits->rank_index, (struct iwi_index_key){number, 0}, index_p));
    if (*index_p == visits->rank_count) {
        struct iwi_visit_rank *rank;

        IW_TRY(iwi_grow(visits->log, (void **)&visits->ranks, &visits->rank_capacity, visits->rank_count + 1,
                        sizeof visits->ranks[0]));
        rank = &visits->ranks[visits->rank_count++];
        *rank = (struct iwi_visit_rank){.number = number, .stage = IWI_VISIT_NO_STAGE};
        (void)snprintf(rank->node, sizeof rank->node, "%s", node != NULL ? node : "");
    }
    return IW_OK;
}

/* Whether it has that name, cut to what is kept of it, and these members. */
static bool is_group(const struct iwi_visit_group *group, const struct iwi_visit_group *wanted)
{
    return group->count == wanted->count && group->size == wanted->size &&
           strcmp(group->name, wanted->name) == 0 &&
           memcmp(group->members, wanted->members, wanted->count * sizeof wanted->members[0]) == 0;
}

static uint64_t hash_group(const struct iwi_visit_group *group)
{
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add_text(&hash, group->name);
    iwi_hash_add_u64(&hash, group->size);
    iwi_hash_add(&hash, group->members, group->count * sizeof group->members[0]);
    return iwi_hash_value(&hash);
}

/* Takes over the members of a new one. */
static iw_status find_group(struct iwi_visits *visits, struct iwi_visit_group *wanted, uint32_t *index_p)
{
    const uint64_t hash = hash_group(wanted);
    uint32_t index;

    for (size_t at = 0; (index = iwi_lookup_next(&visits->group_table, hash, &at)) != IWI_LOOKUP_NONE;) {
        if (is_group(&visits->groups[index], wanted)) {
            *index_p = index;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(visits->log, (void **)&visits->groups, &visits->group_capacity, visits->group_count + 1,
                    sizeof visits->groups[0]));
    IW_TRY(iwi_lookup_add(visits->log, &visits->group_table, hash, (uint32_t)visits->group_count));
    visits->groups[visits->group_count] = *wanted;
    wanted->members = NULL;
    *index_p = (uint32_t)visits->group_count++;
    return IW_OK;
}

iw_status iwi_visits_group(struct iwi_visits *visits, const char *name, const uint32_t *members,
                           uint32_t count, uint32_t size, uint32_t *index_p)
{
    struct iwi_visit_group wanted = {.count = count, .size = size};
    iw_status status;

    wanted.members = iwi_new_array(visits->log, count, sizeof wanted.members[0]);
    if (wanted.members == NULL) {
        return IW_ERR_NOMEM;
    }
    (void)snprintf(wanted.name, sizeof wanted.name, "%s", name);
    memcpy(wanted.members, members, count * sizeof members[0]);
    iwi_sort(wanted.members, count, iwi_compare_u32);
    status = find_group(visits, &wanted, index_p);
    free(wanted.members);
    return status;
}

#define ADD(ITEMS, COUNT, CAPACITY, ITEM)                                                        \
    do {                                                                                         \
        const iw_status status =                                                                 \
            iwi_grow(visits->log, (void **)&(ITEMS), &(CAPACITY), (COUNT) + 1, sizeof *(ITEMS)); \
                                                                                                 \
        if (status == IW_OK) {                                                                   \
            (ITEMS)[(COUNT)++] = *(ITEM);                                                        \
        }                                                                                        \
        return status;                                                                           \
    } while (0)

iw_status iwi_visits_add(struct iwi_visits *visits, const struct iwi_visit *visit)
{
    ADD(visits->visits, visits->visit_count, visits->visit_capacity, visit);
}

iw_status iwi_visits_add_stretch(struct iwi_visits *visits, const struct iwi_stretch *stretch)
{
    ADD(visits->stretches, visits->stretch_count, visits->stretch_capacity, stretch);
}

iw_status iwi_visits_add_pause(struct iwi_visits *visits, const struct iwi_pause *pause)
{
    ADD(visits->pauses, visits->pause_count, visits->pause_capacity, pause);
}

iw_status iwi_visits_add_step(struct iwi_visits *visits, const struct iwi_visit_step *step)
{
    ADD(visits->steps, visits->step_count, visits->step_capacity, step);
}

iw_status iwi_visits_add_host_wait(struct iwi_visits *visits, const struct iwi_host_wait *wait)
{
    ADD(visits->host_waits, visits->host_wait_count, visits->host_wait_capacity, wait);
}

void iwi_visits_note(struct iwi_visits *visits, const char *sentence)
{
    const size_t length = strlen(visits->lacks);

    if (strstr(visits->lacks, sentence) == NULL) {
        (void)snprintf(visits->lacks + length, sizeof visits->lacks - length, "%s%s", length > 0 ? " " : "",
                       sentence);
    }
}

uint32_t iwi_visits_least_ranks(const struct iwi_visits *visits)
{
    uint32_t ranks = visits->world;

    for (size_t i = 0; i < visits->group_count; i++) {
        ranks = visits->groups[i].size > ranks ? visits->groups[i].size : ranks;
    }
    return ranks;
}
