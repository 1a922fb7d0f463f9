/* The normal law.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles are Wichura's rational functions (Algorithm AS 241, Applied Statistics 37, 1988): accurate to
 * 1e-16, and fast: simulated noise draws from them.
 */
#include "core/numeric/numeric.h"

#include <math.h>

enum { TERMS = 8 };

static const double CENTRE = 0.425; /* of |below - 1/2|: beyond it, tails */
static const double FAR = 5.0;      /* of sqrt(-log(tail)): beyond it, far tails */

/* Numerators and denominators, the constant term first. */
static const double centre[2][TERMS] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
static const double tail[2][TERMS] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
     7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const double far_tail[2][TERMS] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
     2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

double iwi_normal_below(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

double iwi_normal_above(double x)
{
    return 0.5 * erfc(x * M_SQRT1_2);
}

static double polynomial(const double terms[TERMS], double x)
{
    double value = terms[TERMS - 1];

    for (int i = TERMS - 2; i >= 0; i--) {
        value = value * x + terms[i];
    }
    return value;
}

static double ratio(const double terms[2][TERMS], double x)
{
    return polynomial(terms[0], x) / polynomial(terms[1], x);
}

/* Of a share up to 0.075, as a positive distance. */
static double tail_distance(double share)
{
    const double r = sqrt(-log(share));

    return r <= FAR ? ratio(tail, r - 1.6) : ratio(far_tail, r - FAR);
}

double iwi_normal_quantile(double below)
{
    const double from_middle = below - 0.5;

    if (!(below >= 0.0 && below <= 1.0)) {
        return (double)NAN;
    }
    if (below <= 0.0 || below >= 1.0) {
        return below <= 0.0 ? -INFINITY : INFINITY;
    }
    if (fabs(from_middle) <= CENTRE) {
        return from_middle * ratio(centre, CENTRE * CENTRE - from_middle * from_middle);
    }
    return below < 0.5 ? -tail_distance(below) : tail_distance(1.0 - below);
}

double iwi_normal_upper_quantile(double above)
{
    return -iwi_normal_quantile(above);
}
