/* Which level of a network two ranks meet at (docs/explanation/semantics.md, rule 11).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LEVEL_H
#define IWI_LEVEL_H

#include <idlewave/net.h>

/* The groups of a network, for a number of ranks. */
struct iwi_levels {
    uint32_t count; /* inner ones; 0: all pairs of ranks are alike */
    uint32_t ranks[IW_NET_INNER_MAX];
    uint32_t nodes; /* ranks are dealt out to so many groups of the outermost inner level; 0: they are not */
};

static inline struct iwi_levels iwi_levels_of(const iw_net *net, uint32_t rank_count)
{
    struct iwi_levels levels = {.count = net->inner_count};

    for (uint32_t i = 0; i < levels.count; i++) {
        levels.ranks[i] = net->inner[i].ranks;
    }
    if (levels.count > 0 && net->placement == IW_PLACEMENT_ROUND_ROBIN) {
        levels.nodes = (rank_count - 1) / levels.ranks[levels.count - 1] + 1;
    }
    return levels;
}

/* Where the rank would be if ranks filled one group after the other. */
static inline uint32_t iwi_level_place(const struct iwi_levels *levels, uint32_t rank)
{
    return levels->nodes == 0
               ? rank
               : rank % levels->nodes * levels->ranks[levels->count - 1] + rank / levels->nodes;
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

/* Of how many ranks from `rank` on the places are side by side in one group of the innermost level: pairs of
 * ranks that move together stay at their level as long as neither leaves such a stretch. */
static inline uint32_t iwi_level_stretch(const struct iwi_levels *levels, uint32_t rank)
{
    return levels->nodes == 0 ? levels->ranks[0] - rank % levels->ranks[0]
                              : levels->nodes - rank % levels->nodes;
}

#endif
