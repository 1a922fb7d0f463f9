/* A benchmark against another run of it, and against the simulation of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/bench/bench_stats.h"

static const char *const op_names[IW_BENCH_OPS] = {"barrier", "allreduce", "halo"};

const char *iw_bench_op_name(iw_bench_op op)
{
    return op < IW_BENCH_OPS ? op_names[op] : "?";
}

const char *iw_bench_work_name(iw_bench_work work)
{
    static const char *const names[IW_BENCH_WORKS] = {"spin", "sleep"};

    return work < IW_BENCH_WORKS ? names[work] : "?";
}

/* (m - b) / b of two independent means; the interval by the first order of m / b: relative errors add up in
 * squares. */
void iw_bench_set_baseline(iw_bench_result *result, const iw_bench_baseline *baseline)
{
    const int kind = result->times[IW_BENCH_NOISY].count > 0 ? IW_BENCH_NOISY : IW_BENCH_QUIET;
    const iw_estimate mine = result->times[kind].qtbt.mean_ns, other = baseline->qtbt_ns;
    const double ratio = mine.value / other.value;
    const double half = ratio * hypot((mine.high - mine.low) / 2.0 / mine.value,
                                      (other.high - other.low) / 2.0 / other.value);

    result->baseline = *baseline;
    result->baseline.slowdown = (iw_estimate){ratio - 1.0, ratio - 1.0 - half, ratio - 1.0 + half};
}

/* Errors of independent estimates add up in squares; of each counts the end that looks at the other. Without
 * intervals nothing can be said. */
static bool is_beyond_chance(const iw_estimate *lower, const iw_estimate *upper)
{
    return upper->value - lower->value > hypot(lower->high - lower->value, upper->value - upper->low);
}

/* Of the mean of as many blocks as were measured with noise, by how much the simulated ones vary; and of the
 * quiet ones, by which it is divided, as their interval says. The host does to noisy blocks what it does to
 * quiet ones, so that counts twice. */
static iw_estimate expect(const iw_bench_result *result, const iw_bench_simulated *simulated)
{
    const iw_estimate *mean = &simulated->slowdown, *quiet = &result->times[IW_BENCH_QUIET].phase_ns;
    const double blocks = fmax((double)result->samples->block_count / 2.0, 1.0); /* with noise */
    const double of_noise = (mean->high - mean->low) / 2.0 * sqrt(1.0 + (double)simulated->trials / blocks);
    const double of_host = sqrt(2.0) * (quiet->high - quiet->low) / 2.0 / quiet->value * (1.0 + mean->value);
    const double half = hypot(of_noise, of_host);

    return (iw_estimate){mean->value, mean->value - half, mean->value + half};
}

void iw_bench_set_simulated(iw_bench_result *result, const iw_bench_simulated *simulated)
{
    static const double POINTS = 0.02, SHARE = 0.2;
    const iw_estimate *measured = &result->slowdown;
    const double most = fmax(POINTS, SHARE * fabs(simulated->slowdown.value));
    const double difference = measured->value - simulated->slowdown.value;
    const double half = (measured->high - measured->low) / 2.0;
    iw_bench_simulated *mine = &result->simulated;

    *mine = *simulated;
    mine->expected = expect(result, simulated);
    mine->difference = difference;
    mine->ratio = measured->value / simulated->slowdown.value;
    mine->is_beyond_chance =
        is_beyond_chance(measured, &simulated->slowdown) || is_beyond_chance(&simulated->slowdown, measured);
    mine->agreement = fabs(difference) <= most ? IW_BENCH_AGREES : IW_BENCH_DIFFERS;
    if (!(half <= most || fabs(difference) - half > most)) { /* also without an interval */
        mine->agreement = IW_BENCH_UNCLEAR;
    }
}
