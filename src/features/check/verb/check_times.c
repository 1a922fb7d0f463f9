/* Divides the time of a check. A duration that was typed is measured in full.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_times.h"

#include <math.h>

/* Of the time allowed, at most this part is for measuring. Jobs take at least JOBS_NS, on two CPUs of 2020
 * 6 s, but no more than half of the time. */
static const double MEASURED_PART = 0.8, JOBS_NS = 10e9, JOBS_MOST_PART = 0.5;

/* Accounts are kept in ticks of 10 ms: a look of less than a second does not tell. Behind it more than the
 * second must be left without which no node is judged. */
static const int64_t LOOK_NS = 1050000000, SHORTEST_NS = 2200000000;

/* That a node is busy is known at once; what its programs lose is a number beside it. */
static const int64_t BUSY_NS = 2000000000;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What `within` leaves for looking and measuring. */
static int64_t allowed_ns(const struct asked_times *asked)
{
    const double within = (double)asked->within_ns;
    const double jobs = asked->has_jobs ? fmin(JOBS_NS, JOBS_MOST_PART * within) : 0.0;

    return (int64_t)fmin(MEASURED_PART * within, within - jobs);
}

struct check_times check_times_of(const struct asked_times *asked)
{
    const int64_t duration_ns = asked->duration_ns;
    struct check_times times = {.within_ns = asked->within_ns, .look_ns = LOOK_NS};

    if (asked->is_duration_typed) {
        const double jobs = fmax(JOBS_NS, (1.0 / MEASURED_PART - 1.0) * (double)duration_ns);

        if (!asked->is_within_typed) {
            times.within_ns = duration_ns + LOOK_NS + (int64_t)jobs;
        }
        times.has_look = asked->wants_watch || duration_ns + LOOK_NS <= times.within_ns;
        times.measured_ns = duration_ns;
    } else {
        const int64_t allowed = allowed_ns(asked);

        times.has_look = asked->wants_watch || allowed >= SHORTEST_NS;
        times.measured_ns = times.has_look && allowed > LOOK_NS ? allowed - LOOK_NS : allowed;
        if (duration_ns > 0) {
            times.measured_ns = least(times.measured_ns, duration_ns);
        }
    }
    times.busy_ns = asked->wants_watch ? times.measured_ns : least(times.measured_ns, BUSY_NS);
    return times;
}
