/* Finds ranks that do the same.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/peers.h"

#include <stdlib.h>

#include "core/base/hash.h"
#include "features/explain/arrivals/sets.h"

uint64_t iwi_visit_kind(const struct iwi_visits *visits, const struct iwi_visit *visit)
{
    return iwi_mix(iwi_mix(visit->bytes) + ((uint64_t)visits->groups[visit->group].size << 8) + visit->op);
}

/* Which groups have collectives, and whether there are messages. */
static bool list_groups(const struct iwi_visits *visits, bool *has_collectives)
{
    bool has_messages = false;

    for (size_t i = 0; i < visits->visit_count; i++) {
        const bool is_message = visits->visits[i].op == IWI_VISIT_MESSAGE;

        has_messages |= is_message;
        has_collectives[visits->visits[i].group] |= !is_message;
    }
    return has_messages;
}

/* Joins the members of a group; how many were not connected before. */
static size_t connect(const struct iwi_visit_group *group, uint32_t *set_of)
{
    size_t joined = 0;

    for (uint32_t i = 1; i < group->count; i++) {
        joined += iwi_sets_unite(set_of, group->members[0], group->members[i]);
    }
    return joined;
}

static void add_connections(const struct iwi_visits *visits, uint64_t *peers, uint32_t *set_of,
                            bool *has_collectives)
{
    const bool has_messages = list_groups(visits, has_collectives);
    size_t joined = 0;

    iwi_sets_init(set_of, visits->rank_count);
    for (size_t g = 0; g < visits->group_count; g++) {
        const bool is_counted = has_messages || visits->groups[g].count < visits->rank_count;

        joined += has_collectives[g] && is_counted ? connect(&visits->groups[g], set_of) : 0;
    }
    for (uint32_t r = 0; joined > 0 && r < visits->rank_count; r++) {
        peers[r] += iwi_mix(iwi_set_lowest(set_of, r));
    }
}

iw_status iwi_visits_peers(const struct iwi_visits *visits, uint64_t *peers)
{
    uint32_t *set_of = iwi_new_array(visits->log, visits->rank_count, sizeof set_of[0]);
    bool *has_collectives = iwi_new_array(visits->log, visits->group_count, sizeof has_collectives[0]);
    const iw_status status = set_of != NULL && has_collectives != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t r = 0; r < visits->rank_count; r++) {
        peers[r] = iwi_mix((uint64_t)visits->ranks[r].stage + 1);
    }
    for (size_t i = 0; i < visits->visit_count; i++) { /* a sum: their order may differ */
        peers[visits->visits[i].rank] += iwi_visit_kind(visits, &visits->visits[i]);
    }
    if (status == IW_OK) {
        add_connections(visits, peers, set_of, has_collectives);
    }
    free(set_of);
    free(has_collectives);
    return status;
}
