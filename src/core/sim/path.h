/* What a message adds to the path that explains a time: to its parts, and to their share at inner levels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PATH_H
#define IWI_PATH_H

#include <stddef.h>
#include <string.h>

#include "core/net/cost.h"

/* Of a network with so many inner levels; shares of others are not looked at. Paths are copied at every
 * message. */
static inline void iwi_path_copy(iw_split *to, const iw_split *from, uint32_t inner_count)
{
    memcpy(to, from, offsetof(iw_split, inner_ps) + inner_count * sizeof from->inner_ps[0]);
}

static inline void iwi_path_add(iw_split *path, const struct iwi_cost *cost, iw_part part, iw_time ps)
{
    path->part_ps[part] += ps;
    if (cost->inner < IW_NET_INNER_MAX) {
        path->inner_ps[cost->inner][part - IW_PART_OVERHEAD] += ps;
    }
}

/* A gap of g + (k-1)G behind the start of a message. */
static inline void iwi_path_add_gap(iw_split *path, const struct iwi_cost *cost)
{
    iwi_path_add(path, cost, IW_PART_GAP, cost->gap - cost->bytes_part);
    iwi_path_add(path, cost, IW_PART_BYTES, cost->bytes_part);
}

/* L + (k-1)G on the wire. */
static inline void iwi_path_add_wire(iw_split *path, const struct iwi_cost *cost)
{
    iwi_path_add(path, cost, IW_PART_LATENCY, cost->wire - cost->bytes_part);
    iwi_path_add(path, cost, IW_PART_BYTES, cost->bytes_part);
    path->hops++;
}

#endif
