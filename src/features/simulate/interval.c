/* The 95 % interval of a simulated mean.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without redraws it is that of the trials (stats/mean_interval.h), as `simulate` prints it.
 *
 * With a relative variance v of the file, t(97.5 %, df) sqrt(v) of the mean are added to each side in
 * quadrature; above at least exp(1.96 sqrt(v)) - 1 of it: a recording that happened to hold few detours
 * also shows little spread, but its logarithm hardly does; below at least what is left if the few events that
 * count came by luck (length_bins.h). With redraws:
 *
 * The mean over N trials errs for two reasons: other trials would have had other phases, and another
 * recording of the same node would have held other detours. Both variances are estimated and added.
 *
 *   x_t      number of trial t,  t = 1..N
 *   y_kj     number of trial j = 1..m under the k-th redrawing of the recording,  k = 1..R
 *
 *   within   s2 = (sum_t (x_t - mean x)^2 + sum_kj (y_kj - mean y_k)^2) / (N-1 + R(m-1))
 *            the variance of a trial; both kinds of trials tell it, and a rare hit is seen by more of them
 *   trials   V1 = s2 / N
 *   between  MSB = m sum_k (mean y_k - mean y)^2 / (R-1),   E MSB = s2 + m (variance of the recording)
 *   file     V2 = max(0.15 e, (MSB - s2) / m) B/(B-1),   e = s2/m sqrt(2/(R-1) + 2/(N-1 + R(m-1)))
 *            e is the standard error of the difference if the recording adds nothing. Cut at 0 instead, too
 *            many recordings that add about as much as the trials would seem to add nothing. A bootstrap of B
 *            blocks varies less than recordings do, by (B-1)/B.
 *
 *   half width = t(97.5 %, df) sqrt(V1 + V2),
 *   df = (V1 + V2)^2 / (V1^2 / (N-1 + R(m-1)) + V2^2 / (R-1))      (Satterthwaite 1946)
 *
 * A kind of hit that no trial met does not show in any variance: with 95 % confidence fewer than 3 of n
 * trials meet it (1 - 0.05^(1/n) < 3/n), each once or so. So the upper bound is not below 3/n of the largest
 * hit, or what all hits together can add, if that is less.
 */
#include "features/simulate/interval.h"

#include <math.h>

#include "core/numeric/numeric.h"
#include "core/stats/mean_interval.h"

static const double NORMAL_975 = 1.95996;  /* quantile of the normal law */
static const double LEAST_OF_ERROR = 0.15; /* by trial: 91 to 98 % cover, whatever the recording adds */

static double squares_about(const double *values, size_t count, double center)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += (values[i] - center) * (values[i] - center);
    }
    return sum;
}

/* Sums of squares within and between redraws. */
struct scatter {
    double within, between;
};

static struct scatter scatter_of(const struct iwi_sample *sample)
{
    const size_t m = sample->per_redraw;
    const double mean = iwi_mean(sample->redraws, sample->redraw_count * m);
    struct scatter scatter = {0.0, 0.0};

    for (size_t k = 0; k < sample->redraw_count; k++) {
        const double own_mean = iwi_mean(&sample->redraws[k * m], m);

        scatter.within += squares_about(&sample->redraws[k * m], m, own_mean);
        scatter.between += (double)m * (own_mean - mean) * (own_mean - mean);
    }
    return scatter;
}

/* With redraws. */
static double half_width(const struct iwi_sample *sample, double mean)
{
    const double n = (double)sample->trial_count, m = (double)sample->per_redraw;
    const double r = (double)sample->redraw_count, blocks = (double)sample->blocks;
    const double squares = squares_about(sample->trials, sample->trial_count, mean);
    const struct scatter scatter = scatter_of(sample);
    const double of_trials = n - 1.0 + r * (m - 1.0), s2 = (squares + scatter.within) / of_trials;
    const double trials = s2 / n, error = s2 / m * sqrt(2.0 / (r - 1.0) + 2.0 / of_trials);
    const double file =
        fmax(LEAST_OF_ERROR * error, (scatter.between / (r - 1.0) - s2) / m) * blocks / (blocks - 1.0);
    const double freedom =
        (trials + file) * (trials + file) / (trials * trials / of_trials + file * file / (r - 1.0));

    if (!(trials + file > 0.0)) {
        return trials + file; /* 0, or not a number */
    }
    /* never below the smaller of the two; squares of tiny variances are 0 */
    return iwi_t_quantile(0.975, fmax(freedom, r - 1.0)) * sqrt(trials + file);
}

iw_estimate iwi_paired_interval(const struct iwi_sample *sample)
{
    const size_t redraw_trials = sample->redraw_count * sample->per_redraw;
    const double unmet =
        fmin(3.0 * sample->one_hit / (double)(sample->trial_count + redraw_trials), sample->most_unmet);
    iw_estimate e = iwi_mean_estimate(sample->trials, sample->trial_count);

    if (sample->redraw_count >= 2) {
        const double half = half_width(sample, e.value);

        e.low = e.value - half;
        e.high = e.value + half;
    } else if (sample->file_variance > 0.0) {
        const double file = iwi_t_quantile(0.975, sample->file_freedom) * sqrt(sample->file_variance);
        const double above = e.value * expm1(NORMAL_975 * sqrt(sample->file_variance) / e.value);

        /* each side by its own, trials may be skewed */
        e.low = fmax(e.value - hypot(e.value - e.low, fmax(file, sample->file_below)),
                     fmax(sample->file_floor * e.low, sample->file_sure));
        e.high = e.value + hypot(e.high - e.value, fmax(file, above));
    }
    if (unmet > 0.0 && unmet > e.high) {
        e.high = unmet;
    }
    return e;
}
