/* The mean of the largest of n losses where the tail rules it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With S = exp(-t) an excess is y = sigma (exp(xi t) - 1) / xi, and
 *     E[max_n] = E[min(max_n, u)] + integral over t >= 0 of (1 - (1 - m(t))^n) sigma exp(xi t) dt,
 *     m(t) = rate exp(-t) (a + sigma exp(xi t) / (1 - xi)).
 * The integrand is exp(xi t) where n m is large, and n m exp(xi t) where it is small: both have closed forms,
 * and only the stretch between is summed. That holds for any n.
 */
#include <math.h>

#include "core/base/base.h"
#include "features/model/tail.h"

/* Integral of exp(k t) from a to b. */
static double exp_integral(double k, double a, double b)
{
    return fabs(k * (b - a)) < 1e-9 ? exp(k * a) * (b - a) : exp(k * a) * expm1(k * (b - a)) / k;
}

struct excess_law {
    const struct iwi_gpd *gpd;
    double rate, extra_ns, inside_ns; /* inside: sigma / (1 - xi) */
    double n;
};

static double expected_above(const struct excess_law *law, double t)
{
    return law->n * law->rate * exp(-t) * (law->extra_ns + law->inside_ns * exp(law->gpd->xi * t));
}

/* 1 - (1 - m)^n, times exp(xi t) */
static double integrand(const struct excess_law *law, double t)
{
    const double share = fmin(expected_above(law, t) / law->n, 1.0 - 1e-15);

    return -expm1(law->n * log1p(-share)) * exp(law->gpd->xi * t);
}

/* Where one of n is expected above. */
static double balance(const struct excess_law *law)
{
    enum { STEPS = 12 };
    double t = 0.0;

    for (int i = 0; i < STEPS; i++) {
        t = fmax(t + log(expected_above(law, t)), 0.0);
    }
    return t;
}

static double simpson(const struct excess_law *law, double from, double to)
{
    enum { INTERVALS = 40 };
    const double step = (to - from) / INTERVALS;
    double sum = integrand(law, from) + integrand(law, to);

    for (int i = 1; i < INTERVALS; i++) {
        sum += (i % 2 == 1 ? 4.0 : 2.0) * integrand(law, from + step * i);
    }
    return sum * step / 3.0;
}

static double mean_excess_ns(const struct excess_law *law, double most_ns)
{
    static const double SURE = 4.0, RARE = 8.0; /* n m = e^4: certain; e^-8: proportional to n m */
    const double xi = law->gpd->xi, sigma = law->gpd->sigma, reach = xi * most_ns / sigma;
    const double end = fabs(xi) < 1e-9 ? most_ns / sigma : reach > -1.0 ? log1p(reach) / xi : INFINITY;
    const double middle = balance(law);
    const double from = fmin(fmax(middle - SURE, 0.0), end), to = fmin(middle + RARE, end);
    const double rare = law->n * law->rate *
                        (law->extra_ns * exp_integral(xi - 1.0, to, fmin(end, to + 1e3)) +
                         law->inside_ns * exp_integral(2.0 * xi - 1.0, to, fmin(end, to + 1e3)));

    return sigma * (exp_integral(xi, 0.0, from) + (to > from ? simpson(law, from, to) : 0.0) +
                    (end > to ? rare : 0.0));
}

static double mean_ns(const struct iwi_tail *tail, const struct iwi_tail_draw *draw, double below_ns,
                      double n)
{
    static const double LEAST = 0.05; /* of 1 - xi: heavier tails are refused */
    const struct excess_law law = {&draw->gpd, draw->rate, draw->extra_ns,
                                   draw->gpd.sigma / fmax(1.0 - draw->gpd.xi, LEAST), n};

    return below_ns + mean_excess_ns(&law, tail->most_ns - draw->from_ns);
}

double iwi_tail_mean_max_ns(const struct iwi_tail *tail, const struct iwi_window_law *law, double n)
{
    return mean_ns(tail, &tail->mode, iwi_window_mean_max_ns(law, law->share, n, tail->mode.from_ns), n);
}

void iwi_tail_draw_means_ns(const struct iwi_tail *tail, const struct iwi_window_law *law, double n,
                            double means_ns[IWI_TAIL_DRAWS])
{
    double below_ns = 0.0, from_ns = -1.0;

    for (size_t i = 0; i < IWI_TAIL_DRAWS; i++) {
        if (tail->draws[i].from_ns != from_ns) { /* some hundred draws have the same threshold */
            from_ns = tail->draws[i].from_ns;
            below_ns = iwi_window_mean_max_ns(law, law->share, n, from_ns);
        }
        means_ns[i] = mean_ns(tail, &tail->draws[i], below_ns, n);
    }
}
