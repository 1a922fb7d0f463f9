/* Finds ranks that do the same.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "visits/peers.h"

#include <stdlib.h>

#include "base/hash.h"

uint64_t iwi_visit_kind(const struct iwi_visits *visits, const struct iwi_visit *visit)
{
    return iwi_mix(iwi_mix(visit->bytes) + ((uint64_t)visits->groups[visit->group].size << 8) + visit->op);
}

/* The first of those that a rank is connected with, and the way to it made shorter. */
static uint32_t first_of(uint32_t *leads, uint32_t rank)
{
    while (leads[rank] != rank) {
        leads[rank] = leads[leads[rank]];
        rank = leads[rank];
    }
    return rank;
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
static size_t connect(const struct iwi_visit_group *group, uint32_t *leads)
{
    size_t joined = 0;

    for (uint32_t i = 1; i < group->count; i++) {
        const uint32_t a = first_of(leads, group->members[0]), b = first_of(leads, group->members[i]);

        joined += a != b;
        leads[iwi_max(a, b)] = (uint32_t)iwi_min(a, b);
    }
    return joined;
}

static void add_connections(const struct iwi_visits *visits, uint64_t *peers, uint32_t *leads,
                            bool *has_collectives)
{
    const bool has_messages = list_groups(visits, has_collectives);
    size_t joined = 0;

    for (uint32_t r = 0; r < visits->rank_count; r++) {
        leads[r] = r;
    }
    for (size_t g = 0; g < visits->group_count; g++) {
        const bool is_counted = has_messages || visits->groups[g].count < visits->rank_count;

        joined += has_collectives[g] && is_counted ? connect(&visits->groups[g], leads) : 0;
    }
    for (uint32_t r = 0; joined > 0 && r < visits->rank_count; r++) {
        peers[r] += iwi_mix(first_of(leads, r));
    }
}

iw_status iwi_visits_peers(const struct iwi_visits *visits, uint64_t *peers)
{
    uint32_t *leads = iwi_new_array(visits->log, visits->rank_count, sizeof leads[0]);
    bool *has_collectives = iwi_new_array(visits->log, visits->group_count, sizeof has_collectives[0]);
    const iw_status status = leads != NULL && has_collectives != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t r = 0; r < visits->rank_count; r++) {
        peers[r] = iwi_mix((uint64_t)visits->ranks[r].stage + 1);
    }
    for (size_t i = 0; i < visits->visit_count; i++) { /* a sum: their order may differ */
        peers[visits->visits[i].rank] += iwi_visit_kind(visits, &visits->visits[i]);
    }
    if (status == IW_OK) {
        add_connections(visits, peers, leads, has_collectives);
    }
    free(leads);
    free(has_collectives);
    return status;
}
