/* The gamma law, and those of Poisson and of squares that follow from it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <float.h>
#include <math.h>

#include "core/numeric/numeric.h"
#include "core/numeric/search.h"

/* From here on sums near the mean are long, and Temme's uniform expansion is as accurate with two terms. */
static const double LARGE_SHAPE = 1e8;

enum { MOST_TERMS = 10000000 };

/* Sum of x^k / ((a+1) ... (a+k)); all terms are positive. */
static double series_below(double x, double a)
{
    double term = 1.0, sum = 1.0;

    for (int k = 1; term > DBL_EPSILON * 0.25 * sum; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum * iwi_poisson_density(a, x);
}

/* Legendre's continued fraction, by Lentz' method; for x > a + 1. */
static double fraction_above(double x, double a)
{
    double b = x + 1.0 - a, c = 1.0 / DBL_MIN, d = 1.0 / b, value = d;

    for (int n = 1; n < MOST_TERMS; n++) {
        const double k = n;
        const double numerator = -k * (k - a);
        double step;

        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        step = c * d;
        value *= step;
        if (fabs(step - 1.0) < 0.5 * DBL_EPSILON) {
            break;
        }
    }
    return value * a * iwi_poisson_density(a, x);
}

/* N. M. Temme, "The asymptotic expansion of the incomplete gamma functions", 1979. */
static double large_above(double x, double a)
{
    const double mu = (x - a) / a, half_square = mu - log1p(mu); /* eta^2 / 2 */
    const double eta = copysign(sqrt(2.0 * half_square), mu);
    const double first = fabs(eta) > 1e-3 ? 1.0 / mu - 1.0 / eta : -1.0 / 3.0 + eta / 12.0;

    return iwi_normal_above(eta * sqrt(a)) + exp(-a * half_square) / sqrt(2.0 * M_PI * a) * first;
}

/* The share above or below. */
static double share(double x, double shape, int is_above)
{
    double below;

    if (!(shape > 0.0) || isnan(x)) {
        return (double)NAN;
    }
    if (x <= 0.0 || isinf(x)) {
        return (x <= 0.0) == (is_above != 0) ? 1.0 : 0.0;
    }
    if (shape >= LARGE_SHAPE && fabs(x - shape) < 0.1 * shape) {
        return is_above ? large_above(x, shape) : 1.0 - large_above(x, shape);
    }
    if (x > shape + 1.0) {
        const double above = fraction_above(x, shape);

        return is_above ? above : 1.0 - above;
    }
    below = series_below(x, shape);
    return is_above ? 1.0 - below : below;
}

double iwi_gamma_below(double x, double shape)
{
    return share(x, shape, 0);
}

double iwi_gamma_above(double x, double shape)
{
    return share(x, shape, 1);
}

/* ---- quantiles ---- */

static double gamma_share(const void *law, double x, int is_above)
{
    return share(x, *(const double *)law, is_above);
}

static double gamma_density(const void *law, double x)
{
    const double shape = *(const double *)law;

    return iwi_poisson_density(shape, x) * shape / x;
}

static double gamma_quantile(double chance, double shape, int is_above)
{
    /* Wilson and Hilferty 1931; the far lower tail is the power of x that the series begins with */
    const double z = is_above ? iwi_normal_upper_quantile(chance) : iwi_normal_quantile(chance);
    const double s = 1.0 / (9.0 * shape), root = 1.0 - s + z * sqrt(s);
    const double below = is_above ? 1.0 - chance : chance;
    const double power = exp((log(below) + iwi_log_gamma(shape + 1.0)) / shape);
    const double guess = root > 0.2 ? shape * root * root * root : fmax(power, DBL_MIN);

    if (!(shape > 0.0) || !(chance >= 0.0 && chance <= 1.0)) {
        return (double)NAN;
    }
    if (chance <= 0.0 || chance >= 1.0) {
        return (chance <= 0.0) == (is_above != 0) ? INFINITY : 0.0;
    }
    return iwi_search_quantile(
        &(struct iwi_searched){.law = &shape, .share = gamma_share, .density = gamma_density}, chance,
        is_above, guess);
}

double iwi_chi2_quantile(double below, double freedom)
{
    return 2.0 * gamma_quantile(below, 0.5 * freedom, 0);
}

double iwi_chi2_upper_quantile(double above, double freedom)
{
    return 2.0 * gamma_quantile(above, 0.5 * freedom, 1);
}

/* ---- Poisson ---- */

double iwi_poisson_chance(uint64_t count, double mean)
{
    return iwi_poisson_density((double)count, mean);
}

double iwi_poisson_above(uint64_t count, double mean)
{
    return iwi_gamma_below(mean, (double)count + 1.0);
}
