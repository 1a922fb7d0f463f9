/* Does a difference come from a few stretches of time?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The bootstrap draws blocks as if they were independent, so a burst that fills ten of them looks like ten
 * events. If R stretches carry the difference, they are R events: a draw by stretches would leave all of them
 * out with probability e^-R, which is above the 2.5 % of the interval's end up to R = 3.
 */
#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "features/recordings/compare/compare.h"

enum { MOST_STRETCHES = 3 };

/* A block is heavy if its excess is above this many times the mean excess, */
static const double HEAVY = 1.5;
/* and heavy blocks carry the difference if they have so much of it */
static const double CARRIED = 0.9;
/* and are so few that the rest of the recording speaks for itself. */
static const double MOST_OF_TIME = 1.0 / 3.0;

struct stretches {
    size_t count, block_count;
    double excess;
};

/* Stretches of heavy blocks; a single light block does not part them. `usual` is the other side's ratio. */
static struct stretches find_stretches(const struct iwi_compared_side *side, const double *numerator,
                                       double usual, double heavy_excess)
{
    struct stretches found = {0, 0, 0.0};
    size_t last = 0; /* heavy block, from 1 */

    for (size_t i = 0; i < side->blocks.count; i++) {
        const double excess = numerator[i] - usual * side->watched_ns[i];

        if (excess > heavy_excess) {
            found.count += last == 0 || i + 1 > last + 2;
            found.block_count++;
            found.excess += excess;
            last = i + 1;
        }
    }
    return found;
}

/* A percentile is of no block; what makes it rise is looked for in the time lost. */
static const double *numerator_of(const struct iwi_compared_side *side, iw_compare_metric metric)
{
    return metric == IW_COMPARE_RATE ? side->count : side->noise_ns;
}

void iwi_compare_stretches(const struct iwi_compared_side *a, const struct iwi_compared_side *b,
                           iw_noise_comparison *comparison)
{
    const iw_compare_metric metric = comparison->opts.metric;
    const bool is_better = comparison->verdict == IW_COMPARE_BETTER;
    const struct iwi_compared_side *more = is_better ? a : b, *less = is_better ? b : a;
    const double *numerator = numerator_of(more, metric);
    const size_t count = more->blocks.count;
    const double usual = iwi_sum(numerator_of(less, metric), less->blocks.count) /
                         iwi_sum(less->watched_ns, less->blocks.count);
    const double excess = iwi_sum(numerator, count) - usual * iwi_sum(more->watched_ns, count);
    struct stretches found;

    if (comparison->verdict == IW_COMPARE_SAME || comparison->verdict == IW_COMPARE_UNKNOWN ||
        !(excess > 0.0)) {
        return;
    }
    found = find_stretches(more, numerator, usual, HEAVY * excess / (double)count);
    if (found.count > 0 && found.count <= MOST_STRETCHES && found.excess >= CARRIED * excess &&
        (double)found.block_count <= MOST_OF_TIME * (double)count) {
        comparison->stretch_count = found.count;
        comparison->stretch_ns = (int64_t)found.block_count * more->blocks.block_ns;
    }
}
