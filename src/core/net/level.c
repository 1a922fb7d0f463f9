/* Where ranks are whose placement is a list (docs/explanation/semantics.md, rule 11).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/level.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/node_table.h"

/* The ranks of a node sit side by side, in the order of their numbers. */
static iw_status fill_places(const iw_log *log, const iw_net *net, uint32_t rank_count, uint32_t *places)
{
    const iw_net_inner *node = &net->inner[net->list.level];
    uint32_t *taken = iwi_new_array(log, (size_t)iwi_highest_node(&net->list, rank_count) + 1, sizeof *taken);
    iw_status status = taken == NULL ? IW_ERR_NOMEM : IW_OK;

    for (uint32_t rank = 0; rank < rank_count && status == IW_OK; rank++) {
        const uint32_t number = net->list.nodes[rank];

        if (taken[number] == node->ranks) {
            status = iwi_fail(log, IW_ERR_RANGE,
                              "network '%s': the list places more than %u rank%s on %s %u, rank %u is one "
                              "too many: correct it, or the size of a %s",
                              net->name, node->ranks, node->ranks == 1 ? "" : "s", node->name, number, rank,
                              node->name);
        } else {
            places[rank] = number * node->ranks + taken[number]++;
        }
    }
    free(taken);
    return status;
}

iw_status iwi_places_check(const iw_log *log, const iw_net *net)
{
    const iw_node_list *list = &net->list;

    if (list->nodes == NULL || list->count == 0 || list->level >= net->inner_count) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s' needs a list of placements: give the node of each rank", net->name);
    }
    for (uint32_t rank = 0; rank < list->count; rank++) {
        const uint64_t end = ((uint64_t)list->nodes[rank] + 1) * net->inner[list->level].ranks;

        if (list->nodes[rank] >= IW_NODES_MAX || end > UINT32_MAX) {
            const uint64_t most = UINT32_MAX / net->inner[list->level].ranks;

            return iwi_fail(log, IW_ERR_RANGE,
                            "network '%s': the list places rank %u on %s %u, but numbers are 0 to %" PRIu64,
                            net->name, rank, net->inner[list->level].name, list->nodes[rank],
                            (most < IW_NODES_MAX ? most : IW_NODES_MAX) - 1);
        }
    }
    return IW_OK;
}

/* From the last rank on: a stretch is longer by one than that of the next rank, if they are neighbours. */
static void fill_stretches(uint32_t innermost, const uint32_t *places, uint32_t rank_count,
                           uint32_t *stretches)
{
    for (uint32_t rank = rank_count; rank-- > 0;) {
        const bool is_last = rank + 1 == rank_count || places[rank + 1] != places[rank] + 1 ||
                             places[rank + 1] % innermost == 0;

        stretches[rank] = is_last ? 1 : stretches[rank + 1] + 1;
    }
}

iw_status iwi_levels_init(const iw_log *log, const iw_net *net, uint32_t rank_count,
                          struct iwi_levels *levels_p)
{
    struct iwi_levels levels = {.count = net->inner_count};
    uint32_t *places, *stretches;
    iw_status status;

    for (uint32_t i = 0; i < levels.count; i++) {
        levels.ranks[i] = net->inner[i].ranks;
    }
    if (levels.count > 0 && net->placement == IW_PLACEMENT_ROUND_ROBIN) {
        levels.dealt = iwi_node_level(net);
        levels.nodes = (rank_count - 1) / levels.ranks[levels.dealt] + 1;
    }
    if (levels.count == 0 || net->placement != IW_PLACEMENT_LIST) {
        *levels_p = levels;
        return IW_OK;
    }
    IW_TRY(iwi_places_check(log, net));
    if (net->list.count < rank_count) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': the list places %u ranks of %u: add the others, or use fewer ranks",
                        net->name, net->list.count, rank_count);
    }
    places = iwi_new_array(log, rank_count, sizeof *places);
    stretches = iwi_new_array(log, rank_count, sizeof *stretches);
    status = places == NULL || stretches == NULL ? IW_ERR_NOMEM : fill_places(log, net, rank_count, places);
    levels.places = places;
    levels.stretches = stretches;
    if (status != IW_OK) {
        iwi_levels_release(&levels);
        return status;
    }
    fill_stretches(levels.ranks[0], places, rank_count, stretches);
    *levels_p = levels;
    return IW_OK;
}

void iwi_levels_release(struct iwi_levels *levels)
{
    free(levels->places);
    free(levels->stretches);
    levels->places = levels->stretches = NULL;
}
