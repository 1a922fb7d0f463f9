/* What memoryless detours take from a phase of work, "poisson:RATE,fixed:TIME" and "poisson:RATE,exp:MEAN".
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Detours begin at a Poisson number of places of the work: K. When it begins one is under way with
 * probability p = 1 - exp(-duration / gap), the share of time that detours take, and R of it is left: of a
 * fixed duration D uniform in (0, D), of an exponential one exponential again. The loss is R and K durations.
 * That detours may overlap is left out, so their share of time has to be small.
 */
#include <math.h>

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/noise/duration.h"
#include "core/noise/spec.h"
#include "core/numeric/numeric.h"
#include "features/model/law.h"

static const double MOST_SHARE = 0.05, MOST_HITS = 1e5;

static iw_status check(const iw_log *log, const char *spec, const struct iwi_law_poisson *p, double gap_ns)
{
    if (p->duration_ns / gap_ns > MOST_SHARE) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': detours that take over %g%% of the time overlap too often for this model: use "
                        "'idlewave simulate'",
                        spec, 100 * MOST_SHARE);
    }
    if (p->hits > MOST_HITS) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': over %g detours in one phase are too many for this model: use less work", spec,
                        MOST_HITS);
    }
    return IW_OK;
}

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    struct iwi_law_poisson *p = &law->u.poisson;
    char fields[2][IWI_FIELD_SIZE];
    struct iwi_duration duration;
    iw_time gap_ps;
    double gap_ns;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 2, fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &gap_ps));
    IW_TRY(iwi_duration_parse(log, spec, fields[1], &duration));
    p->is_exp = iwi_spec_arguments(fields[1], "exp") != NULL;
    if (!p->is_exp && iwi_spec_arguments(fields[1], "fixed") == NULL) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': this model cannot add up such durations: use fixed:TIME or exp:MEAN, or "
                        "'idlewave simulate'",
                        spec);
    }
    gap_ns = (double)gap_ps / (double)IW_PS_PER_NS;
    p->duration_ns = iwi_duration_mean_ps(&duration) / (double)IW_PS_PER_NS;
    p->hits = law->work_ns / gap_ns;
    p->under_way = -expm1(-p->duration_ns / gap_ns);
    return check(log, spec, p, gap_ns);
}

/* sum over k >= 0 of P(K = k) [(1 - p) P(Gamma(k) > x) + p P(Gamma(k+1) > x)], x in means; the terms left out
 * are below 1e-16 of those taken, since P(k) falls faster than geometrically on both sides of its place.
 * P(Gamma(k+1) > x) is P(Gamma(k) > x) + x^k exp(-x) / k!, and Gamma(0) is 0. */
static double exp_tail(const struct iwi_law_poisson *p, double x)
{
    const double spread = sqrt(p->hits) * sqrt(p->hits + x);
    const double middle = sqrt(p->hits * x); /* where the terms are largest */
    const double margin = 12 * sqrt(spread + 1) + 30;
    const unsigned first = (unsigned)fmax(0, fmin(p->hits, middle) - margin);
    const unsigned last = (unsigned)(fmax(p->hits, middle) + margin);
    double longer = first > 0 ? iwi_gamma_above(x, first) : 0.0, sum = 0;

    for (unsigned k = first; k <= last; k++) {
        const double one_more = iwi_poisson_chance(k, x);

        sum += iwi_poisson_chance(k, p->hits) * (longer + p->under_way * one_more);
        longer += one_more;
    }
    return fmin(sum, 1);
}

/* A loss above kD + y, 0 <= y < D: over k detours, or k and more than y of the one under way. */
static double fixed_tail(const struct iwi_law_poisson *p, double x)
{
    const unsigned k = (unsigned)floor(x);

    return iwi_poisson_above(k, p->hits) +
           iwi_poisson_chance(k, p->hits) * p->under_way * (1 - (x - floor(x)));
}

/* No work meets no detour, not even one under way (docs/explanation/semantics.md, rule 6: finish(t, 0) = t).
 */
static double tail(const iw_law *law, double x_ns)
{
    const struct iwi_law_poisson *p = &law->u.poisson;

    if (p->hits <= 0 || p->duration_ns <= 0) {
        return 0;
    }
    return p->is_exp ? exp_tail(p, x_ns / p->duration_ns) : fixed_tail(p, x_ns / p->duration_ns);
}

/* Integral over y from 0 to 1 of 1 - (1 - q - b (1 - y))^n = 1 - ((1-q)^(n+1) - (1-q-b)^(n+1)) / ((n+1) b).
 * Where b is so small that this is a difference of equals, the integrand is a straight line. */
static double mean_exceeded(double n, double q, double b)
{
    const double weight = (n + 1) * b;

    if (weight <= 1e-5 * (1 - q)) {
        return (iwi_exceeded_by_one_of(n, q) + iwi_exceeded_by_one_of(n, q + b)) / 2;
    }
    return 1 - (iwi_exceeded_by_one_of(n + 1, q + b) - iwi_exceeded_by_one_of(n + 1, q)) / weight;
}

/* A sum over whole numbers of detours where they are of one length. */
static double mean_max(const iw_law *law, double n)
{
    const struct iwi_law_poisson *p = &law->u.poisson;
    double sum = 0, term = 1;

    if (p->is_exp) {
        return iwi_law_integrate(law, n);
    }
    if (p->hits <= 0) {
        return 0;
    }
    for (unsigned k = 0; term > 1e-17 * sum || k < p->hits; k++) {
        term = mean_exceeded(n, iwi_poisson_above(k, p->hits), iwi_poisson_chance(k, p->hits) * p->under_way);
        sum += term;
    }
    return sum * p->duration_ns;
}

const struct iwi_law_ops iwi_law_poisson = {
    .name = "poisson",
    .usage = "poisson:RATE,DIST",
    .example = "poisson:10Hz,exp:220us",
    .parse = parse,
    .mean_max_ns = mean_max,
    .tail = tail,
};
