/* Laws of durations, fitted by largest likelihood to what is above a cut, and how good they are.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Exponential and lognormal laws reach below the cut. LEAST_SEEN keeps them from resting on detours of which
 * almost none was recorded: without it the lognormal that is fitted to a Pareto tail runs away to a median of
 * zero. All likelihoods need but a few sums.
 */
#include <idlewave/recording.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/numeric/numeric.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"
#include "features/recordings/fit/fit.h"

static const double LEAST_SEEN = 0.05;
static const double Z95 = 1.959964;

struct law_ops {
    const char *name, *spec;
    double parameters;
    void (*fit)(const struct iwi_fit_sample *sample, iw_duration_fit *fit);
    double (*above)(double scale_ns, double shape, double ns);
    double (*exceeded_ns)(double scale_ns, double shape, double above); /* the inverse */
    double (*mean_ns)(double scale_ns, double shape);
};

/* A positive estimate with a relative standard error. */
static iw_estimate around(double value, double relative_error)
{
    const double factor = exp(Z95 * relative_error);

    return (iw_estimate){value, value / factor, value * factor};
}

static iw_estimate without_interval(double value)
{
    return (iw_estimate){value, NAN, NAN};
}

/* ---- fixed ---- */

static double fixed_above(double scale_ns, double shape, double ns)
{
    (void)shape;
    return ns < scale_ns ? 1.0 : 0.0;
}

static double fixed_exceeded(double scale_ns, double shape, double above)
{
    (void)shape;
    (void)above;
    return scale_ns;
}

static double scale_as_mean(double scale_ns, double shape)
{
    (void)shape;
    return scale_ns;
}

/* ---- exponential: the excess over the cut has the same law ---- */

static void fit_exp(const struct iwi_fit_sample *s, iw_duration_fit *fit)
{
    const double excess_ns = s->mean_ns - s->cut_ns, least_ns = s->cut_ns / -log(LEAST_SEEN);
    const double mean_ns = fmax(excess_ns, least_ns);

    fit->is_at_limit = excess_ns < least_ns;
    fit->scale_ns = fit->is_at_limit ? without_interval(mean_ns) : around(mean_ns, 1.0 / sqrt(s->count));
    fit->shape = without_interval(NAN);
    fit->log_likelihood = -s->count * (log(mean_ns) + excess_ns / mean_ns);
}

static double exp_above(double scale_ns, double shape, double ns)
{
    (void)shape;
    return exp(-ns / scale_ns);
}

static double exp_exceeded(double scale_ns, double shape, double above)
{
    (void)shape;
    return -log(above) * scale_ns;
}

/* ---- Pareto: MIN is the shortest detour, since below the cut it could not be told ---- */

/* least / MIN is itself Pareto with exponent count * A, so MIN lies above least * 0.05^(1 / (count A)). */
static void fit_pareto(const struct iwi_fit_sample *s, iw_duration_fit *fit)
{
    const double least_ns = fmax(s->least_ns - 0.5, s->cut_ns); /* where it begins to be rounded so */
    const double shape = 1.0 / (s->log_mean - log(least_ns));

    fit->scale_ns =
        (iw_estimate){least_ns, fmax(least_ns * pow(0.05, 1.0 / (s->count * shape)), s->cut_ns), least_ns};
    fit->shape = around(shape, 1.0 / sqrt(s->count - 1.0));
    fit->log_likelihood = s->count * (log(shape) + shape * log(least_ns) - (shape + 1.0) * s->log_mean);
}

static double pareto_above(double scale_ns, double shape, double ns)
{
    return ns > scale_ns ? pow(scale_ns / ns, shape) : 1.0;
}

static double pareto_exceeded(double scale_ns, double shape, double above)
{
    return scale_ns * pow(above, -1.0 / shape);
}

static double pareto_mean(double scale_ns, double shape)
{
    return shape > 1.0 ? scale_ns * shape / (shape - 1.0) : (double)INFINITY;
}

/* ---- lognormal: y = ln x is normal(mu, sigma), cut at c = ln cut, a = (c - mu) / sigma ---- */

/* phi / Q, the hazard of the normal law. */
static double hazard(double a)
{
    return a < -30.0 ? 0.0 : exp(-0.5 * a * a) / (M_SQRT2 * sqrt(M_PI) * iwi_normal_above(a));
}

static double lognormal_likelihood(const struct iwi_fit_sample *s, double mu, double sigma)
{
    const double off = s->log_mean - mu;
    const double seen = s->cut_ns > 0.0 ? iwi_normal_above((log(s->cut_ns) - mu) / sigma) : 1.0;

    return -s->count * (log(sigma * M_SQRT2 * sqrt(M_PI)) +
                        (s->log_variance + off * off) / (2.0 * sigma * sigma) + log(seen) + s->log_mean);
}

/* The largest likelihood has the mean and the variance of the sample: with h the hazard at a,
 *     mean(y) - c = sigma (h - a),    variance(y) = sigma^2 (1 - h (h - a)).
 * variance / (mean - c)^2 depends on a alone and rises with it, to 1. */
static double find_a(double ratio, double most)
{
    double low = -40.0, high = most;

    for (int i = 0; i < 60; i++) {
        const double a = 0.5 * (low + high), h = hazard(a);

        if ((1.0 - h * (h - a)) / ((h - a) * (h - a)) < ratio) {
            low = a;
        } else {
            high = a;
        }
    }
    return 0.5 * (low + high);
}

/* Intervals from the curvature of the likelihood in mu and ln sigma. */
static void lognormal_intervals(const struct iwi_fit_sample *s, double mu, double sigma, iw_duration_fit *fit)
{
    const double h = 1e-3, hm = h * sigma;
    const double top = lognormal_likelihood(s, mu, sigma);
    const double mm =
        (lognormal_likelihood(s, mu + hm, sigma) + lognormal_likelihood(s, mu - hm, sigma) - 2.0 * top) /
        (hm * hm);
    const double ss = (lognormal_likelihood(s, mu, sigma * exp(h)) +
                       lognormal_likelihood(s, mu, sigma * exp(-h)) - 2.0 * top) /
                      (h * h);
    const double ms = (lognormal_likelihood(s, mu + hm, sigma * exp(h)) -
                       lognormal_likelihood(s, mu + hm, sigma * exp(-h)) -
                       lognormal_likelihood(s, mu - hm, sigma * exp(h)) +
                       lognormal_likelihood(s, mu - hm, sigma * exp(-h))) /
                      (4.0 * hm * h);
    const double determinant = mm * ss - ms * ms;

    if (determinant > 0.0 && mm < 0.0 && ss < 0.0) {
        fit->scale_ns = around(exp(mu), sqrt(-ss / determinant));
        fit->shape = around(sigma, sqrt(-mm / determinant));
    }
}

static void fit_lognormal(const struct iwi_fit_sample *s, iw_duration_fit *fit)
{
    const double most_a = iwi_normal_upper_quantile(LEAST_SEEN);
    double mu = s->log_mean, sigma = sqrt(s->log_variance);

    if (s->cut_ns > 0.0) {
        const double c = log(s->cut_ns), mean = s->log_mean - c;
        double a = find_a(s->log_variance / (mean * mean), most_a);

        fit->is_at_limit = a > most_a - 1e-6;
        if (fit->is_at_limit) { /* with a given, sigma^2 - a mean sigma - mean square = 0 */
            a = most_a;
            sigma = 0.5 * (a * mean + sqrt(a * a * mean * mean + 4.0 * (s->log_variance + mean * mean)));
            mu = c - a * sigma;
        } else if (a > -39.0) {
            sigma = mean / (hazard(a) - a);
            mu = c - a * sigma;
        }
    }
    fit->scale_ns = without_interval(exp(mu));
    fit->shape = without_interval(sigma);
    fit->log_likelihood = lognormal_likelihood(s, mu, sigma);
    if (!fit->is_at_limit) {
        lognormal_intervals(s, mu, sigma, fit);
    }
}

static double lognormal_above(double scale_ns, double shape, double ns)
{
    return ns > 0.0 ? iwi_normal_above(log(ns / scale_ns) / shape) : 1.0;
}

static double lognormal_exceeded(double scale_ns, double shape, double above)
{
    return scale_ns * exp(shape * iwi_normal_upper_quantile(above));
}

static double lognormal_mean(double scale_ns, double shape)
{
    return scale_ns * exp(0.5 * shape * shape);
}

/* ---- all ---- */

static const struct law_ops laws[IW_FIT_LAWS] = {
    [IW_FIT_FIXED] = {"fixed", "fixed", 1.0, NULL, fixed_above, fixed_exceeded, scale_as_mean},
    [IW_FIT_EXP] = {"exponential", "exp", 1.0, fit_exp, exp_above, exp_exceeded, scale_as_mean},
    [IW_FIT_PARETO] = {"Pareto", "pareto", 2.0, fit_pareto, pareto_above, pareto_exceeded, pareto_mean},
    [IW_FIT_LOGNORMAL] = {"lognormal", "lognormal", 2.0, fit_lognormal, lognormal_above, lognormal_exceeded,
                          lognormal_mean},
};

const char *iw_fit_law_name(iw_fit_law law)
{
    return laws[law].name;
}

const char *iwi_law_spec_name(iw_fit_law law)
{
    return laws[law].spec;
}

double iwi_law_above(iw_fit_law law, double scale_ns, double shape, double ns)
{
    return laws[law].above(scale_ns, shape, ns);
}

double iwi_law_mean_ns(iw_fit_law law, double scale_ns, double shape)
{
    return laws[law].mean_ns(scale_ns, shape);
}

double iwi_law_exceeded_ns(iw_fit_law law, const iw_duration_fit *fit, double cut_ns, double u)
{
    const double scale_ns = fit->scale_ns.value, shape = fit->shape.value;

    return laws[law].exceeded_ns(scale_ns, shape, u * laws[law].above(scale_ns, shape, cut_ns));
}

void iwi_fit_one_law(iw_fit_law law, const struct iwi_fit_sample *sample, iw_duration_fit *fit)
{
    *fit = (iw_duration_fit){.law = law, .is_fitted = true, .distance = NAN, .p = NAN};
    laws[law].fit(sample, fit);
    fit->seen = laws[law].above(fit->scale_ns.value, fit->shape.value, sample->cut_ns);
    fit->aic = 2.0 * laws[law].parameters - 2.0 * fit->log_likelihood;
    fit->bic = log(sample->count) * laws[law].parameters - 2.0 * fit->log_likelihood;
}

struct iwi_fit_sample iwi_fit_sample(const int64_t *values_ns, size_t count, double cut_ns)
{
    struct iwi_fit_sample s = {.count = (double)count, .cut_ns = cut_ns, .least_ns = (double)values_ns[0]};
    double squares = 0.0;

    for (size_t i = 0; i < count; i++) { /* running means: exact enough for any count */
        const double ns = (double)values_ns[i], y = log(ns), off = y - s.log_mean;

        s.least_ns = fmin(s.least_ns, ns);
        s.mean_ns += (ns - s.mean_ns) / (double)(i + 1);
        s.log_mean += off / (double)(i + 1);
        squares += off * (y - s.log_mean);
    }
    s.log_variance = squares / s.count;
    return s;
}

/* ---- how far durations are from a law, and how often chance alone makes them so ---- */

/* A law that was fitted is nearer to its data than the true one is, so tables of Kolmogorov's distribution do
 * not hold. Instead samples are drawn from the fitted law, rounded as recordings are, and fitted themselves.
 * The law of sqrt(n) x distance hardly depends on n, so that samples of up to MOST_DRAWN do for any n; with
 * Stephens' correction, sqrt(n) + 0.12 + 0.11 / sqrt(n), also for small ones.
 */

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

/* ---- detours that overlap are recorded as one ---- */

/* In simulations detours that come at random may begin within another one, and time is lost to their union
 * (rule 6 of docs/explanation/semantics.md). What is recorded of them are the busy periods of a queue
 * M/G/infinity. With the rate r and the mean duration m an instant is free with the chance exp(-r m), and n =
 * r exp(-r m) busy periods begin in a unit of time, whatever the law. So with the share s of the time that is
 * lost r = n / (1 - s),    m = -ln(1 - s) / r,    m / (s / n) = -(1 - s) ln(1 - s) / s.
 *
 * The form of the law has no such equation. A law is looked for whose busy periods, drawn and fitted as if
 * they were single, give the parameters that the recorded ones gave (indirect inference). What is compared
 * are fits to the same draws, as busy periods and one by one, so that chance nearly cancels.
 */

/* Less overlap changes parameters by less than a recording can tell. */
static const double LEAST_SHARE = 1e-3;

/* The ratio of the two fits is known to sqrt(share / draws): one of a thousand, if there are not too many. */
static const double DRAWS_PER_SHARE = 1e6, LEAST_DRAWS = 1e4, MOST_DRAWS = 2e5;

static const double CONVERGED = 1e-4;
enum { MOST_ROUNDS = 40 };

double iwi_overlap_mean_factor(double share)
{
    return share > 0.0 ? -(1.0 - share) * log1p(-share) / share : 1.0;
}

struct drawing {
    iw_fit_law law;
    double cut_ns, mean_gap_ns;
    uint64_t seed;
    size_t count;
    int64_t *single_ns, *busy_ns;
};

/* Returns how many busy periods there are; the last may be cut short by the end of the draws. */
static size_t draw(const struct drawing *d, const iw_duration_fit *law)
{
    const struct iwi_draw_id lengths = {.seed = d->seed, .purpose = IWI_DRAW_DURATION, .rank = d->law};
    const struct iwi_draw_id gaps = {.seed = d->seed, .purpose = IWI_DRAW_GAP, .rank = d->law};
    double time_ns = 0.0, begin_ns = 0.0, end_ns = 0.0;
    size_t busy = 0;

    for (size_t i = 0; i < d->count; i++) {
        const double length_ns =
            fmin(fmax(iwi_law_exceeded_ns(d->law, law, d->cut_ns, iwi_draw_unit(lengths, i)), 1.0), 0x1p53);

        time_ns -= log(iwi_draw_unit(gaps, i)) * d->mean_gap_ns;
        if (time_ns >= end_ns) {
            begin_ns = time_ns;
            busy++;
        }
        end_ns = fmax(end_ns, time_ns + length_ns);
        d->single_ns[i] = llround(length_ns);
        d->busy_ns[busy - 1] = llround(fmax(end_ns - begin_ns, 1.0));
    }
    return busy;
}

/* By how much one parameter has to change; shapes that a law has not are NaN. */
static double change(double next, double last)
{
    return isnan(next) ? 0.0 : fabs(next / last - 1.0);
}

/* One round: the parameters for which the two fits differ as much as they do at *law. */
static double improve(const struct drawing *d, const iw_duration_fit *recorded, iw_duration_fit *law)
{
    const size_t busy_count = draw(d, law);
    const struct iwi_fit_sample singles = iwi_fit_sample(d->single_ns, d->count, d->cut_ns);
    const struct iwi_fit_sample periods = iwi_fit_sample(d->busy_ns, busy_count, d->cut_ns);
    const iw_duration_fit last = *law;
    iw_duration_fit single, busy;

    iwi_fit_one_law(d->law, &singles, &single);
    iwi_fit_one_law(d->law, &periods, &busy);
    law->scale_ns.value = recorded->scale_ns.value * single.scale_ns.value / busy.scale_ns.value;
    law->shape.value = recorded->shape.value * single.shape.value / busy.shape.value;
    return change(law->scale_ns.value, last.scale_ns.value) + change(law->shape.value, last.shape.value);
}

static bool find_law(const struct drawing *d, const iw_duration_fit *recorded, iw_duration_fit *law)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double changed = improve(d, recorded, law);

        if (!(changed < 1.0) ||
            !(iwi_law_mean_ns(d->law, law->scale_ns.value, law->shape.value) < INFINITY)) {
            return false;
        }
        if (changed < CONVERGED) {
            return true;
        }
    }
    return false;
}

iw_status iwi_fit_overlap(const iw_log *log, const iw_fit_opts *opts, const iw_durations *durations,
                          double watched_ns, double share, struct iwi_single_law *single)
{
    const iw_duration_fit *recorded = &durations->laws[durations->best];
    const double factor = iwi_overlap_mean_factor(share);
    const double draws = fmin(fmax(DRAWS_PER_SHARE * share, LEAST_DRAWS), MOST_DRAWS);
    struct drawing d = {.law = durations->best,
                        .cut_ns = durations->cut_ns,
                        .mean_gap_ns = (1.0 - share) * watched_ns / (double)durations->count,
                        .seed = opts->seed,
                        .count = (size_t)draws};
    iw_duration_fit law = *recorded;

    *single = (struct iwi_single_law){recorded->scale_ns.value, recorded->shape.value, false};
    if (share < LEAST_SHARE || isinf(iwi_law_mean_ns(d.law, single->scale_ns, single->shape))) {
        return IW_OK;
    }
    d.single_ns = iwi_new_array(log, 2 * d.count, sizeof *d.single_ns);
    if (d.single_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    d.busy_ns = &d.single_ns[d.count];
    law.scale_ns.value *= factor;
    *single = find_law(&d, recorded, &law)
                  ? (struct iwi_single_law){law.scale_ns.value, law.shape.value, false}
                  : (struct iwi_single_law){recorded->scale_ns.value * factor, recorded->shape.value, true};
    free(d.single_ns);
    return IW_OK;
}
