/* Parts of the evaluation of measured networks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_POINTS_H
#define IWI_NET_POINTS_H

#include "core/base/base.h"
#include "features/network/net_fit.h"

/* What a message takes, CPU times included, as the calls have it: an exchange if these were measured, else
 * half a round trip. */
const iw_estimate *iwi_net_whole(const iw_net_point *point);

/* What is said of the smallest message, from level->points. g is cut to half a round trip. */
void iwi_net_smallest(iw_net_level *level);

/* How closely segments follow the points. */
struct iwi_net_fineness {
    double tolerance; /* as of iwi_net_split() */
    size_t most;      /* lines; at most IW_NET_SEGMENTS_MAX + 1 */
    /* A line ends where the share of the overheads in the whole has changed by this; 0: nowhere. */
    double share_step;
};

/* Fills level->net and what is said about the fit from level->points. */
void iwi_net_segments(iw_net_level *level, const struct iwi_net_fineness *fineness);

/* Of what `idlewave net` measures: its points have intervals, and its lines tell protocols apart. */
extern const struct iwi_net_fineness iwi_net_own_fineness;

#endif
