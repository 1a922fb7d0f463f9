/* Laws of durations, fitted by largest likelihood to what is above a cut.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Exponential and lognormal laws reach below the cut. LEAST_SEEN keeps them from resting on detours of which
 * almost none was recorded: without it the lognormal that is fitted to a Pareto tail runs away to a median of
 * zero. All likelihoods need but a few sums.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
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
