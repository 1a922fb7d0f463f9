/* Nodes of a fleet that are not noisier, but different: a source is missing, or there is less of all.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/fleet/fleet_judge.h"
#include "features/fleet/fleet_tail.h"

/* A source of so many of the nodes, on all of them in so many stretches, is missing where it is not. */
static const double NEARLY_ALL = 0.95;
enum { MISSED_STRETCHES = 10 };

/* Less than chance, and by so much that it tells something. */
static const double QUIETER_FACTOR = 1.5;

static iw_status add(struct iwi_fleet_trial *judge, iw_fleet *fleet, const iw_fleet_difference *difference)
{
    IW_TRY(iwi_grow(judge->log, (void **)&fleet->differences, &fleet->cells->difference_capacity,
                    fleet->difference_count + 1, sizeof *fleet->differences));
    fleet->differences[fleet->difference_count++] = *difference;
    return IW_OK;
}

/* Of the family that the units hold. */
static iw_status find_missing(struct iwi_fleet_trial *judge, iw_fleet *fleet, uint32_t family)
{
    const double median = iwi_fleet_median_value(judge, IW_FLEET_SHARE);
    size_t usual = 0;

    for (size_t node = 0; node < fleet->node_count; node++) {
        usual += __builtin_popcount(judge->place.units[node].stretches) >= MISSED_STRETCHES;
    }
    if ((double)usual < NEARLY_ALL * (double)fleet->node_count) {
        return IW_OK;
    }
    for (size_t node = 0; node < fleet->node_count; node++) {
        if (!(judge->place.units[node].all.of[IW_DIGEST_COUNT] > 0.0)) {
            IW_TRY(add(judge, fleet,
                       &(iw_fleet_difference){IW_FLEET_MISSING, fleet->nodes[node].name,
                                              *iwi_fleet_source_of(fleet->cells, family), 0.0, median}));
        }
    }
    return IW_OK;
}

/* Of all sources together, which the units hold: the lower tail is the upper one of 1 / share. */
static iw_status find_quieter(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    const double median = iwi_fleet_median_value(judge, IW_FLEET_SHARE);
    struct iwi_fleet_tail tail;
    size_t count = 0;

    for (size_t node = 0; node < fleet->node_count; node++) {
        if (fleet->nodes[node].value[IW_FLEET_SHARE] > 0.0) {
            judge->scratch[count++] = -log(fleet->nodes[node].value[IW_FLEET_SHARE]);
        }
    }
    if (count < IW_FLEET_LEAST_NODES || 2 * count < fleet->node_count) {
        return IW_OK;
    }
    tail = iwi_fleet_tail_fit(judge->scratch, count, IWI_FLEET_LEAST_VARIANCE, 1.0);
    for (size_t node = 0; node < fleet->node_count; node++) {
        const double share = fleet->nodes[node].value[IW_FLEET_SHARE];

        if (-log(share) > iwi_fleet_tail_limit(&tail, judge->p, 0.0) && QUIETER_FACTOR * share < median) {
            IW_TRY(add(judge, fleet,
                       &(iw_fleet_difference){.kind = IW_FLEET_QUIETER,
                                              .node = fleet->nodes[node].name,
                                              .value = share,
                                              .median = median}));
        }
    }
    return IW_OK;
}

iw_status iwi_fleet_find_differences(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        return IW_OK;
    }
    iwi_fleet_gather(judge, 0);
    IW_TRY(find_quieter(judge, fleet));
    for (uint32_t family = 1; family < fleet->cells->family_count; family++) {
        iwi_fleet_gather(judge, family);
        IW_TRY(find_missing(judge, fleet, family));
    }
    return IW_OK;
}
