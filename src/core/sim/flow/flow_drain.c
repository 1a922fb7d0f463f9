/* One rank serves many messages of one size, without sorting those that wait for it anyway.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of several messages that have arrived is served next plays no role if all cost the same. So of those
 * that are there when the rank is free only their number counts, and between two detours they are a line.
 */
#include "core/sim/flow/flow_drain.h"

#include "core/base/base.h"

struct drain {
    struct iwi_flow *flow;
    uint32_t rank;
    size_t at;
    iw_time work, touch, gap; /* of a message */
};

static iw_time free_from(const struct drain *drain)
{
    return iwi_max(drain->flow->cpu[drain->at], drain->flow->recv_gap[drain->at]);
}

/* One message from then on. */
static void serve_one(const struct drain *drain, iw_time start)
{
    struct iwi_flow *flow = drain->flow;
    iw_time *next = &flow->next_detour[drain->at];
    const iw_time end = start + drain->work;

    flow->recv_gap[drain->at] = start + drain->gap;
    flow->cpu[drain->at] = end + drain->touch <= *next
                               ? end
                               : iwi_flow_work_slow(flow, drain->rank, drain->at, next, start,
                                                    drain->work + drain->touch, NULL) -
                                     drain->touch;
}

/* That many, which are there. */
static void serve_waiting(const struct drain *drain, size_t count)
{
    const iw_time slope = iwi_max(drain->work, drain->gap);

    while (count > 0) {
        const iw_time start = free_from(drain),
                      left = drain->flow->next_detour[drain->at] - start - drain->work - drain->touch;
        size_t some = 1;

        if (left >= 0 && slope > 0) {
            some = (size_t)(left / slope) < count ? (size_t)(left / slope) + 1 : count;
        }
        serve_one(drain, start + (iw_time)(some - 1) * slope);
        count -= some;
    }
}

/* Moves those after `now` to the front; tells how many. */
static size_t keep_later(struct iwi_arrival *arrivals, size_t count, iw_time now)
{
    size_t kept = 0;

    for (size_t k = 0; k < count; k++) {
        const struct iwi_arrival arrival = arrivals[k];

        arrivals[kept] = arrival;
        kept += arrival.time > now;
    }
    return kept;
}

void iwi_flow_drain(struct iwi_flow *flow, uint32_t rank, size_t at, const struct iwi_cost *cost,
                    struct iwi_arrival *arrivals, size_t count, struct iwi_arrival *scratch)
{
    const struct drain drain = {flow, rank, at, cost->recv_cpu, cost->recv_touch, cost->gap};
    size_t kept = keep_later(arrivals, count, free_from(&drain));

    while (count - kept > kept / 8) { /* going through them all is worth it */
        serve_waiting(&drain, count - kept);
        count = kept;
        kept = keep_later(arrivals, count, free_from(&drain));
    }
    serve_waiting(&drain, count - kept);
    iwi_sort_by_lines(arrivals, kept, scratch);
    for (size_t k = 0; k < kept; k++) {
        serve_one(&drain, iwi_max(free_from(&drain), arrivals[k].time));
    }
}
