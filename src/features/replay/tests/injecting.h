/* What the tests that really inject share: plans, and a loop that meets the detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_INJECTING_H
#define IWT_INJECTING_H

#include "features/replay/injector.h"

/* One detour every period_ns, all as long, 100 of them in the trace; uncompensated, again and again. */
iw_inject_plan *iwt_periodic_plan(iw_sync sync, int64_t period_ns, int64_t duration_ns);

struct iwt_seen {
    int64_t elapsed_ns;
    size_t count; /* gaps of at least so long */
    double median_ns, sum_ns;
};

/* Reads the clock for so long. */
struct iwt_seen iwt_watch(int64_t duration_ns, int64_t least_ns);

/* Reads the clock until more than so many detours were made: for 10 s at most, then false.
 * Where others have the CPU most are too late. */
bool iwt_meet_more(iw_injector *injector, uint64_t made_count);

/* Keeps detours out until the time of the next one has passed by 3 ms. */
void iwt_keep_out_too_long(iw_injector *injector);

/* Threads of this process. One that was joined is still seen for a moment: waits up to 5 s for `expected`. */
size_t iwt_thread_count(size_t expected);

#endif
