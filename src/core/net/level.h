/* Which level of a network two ranks meet at (docs/explanation/semantics.md, rule 11).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LEVEL_H
#define IWI_LEVEL_H

#include <idlewave/net.h>

/* Which of the inner levels is the node, of a network that has some. */
static inline uint32_t iwi_node_level(const iw_net *net)
{
    if (net->placement == IW_PLACEMENT_LIST) {
        return net->list.level;
    }
    return net->nics.count > 0 || net->nics.is_part_of_G ? net->nics.node_level : net->inner_count - 1;
}

/* The groups of a network, for a number of ranks. */
struct iwi_levels {
    uint32_t count; /* inner ones; 0: all pairs of ranks are alike */
    uint32_t ranks[IW_NET_INNER_MAX];
    uint32_t nodes; /* ranks are dealt out to so many groups of the level `dealt`; 0: they are not */
    uint32_t dealt;
    uint32_t *places;    /* of each rank, where a list says it; NULL: computed */
    uint32_t *stretches; /* as iwi_level_stretch(); set if `places` is */
};

/* IW_ERR_RANGE (logged): a list that is too short, or places too many ranks on a node. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_levels_init(const iw_log *log, const iw_net *net, uint32_t rank_count,
                                       struct iwi_levels *levels_p);
void iwi_levels_release(struct iwi_levels *levels);

/* The list of a network with IW_PLACEMENT_LIST: there, and with numbers that can be meant. */
IW_NODISCARD iw_status iwi_places_check(const iw_log *log, const iw_net *net);

/* Where the rank would be if ranks filled one group after the other. */
static inline uint32_t iwi_level_place(const struct iwi_levels *levels, uint32_t rank)
{
    if (levels->places != NULL) {
        return levels->places[rank];
    }
    return levels->nodes == 0 ? rank
                              : rank % levels->nodes * levels->ranks[levels->dealt] + rank / levels->nodes;
}

/* The innermost level of which both are in one group; levels->count if there is none. */
static inline uint32_t iwi_level_between(const struct iwi_levels *levels, uint32_t a, uint32_t b)
{
    uint32_t level = 0;

    if (levels->count == 0) {
        return 0;
    }
    a = iwi_level_place(levels, a);
    b = iwi_level_place(levels, b);
    while (level < levels->count && a / levels->ranks[level] != b / levels->ranks[level]) {
        level++;
    }
    return level;
}

/* How many ranks from `rank` on have places side by side in one group of the innermost level, or the same
 * place in nodes side by side of one group: pairs of ranks that move together stay at their level as long as
 * neither leaves such a stretch. */
static inline uint32_t iwi_level_stretch(const struct iwi_levels *levels, uint32_t rank)
{
    uint32_t node, left;

    if (levels->stretches != NULL) {
        return levels->stretches[rank];
    }
    if (levels->nodes == 0) {
        return levels->ranks[0] - rank % levels->ranks[0];
    }
    node = rank % levels->nodes;
    left = levels->nodes - node;
    if (levels->dealt + 1 < levels->count) {
        const uint32_t nodes = levels->ranks[levels->dealt + 1] / levels->ranks[levels->dealt];

        left = nodes - node % nodes < left ? nodes - node % nodes : left;
    }
    return left;
}

#endif
