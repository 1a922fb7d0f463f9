/* What a job meets of recorded detours: the longest of each phase, by a model of bins of lengths.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/length_bins.h"

#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"

static const double BINS_PER_OCTAVE = 8.0, MOST_PHASES = 1e12;

/* To which a slowdown is found; where noise leaves no time, it grows without end. */
static const double CLOSE = 1e-4;
enum { MOST_STEPS = 30 };

/* Below this a series is more exact than what it stands for. */
static const double SMALL = 1e-5;

/* Of lower bounds. */
static const double ONE_SIDED = 0.05;

void iwi_bins_add(struct iwi_length_bins *bins, int64_t ns, double rate_hz, double events)
{
    const int64_t bin = (int64_t)(BINS_PER_OCTAVE * log2((double)iwi_max(ns, 1)));
    const size_t at = (size_t)iwi_min(bin, IWI_LENGTH_BINS - 1);

    bins->rate_hz[at] += rate_hz;
    bins->lost[at] += rate_hz * (double)ns * 1e-9;
    bins->events[at] += events;
}

void iwi_bins_add_all(struct iwi_length_bins *bins, const struct iwi_length_bins *more, double times)
{
    for (size_t i = 0; i < IWI_LENGTH_BINS; i++) {
        bins->rate_hz[i] += times * more->rate_hz[i];
        bins->lost[i] += times * more->lost[i];
        bins->events[i] += times * more->events[i];
    }
}

/* The integral of 1 - exp(-(most - rate x)) over lengths x from low_s to high_s. */
static double stretch_met(double rate, double most, double low_s, double high_s)
{
    const double z = rate * (high_s - low_s), at_high = fmax(0.0, most - rate * high_s);
    const double rest = z > SMALL ? 1.0 + expm1(-z) / z : 0.5 * z; /* of 1 - (1 - exp(-z)) / z */

    return high_s > low_s ? (high_s - low_s) * (exp(-at_high) * rest - expm1(-at_high)) : 0.0;
}

double iwi_bins_longest_s(const struct iwi_length_bins *bins, double window_s)
{
    double sum = 0.0, none_so_long = 1.0;

    for (size_t i = IWI_LENGTH_BINS; i-- > 0 && none_so_long > 1e-12;) {
        if (bins->rate_hz[i] > 0.0) {
            const double comes = -expm1(-window_s * bins->rate_hz[i]);

            sum += bins->lost[i] / bins->rate_hz[i] * none_so_long * comes;
            none_so_long *= 1.0 - comes;
        }
    }
    return sum;
}

/* From the longest bin down: between its length and that of the next one exp(-(lost - rate x + rate w)) is
 * integrated exactly. */
double iwi_bins_first_s(const struct iwi_length_bins *bins, double window_s)
{
    double sum = 0.0, rate = 0.0, lost = 0.0, from_s = 0.0;

    for (size_t i = IWI_LENGTH_BINS; i-- > 0;) {
        if (bins->rate_hz[i] > 0.0) {
            const double length_s = bins->lost[i] / bins->rate_hz[i];

            sum += stretch_met(rate, lost + rate * window_s, length_s, from_s);
            rate += bins->rate_hz[i];
            lost += bins->lost[i];
            from_s = length_s;
        }
    }
    return sum + stretch_met(rate, lost + rate * window_s, 0.0, from_s);
}

double iwi_bins_slowdown(const struct iwi_length_bins *bins, double quiet_s, double phases)
{
    double slowdown = 0.0, before;
    int steps = 0;

    do {
        const double window_s = quiet_s * (1.0 + slowdown) / phases;
        const double lost_s =
            iwi_bins_first_s(bins, window_s) + (phases - 1.0) * iwi_bins_longest_s(bins, window_s);

        before = slowdown;
        slowdown = lost_s / quiet_s;
    } while (slowdown - before > CLOSE * slowdown && ++steps < MOST_STEPS);
    return slowdown;
}

void iwi_bins_thin(struct iwi_length_bins *bins, size_t first, double times)
{
    for (size_t i = first; i < IWI_LENGTH_BINS; i++) {
        bins->rate_hz[i] *= times;
        bins->lost[i] *= times;
        bins->events[i] *= times;
    }
}

size_t iwi_bins_rare_from(const struct iwi_length_bins *bins, double events)
{
    size_t first = IWI_LENGTH_BINS;

    while (first > 0 && bins->events[first - 1] <= events) {
        events -= bins->events[--first];
    }
    return first;
}

double iwi_bins_least_part(const struct iwi_length_bins *bins, double quiet_s, double phases)
{
    const double whole = iwi_bins_slowdown(bins, quiet_s, phases);
    double events = 0.0, least = whole;

    for (size_t i = IWI_LENGTH_BINS; i-- > 0 && whole > 0.0;) {
        events += bins->events[i];
        if (bins->events[i] > 0.0) {
            const double at_least = 0.5 * iwi_chi2_quantile(ONE_SIDED, 2.0 * events);
            struct iwi_length_bins thin = *bins;

            iwi_bins_thin(&thin, i, at_least / events);
            least = fmin(least, iwi_bins_slowdown(&thin, quiet_s, phases));
        }
    }
    return whole > 0.0 ? least / whole : 1.0;
}

/* By halving on a logarithmic scale: slowdowns grow with the phases. */
double iwi_bins_phases(const struct iwi_length_bins *bins, double quiet_s, double slowdown)
{
    double low = 0.0, high = log2(MOST_PHASES);

    for (int step = 0; step < 40; step++) {
        const double middle = 0.5 * (low + high);

        *(iwi_bins_slowdown(bins, quiet_s, exp2(middle)) < slowdown ? &low : &high) = middle;
    }
    return exp2(high);
}
