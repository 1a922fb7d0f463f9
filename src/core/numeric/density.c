/* Poisson and binomial densities of real counts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/numeric/numeric.h"

/* log(Gamma(a + 1)) less Stirling's formula. */
static double stirling_error(double a)
{
    const double inverse = 1.0 / a, square = inverse * inverse;

    if (a < 16.0) {
        return iwi_log_gamma(a + 1.0) - (a + 0.5) * log(a) + a - 0.5 * log(2.0 * M_PI);
    }
    return inverse *
           (1.0 / 12.0 -
            square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
}

/* a log(a / x) + x - a, which is small where x is about a. */
static double deviance(double a, double x)
{
    const double v = (a - x) / (a + x);
    double power = 2.0 * a * v, sum = (a - x) * v, before;

    if (fabs(a - x) > 0.1 * (a + x)) {
        return a * log(a / x) + x - a;
    }
    for (int odd = 3;; odd += 2) { /* log(a / x) = 2 atanh(v) */
        power *= v * v;
        before = sum;
        sum += power / odd;
        if (sum == before) {
            return sum;
        }
    }
}

double iwi_poisson_density(double a, double x)
{
    if (a <= 0.0) {
        return exp(-x);
    }
    if (x <= 0.0) {
        return 0.0;
    }
    return exp(-stirling_error(a) - deviance(a, x)) / sqrt(2.0 * M_PI * a);
}

double iwi_binomial_density(double a, double b, double x)
{
    const double n = a + b;

    if (a <= 0.0) {
        return exp(b * log1p(-x));
    }
    if (b <= 0.0) {
        return exp(a * log(x));
    }
    return exp(stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) -
               deviance(b, n * (1.0 - x))) *
           sqrt(n / (2.0 * M_PI * a * b));
}
