/* Functions and the Gauss-Legendre rule.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/numeric/numeric.h"

/* psi(x) = psi(x + 1) - 1/x up to where the asymptotic series is exact. */
double iwi_digamma(double x)
{
    double shift = 0.0, square;

    if (!(x > 0.0)) {
        return (double)NAN;
    }
    while (x < 12.0) {
        shift += 1.0 / x;
        x += 1.0;
    }
    square = 1.0 / (x * x);
    return log(x) - 0.5 / x -
           square *
               (1.0 / 12.0 -
                square *
                    (1.0 / 120.0 -
                     square * (1.0 / 252.0 -
                               square * (1.0 / 240.0 - square * (1.0 / 132.0 - square * 691.0 / 32760.0))))) -
           shift;
}

double iwi_log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

double iwi_sinc(double x)
{
    const double angle = M_PI * x;

    return fabs(angle) < 1e-4 ? 1.0 - angle * angle / 6.0 : sin(angle) / angle;
}

/* The Legendre polynomial of degree n at x; its derivative follows from it and from the one before. */
static double legendre(size_t n, double x, double *slope_p)
{
    double before = 1.0, value = x;

    for (size_t k = 2; k <= n; k++) {
        const double next = ((2.0 * (double)k - 1.0) * x * value - ((double)k - 1.0) * before) / (double)k;

        before = value;
        value = next;
    }
    *slope_p = (double)n * (x * value - before) / (x * x - 1.0);
    return value;
}

void iwi_gauss_legendre(size_t count, double *points, double *weights)
{
    for (size_t i = 0; i < count; i++) {
        double x = -cos(M_PI * ((double)i + 0.75) / ((double)count + 0.5)), slope, step;

        for (int k = 0; k < 20; k++) {
            step = legendre(count, x, &slope) / slope;
            x -= step;
            if (fabs(step) < 1e-16) {
                break;
            }
        }
        (void)legendre(count, x, &slope);
        points[i] = x;
        weights[i] = 2.0 / ((1.0 - x * x) * slope * slope);
    }
}
