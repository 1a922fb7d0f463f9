/* How far durations are from a fitted law, and how often chance alone makes them so.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A law that was fitted is nearer to its data than the true one is, so tables of Kolmogorov's distribution do
 * not hold. Instead samples are drawn from the fitted law, rounded as recordings are, and fitted themselves.
 * The law of sqrt(n) x distance hardly depends on n, so that samples of up to MOST_DRAWN do for any n; with
 * Stephens' correction, sqrt(n) + 0.12 + 0.11 / sqrt(n), also for small ones.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"
#include "features/recordings/fit/fit.h"

enum { MOST_DRAWN = 500 };

/* A recorded value of k stands for all lengths in (k - 1/2, k + 1/2). */
double iwi_fit_distance(iw_fit_law law, const iw_duration_fit *fit, double cut_ns, const int64_t *sorted_ns,
                        size_t count)
{
    const double scale_ns = fit->scale_ns.value, shape = fit->shape.value;
    const double all = iwi_law_above(law, scale_ns, shape, cut_ns);
    double farthest = 0.0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        const double ns = (double)sorted_ns[begin];
        double before, after;

        for (end = begin + 1; end < count && sorted_ns[end] == sorted_ns[begin];) {
            end++;
        }
        before = iwi_law_above(law, scale_ns, shape, fmax(ns - 0.5, cut_ns)) / all;
        after = iwi_law_above(law, scale_ns, shape, ns + 0.5) / all;
        farthest = fmax(farthest, fabs(1.0 - before - (double)begin / (double)count));
        farthest = fmax(farthest, fabs(1.0 - after - (double)end / (double)count));
    }
    return farthest;
}

static double corrected(double distance, double count)
{
    const double root = sqrt(count);

    return (root + 0.12 + 0.11 / root) * distance;
}

/* A sample of the law, fitted again: its distance. NaN: all of it is the same. */
static double drawn_distance(iw_fit_law law, const iw_duration_fit *fit, struct iwi_draw_id draw,
                             double cut_ns, int64_t *values_ns, int64_t *scratch, size_t count)
{
    struct iwi_fit_sample sample;
    iw_duration_fit again;

    for (size_t i = 0; i < count; i++) {
        const double ns = iwi_law_exceeded_ns(law, fit, cut_ns, iwi_draw_unit(draw, i));

        values_ns[i] = llround(fmin(fmax(ns, ceil(cut_ns)), 0x1p62));
    }
    iwi_sort_ns(values_ns, scratch, count);
    if (values_ns[count - 1] - values_ns[0] <= 1) {
        return NAN;
    }
    sample = iwi_fit_sample(values_ns, count, cut_ns);
    iwi_fit_one_law(law, &sample, &again);
    return iwi_fit_distance(law, &again, cut_ns, values_ns, count);
}

iw_status iwi_fit_goodness(const iw_log *log, iw_fit_law law, const iw_fit_opts *opts, double cut_ns,
                           size_t count, iw_duration_fit *fit)
{
    const size_t drawn = count < MOST_DRAWN ? count : MOST_DRAWN;
    const double own = corrected(fit->distance, (double)count);
    struct iwi_draw_id draw = {.seed = opts->seed, .purpose = IWI_DRAW_BOOTSTRAP, .rank = (uint32_t)law};
    int64_t *values_ns = iwi_new_array(log, drawn * 2, sizeof *values_ns);
    size_t as_far = 0;

    if (values_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (draw.trial = 0; draw.trial < opts->replicates; draw.trial++) {
        const double distance = drawn_distance(law, fit, draw, cut_ns, values_ns, values_ns + drawn, drawn);

        as_far += !(corrected(distance, (double)drawn) < own);
    }
    free(values_ns);
    fit->p = ((double)as_far + 1.0) / ((double)opts->replicates + 1.0);
    return IW_OK;
}
