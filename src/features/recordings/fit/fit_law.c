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

/* ---- does the fit stand for the recording? Noise is made of its specs, and compared ---- */

/* Made recordings of more detours are cut shorter. */
static const double MOST_MADE = 5e5;

/* Of the comparison: its interval, not a p-value, is what is told. */
enum { REPLICATES = 400 };

static double made_rate_hz(const iw_noise_fit *fit)
{
    double rate_hz = 0.0;

    for (size_t i = 0; i < fit->spec_count; i++) {
        rate_hz += fit->specs[i].rate_hz;
    }
    return rate_hz;
}

static iw_status make(const iw_recording *recording, const iw_noise_fit *fit, iw_recording **made_p)
{
    const char *specs[IW_NOISE_MAX_SOURCES];
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_edit edit;

    opts.duration_ns = 0;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        opts.duration_ns = iwi_max(opts.duration_ns, recording->cpus[i].length_ns);
    }
    opts.cpu_count = recording->cpu_count;
    opts.duration_ns = (int64_t)fmin((double)opts.duration_ns,
                                     MOST_MADE * 1e9 / (made_rate_hz(fit) * (double)opts.cpu_count));
    for (size_t i = 0; i < fit->spec_count; i++) {
        specs[i] = fit->specs[i].text;
    }
    opts.specs = specs;
    opts.spec_count = fit->spec_count;
    opts.seed = fit->opts.seed;
    opts.threshold_ns = fit->threshold_ns;
    return iw_recording_synth(NULL, &opts, made_p, &edit);
}

/* What cannot be made (no time would be left to work) or compared is left unknown. */
iw_status iwi_fit_set_agreement(const iw_log *log, const iw_recording *recording, iw_noise_fit *fit)
{
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *comparison = NULL;
    iw_recording *made = NULL;
    iw_status status;

    fit->agreement = (iw_fit_agreement){.is_known = false};
    if (fit->spec_count == 0) {
        return IW_OK;
    }
    opts.seed = fit->opts.seed;
    opts.replicates = REPLICATES;
    status = make(recording, fit, &made);
    if (status == IW_OK) {
        status = iw_noise_compare(NULL, recording, made, &opts, &comparison);
    }
    if (status == IW_OK) {
        const iw_compare_value *share = &comparison->metrics[IW_COMPARE_SHARE];
        const iw_compare_value *rate_hz = &comparison->metrics[IW_COMPARE_RATE];

        fit->agreement = (iw_fit_agreement){.is_known = true,
                                            .length_ns = made->cpus[0].length_ns,
                                            .recorded = share->a,
                                            .made = share->b,
                                            .difference = share->difference,
                                            .recorded_hz = rate_hz->a,
                                            .made_hz = rate_hz->b,
                                            .durations = comparison->ks};
    }
    iw_noise_comparison_free(comparison);
    iw_recording_free(made);
    return status == IW_ERR_NOMEM ? iwi_fail(log, status, "out of memory for noise made of the fit") : IW_OK;
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
