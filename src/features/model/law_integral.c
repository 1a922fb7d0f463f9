/* The mean of the largest of n draws of a continuous law with a light tail, by integration.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * E = integral over x >= 0 of (1 - F^n). The integrand falls from 1 to 0 where n * tail is about 1, over a
 * stretch that is short beside its place for large n; so the axis is cut where n * tail passes some levels,
 * and each piece is smooth.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "core/numeric/numeric.h"
#include "features/model/law.h"

enum { POINTS = 24, PIECES = 14 };

/* 1 - F^n is 1 to the last digit before the first level; behind the last, 40 / 20^14 = 2e-17, exponentially
 * little is left. */
static const double FIRST_LEVEL = 40, LEVEL_STEP = 20;

double iwi_exceeded_by_one_of(double n, double tail)
{
    return tail >= 1 ? 1.0 : -expm1(n * log1p(-tail));
}

/* About where n * tail falls to `level`, at `from` or behind it. */
static double place_of(const iw_law *law, double n, double level, double from)
{
    double low = from, step = from > 0 ? from : 1e-3;

    if (n * law->ops->tail(law, from) <= level) {
        return from;
    }
    while (n * law->ops->tail(law, low + step) > level) {
        low += step;
        step *= 2;
    }
    for (int i = 0; i < 12; i++) {
        step /= 2;
        if (n * law->ops->tail(law, low + step) > level) {
            low += step;
        }
    }
    return low + step;
}

struct rule {
    double points[POINTS], weights[POINTS];
};

static double integrate_piece(const iw_law *law, double n, double from, double to, const struct rule *rule)
{
    const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double sum = 0;

    for (size_t i = 0; i < POINTS; i++) {
        const double x = middle + half * rule->points[i];

        sum += half * rule->weights[i] * iwi_exceeded_by_one_of(n, law->ops->tail(law, x));
    }
    return sum;
}

double iwi_law_integrate(const iw_law *law, double n)
{
    double level = FIRST_LEVEL, from = place_of(law, n, level, 0), sum = from;
    struct rule rule = {.points = {0.0}};

    iwi_gauss_legendre(POINTS, rule.points, rule.weights);
    for (int piece = 0; piece < PIECES; piece++) {
        double to;

        level /= LEVEL_STEP;
        to = place_of(law, n, level, from);
        sum += integrate_piece(law, n, from, to, &rule);
        from = to;
    }
    return sum;
}

iw_status iwi_law_share_of_time(const iw_log *log, const char *spec, const char *field,
                                double *share_of_work_p)
{
    double share;

    IW_TRY(iwi_spec_share(log, spec, field, &share));
    if (share >= 1) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': noise cannot take %s of all time: use a share below 100%%",
                        spec, field);
    }
    *share_of_work_p = share / (1 - share);
    return IW_OK;
}
