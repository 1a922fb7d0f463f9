/* The beta law, and those of Student and Bernoulli that follow from it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <float.h>
#include <math.h>

#include "core/numeric/numeric.h"
#include "core/numeric/search.h"

enum { MOST_TERMS = 10000000 };

/* The continued fraction of the incomplete beta function, by Lentz' method; converges fast for
 * x < (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
    double c = 1.0, d = 1.0 / (1.0 - (a + b) * x / (a + 1.0)), value = d;

    for (int n = 1; n < MOST_TERMS; n++) {
        const double k = n;
        const double even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
        const double odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        double step;

        d = 1.0 / (1.0 + even * d);
        c = 1.0 + even / c;
        value *= c * d;
        d = 1.0 / (1.0 + odd * d);
        c = 1.0 + odd / c;
        step = c * d;
        value *= step;
        if (fabs(step - 1.0) < 0.5 * DBL_EPSILON) {
            break;
        }
    }
    return value;
}

/* The share below x, where `rest` is 1 - x without rounding. */
static double beta_share(double x, double rest, double a, double b)
{
    const double density = iwi_binomial_density(a, b, x < rest ? x : 1.0 - rest) * a * b / (a + b);

    if (x < (a + 1.0) / (a + b + 2.0)) {
        return density * fraction(x, a, b) / a;
    }
    return 1.0 - density * fraction(rest, b, a) / b;
}

double iwi_beta_below(double x, double a, double b)
{
    if (!(a > 0.0 && b > 0.0) || isnan(x)) {
        return (double)NAN;
    }
    if (x <= 0.0 || x >= 1.0) {
        return x <= 0.0 ? 0.0 : 1.0;
    }
    return beta_share(x, 1.0 - x, a, b);
}

/* ---- Bernoulli ---- */

double iwi_binomial_below(uint64_t count, double chance, uint64_t all)
{
    return count >= all ? 1.0 : iwi_beta_below(1.0 - chance, (double)(all - count), (double)count + 1.0);
}

double iwi_binomial_above(uint64_t count, double chance, uint64_t all)
{
    return count >= all ? 0.0 : iwi_beta_below(chance, (double)count + 1.0, (double)(all - count));
}

/* ---- Student ---- */

/* Of |t|. */
static double t_share(const void *law, double t, int is_above)
{
    const double freedom = *(const double *)law, square = t * t;
    const double near = square / (freedom + square), far = freedom / (freedom + square);

    return is_above ? beta_share(far, near, 0.5 * freedom, 0.5) : beta_share(near, far, 0.5, 0.5 * freedom);
}

static double t_density(const void *law, double t)
{
    const double freedom = *(const double *)law;
    const double scale =
        exp(iwi_log_gamma(0.5 * (freedom + 1.0)) - iwi_log_gamma(0.5 * freedom)) / sqrt(M_PI * freedom);

    return 2.0 * scale * exp(-0.5 * (freedom + 1.0) * log1p(t * t / freedom));
}

double iwi_t_quantile(double below, double freedom)
{
    const double tail = 2.0 * fmin(below, 1.0 - below); /* of |t| */
    const double z = -iwi_normal_quantile(0.5 * tail);
    const double guess = z + (z * z * z + z) / (4.0 * freedom); /* Cornish and Fisher */
    double t;

    if (!(freedom > 0.0) || !(below >= 0.0 && below <= 1.0)) {
        return (double)NAN;
    }
    if (tail <= 0.0) {
        return below < 0.5 ? -INFINITY : INFINITY;
    }
    if (tail >= 1.0) {
        return 0.0;
    }
    t = iwi_search_quantile(&(struct iwi_searched){.law = &freedom, .share = t_share, .density = t_density},
                            tail < 0.5 ? tail : 1.0 - tail, tail < 0.5, guess);
    return below < 0.5 ? -t : t;
}
