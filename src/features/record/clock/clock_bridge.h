/* From CLOCK_MONOTONIC_RAW, on which the kernel can stamp its events, to the clock that measures.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The rate between them is constant but known only so well: ties are taken again and again, and instants
 * between two ties are interpolated, so that the error stays that of a tie (some ten ns).
 */
#ifndef IWI_CLOCK_BRIDGE_H
#define IWI_CLOCK_BRIDGE_H

#include "features/record/clock/clock.h"

struct iwi_clock_bridge {
    const struct iwi_clock *clock;
    struct iwi_tie earlier, later;
};

void iwi_clock_bridge_begin(struct iwi_clock_bridge *bridge, const struct iwi_clock *clock);

/* Ties again; call before instants up to now are asked for. */
void iwi_clock_bridge_renew(struct iwi_clock_bridge *bridge);

/* Instants before the earlier tie or after the later one are extrapolated. */
uint64_t iwi_clock_bridge_ticks(const struct iwi_clock_bridge *bridge, int64_t raw_ns);

#endif
