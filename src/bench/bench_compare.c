/* A benchmark against another run of it, and against the simulation of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "bench/bench_stats.h"

static const char *const op_names[IW_BENCH_OPS] = {"barrier", "allreduce", "halo"};

const char *iw_bench_op_name(iw_bench_op op)
{
    return op < IW_BENCH_OPS ? op_names[op] : "?";
}

/* (m - b) / b of two independent means; the interval by the first order of m / b: relative errors add up in
 * squares. */
void iw_bench_set_baseline(iw_bench_result *result, const iw_bench_baseline *baseline)
{
    const int kind = result->times[IW_BENCH_NOISY].count > 0 ? IW_BENCH_NOISY : IW_BENCH_QUIET;
    const iw_bench_value *mine = &result->times[kind].qtbt;
    const double ratio = mine->mean_ns / baseline->qtbt_ns;
    const double half = ratio * hypot((mine->high_ns - mine->low_ns) / 2.0 / mine->mean_ns,
                                      (baseline->high_ns - baseline->low_ns) / 2.0 / baseline->qtbt_ns);

    result->baseline = *baseline;
    result->against_baseline = (iw_bench_slowdown){ratio - 1.0, ratio - 1.0 - half, ratio - 1.0 + half};
}

/* Errors of independent estimates add up in squares; of each counts the end that looks at the other. Without
 * intervals nothing can be said. */
static bool is_beyond_chance(const iw_bench_slowdown *lower, const iw_bench_slowdown *upper)
{
    return upper->share - lower->share > hypot(lower->high - lower->share, upper->share - upper->low);
}

void iw_bench_set_simulated(iw_bench_result *result, const iw_bench_simulated *simulated)
{
    static const double POINTS = 0.02, SHARE = 0.2;
    const double most = fmax(POINTS, SHARE * fabs(simulated->slowdown.share));
    const double difference = fabs(result->slowdown.share - simulated->slowdown.share);
    const double half = (result->slowdown.high - result->slowdown.low) / 2.0;

    result->simulated = *simulated;
    result->is_beyond_chance = is_beyond_chance(&result->slowdown, &simulated->slowdown) ||
                               is_beyond_chance(&simulated->slowdown, &result->slowdown);
    result->agreement = difference <= most ? IW_BENCH_AGREES : IW_BENCH_DIFFERS;
    if (!(half <= most || difference - half > most)) { /* also without an interval */
        result->agreement = IW_BENCH_UNCLEAR;
    }
}
