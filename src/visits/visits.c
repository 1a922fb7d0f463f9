/* The table of visits: made, added to, freed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "visits/visits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

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
    *visits = (struct iwi_visits){.log = visits->log};
}

iw_status iwi_visits_rank(struct iwi_visits *visits, uint32_t number, const char *node, uint32_t *index_p)
{
    iw_status status;

    for (size_t i = visits->rank_count; i-- > 0;) { /* files come rank by rank: the last one first */
        if (visits->ranks[i].number == number) {
            *index_p = (uint32_t)i;
            return IW_OK;
        }
    }
    status = iwi_grow(visits->log, (void **)&visits->ranks, &visits->rank_capacity, visits->rank_count + 1,
                      sizeof visits->ranks[0]);
    if (status == IW_OK) {
        struct iwi_visit_rank *rank = &visits->ranks[visits->rank_count];

        *rank = (struct iwi_visit_rank){.number = number, .stage = IWI_VISIT_NO_STAGE};
        (void)snprintf(rank->node, sizeof rank->node, "%s", node != NULL ? node : "");
        *index_p = (uint32_t)visits->rank_count++;
    }
    return status;
}

static bool is_group(const struct iwi_visit_group *group, const char *name, const uint32_t *sorted,
                     uint32_t count, uint32_t size)
{
    return group->count == count && group->size == size &&
           strncmp(group->name, name, sizeof group->name - 1) == 0 &&
           memcmp(group->members, sorted, count * sizeof sorted[0]) == 0;
}

iw_status iwi_visits_group(struct iwi_visits *visits, const char *name, const uint32_t *members,
                           uint32_t count, uint32_t size, uint32_t *index_p)
{
    uint32_t *sorted = iwi_new_array(visits->log, count, sizeof sorted[0]);
    iw_status status;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(sorted, members, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], iwi_compare_u32);
    for (size_t i = visits->group_count; i-- > 0;) {
        if (is_group(&visits->groups[i], name, sorted, count, size)) {
            free(sorted);
            *index_p = (uint32_t)i;
            return IW_OK;
        }
    }
    status = iwi_grow(visits->log, (void **)&visits->groups, &visits->group_capacity, visits->group_count + 1,
                      sizeof visits->groups[0]);
    if (status != IW_OK) {
        free(sorted);
        return status;
    }
    visits->groups[visits->group_count] =
        (struct iwi_visit_group){.members = sorted, .count = count, .size = size};
    (void)snprintf(visits->groups[visits->group_count].name, sizeof visits->groups[0].name, "%s", name);
    *index_p = (uint32_t)visits->group_count++;
    return IW_OK;
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
