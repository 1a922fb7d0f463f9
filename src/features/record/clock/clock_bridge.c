/* Ties CLOCK_MONOTONIC_RAW and the measuring clock together, and interpolates between the ties.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/clock/clock_bridge.h"

#include <math.h>

#include "core/base/base.h"

/* Ties closer than this make no rate: what they are wrong by would be too large a part of it. */
static const int64_t LEAST_SPAN_NS = 10000000;

static bool is_same_clock(const struct iwi_clock_bridge *bridge)
{
    return bridge->clock->ops == &iwi_clock_monotonic_raw;
}

void iwi_clock_bridge_begin(struct iwi_clock_bridge *bridge, const struct iwi_clock *clock)
{
    *bridge = (struct iwi_clock_bridge){.clock = clock};
    if (!is_same_clock(bridge)) {
        bridge->earlier = bridge->later = iwi_clock_tie(clock);
    }
}

void iwi_clock_bridge_renew(struct iwi_clock_bridge *bridge)
{
    struct iwi_tie now;

    if (is_same_clock(bridge)) {
        return;
    }
    now = iwi_clock_tie(bridge->clock);
    if (now.raw_ns - bridge->later.raw_ns >= LEAST_SPAN_NS) {
        bridge->earlier = bridge->later;
    }
    bridge->later = now;
}

/* Ticks per ns: between the ties, or what the clock was calibrated to while there is only one. */
static double rate(const struct iwi_clock_bridge *bridge)
{
    const int64_t span_ns = bridge->later.raw_ns - bridge->earlier.raw_ns;

    return span_ns >= LEAST_SPAN_NS ? (double)(bridge->later.ticks - bridge->earlier.ticks) / (double)span_ns
                                    : bridge->clock->hz / 1e9;
}

uint64_t iwi_clock_bridge_ticks(const struct iwi_clock_bridge *bridge, int64_t raw_ns)
{
    const bool is_late = raw_ns > bridge->later.raw_ns;
    const struct iwi_tie *from = is_late ? &bridge->later : &bridge->earlier;
    int64_t ticks;

    if (is_same_clock(bridge)) {
        return (uint64_t)iwi_max(raw_ns, 0);
    }
    /* differences of some seconds are far below 2^53: exact to the tick */
    ticks = llround((double)(raw_ns - from->raw_ns) * rate(bridge));
    return ticks >= 0 || from->ticks >= (uint64_t)-ticks ? from->ticks + (uint64_t)ticks : 0;
}
