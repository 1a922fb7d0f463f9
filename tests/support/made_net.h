/* A measured network made up by hand, for the tests of its writers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_NET_H
#define IWT_MADE_NET_H

#include <idlewave/internal/net_measure.h>

/* Two levels, "node" with two segments and "network" with none, on ranks 0, 1 and 2; rank 2 is on another
 * host and its link to rank 1 is slow. */
struct iwt_made_net {
    iw_net_measured measured;
    iw_net_level levels[2];
    iw_net_point points[2];
    iw_net_slow_link slow;
    char hosts[3][64];
};

void iwt_made_net_init(struct iwt_made_net *made);

#endif
