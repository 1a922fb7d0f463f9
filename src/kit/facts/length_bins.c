/* What a job meets of recorded detours: the longest of each phase, by a model of bins of lengths.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/length_bins.h"

#include <math.h>

#include "core/base/base.h"

static const double BINS_PER_OCTAVE = 8.0, MOST_PHASES = 1e12;

void iwi_bins_add(struct iwi_length_bins *bins, int64_t ns, double rate_hz)
{
    const int64_t bin = (int64_t)(BINS_PER_OCTAVE * log2((double)iwi_max(ns, 1)));
    const size_t at = (size_t)iwi_min(bin, IWI_LENGTH_BINS - 1);

    bins->rate_hz[at] += rate_hz;
    bins->lost[at] += rate_hz * (double)ns * 1e-9;
}

void iwi_bins_add_all(struct iwi_length_bins *bins, const struct iwi_length_bins *more, double times)
{
    for (size_t i = 0; i < IWI_LENGTH_BINS; i++) {
        bins->rate_hz[i] += times * more->rate_hz[i];
        bins->lost[i] += times * more->lost[i];
    }
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

double iwi_bins_slowdown(const struct iwi_length_bins *bins, double quiet_s, double phases)
{
    return phases * iwi_bins_longest_s(bins, quiet_s / phases) / quiet_s;
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
