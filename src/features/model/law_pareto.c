/* Heavy-tailed noise: "pareto:F,A", F the share of all time, and "phase-pareto:SHARE,A" of simulations.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws are least * X with P(X > x) = x^-A. The mean of X is A/(A-1), so least = mean (A-1)/A.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "features/model/law.h"

/* From here on the series of Stirling's formula has all digits. */
static const double STIRLING_FROM = 32.0;

static iw_status parse_shape(const iw_log *log, const char *spec, const char *field, iw_law *law)
{
    double *shape = &law->u.pareto.shape;

    if (strchr(field, '%') != NULL || iw_parse_share(NULL, field, shape) != IW_OK || *shape <= 0) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': A is '%s', not a number above 0: for example, type '%s'",
                        spec, field, law->ops->example);
    }
    return IW_OK;
}

/* With A <= 1 there is no mean to scale to; the least draw then is the share of the work itself. */
static void set_least(iw_law *law, double share)
{
    const double a = law->u.pareto.shape;

    law->u.pareto.least_ns = share * law->work_ns * (a > 1 ? (a - 1) / a : 1.0);
}

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    char fields[2][IWI_FIELD_SIZE];
    double share;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 2, fields));
    IW_TRY(iwi_law_share_of_time(log, spec, fields[0], &share));
    IW_TRY(parse_shape(log, spec, fields[1], law));
    set_least(law, share);
    return IW_OK;
}

static iw_status parse_phase(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    char fields[2][IWI_FIELD_SIZE];
    double share;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 2, fields));
    IW_TRY(iwi_spec_share(log, spec, fields[0], &share));
    IW_TRY(parse_shape(log, spec, fields[1], law));
    set_least(law, share);
    return IW_OK;
}

/* The part of ln Gamma(z) behind (z - 1/2) ln z - z + ln(2 pi)/2. */
static double stirling_rest(double z)
{
    const double s = 1 / (z * z);

    return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / z;
}

/* ln Gamma(z) - ln Gamma(z - b) for 0 <= b < 1: of two large numbers that are nearly the same only the
 * difference is formed. */
static double log_gamma_step(double z, double b)
{
    return b * log(z) - b - (z - b - 0.5) * log1p(-b / z) + stirling_rest(z) - stirling_rest(z - b);
}

/* E[max of n X] = 1 / prod_{i=1..n} (1 - 1/(i A)) = Gamma(n+1) Gamma(1-1/A) / Gamma(n+1-1/A) */
static double mean_max(const iw_law *law, double n)
{
    const double a = law->u.pareto.shape, b = 1 / a;
    double z = n + 1, shift = 1;

    if (law->u.pareto.least_ns <= 0) {
        return 0;
    }
    if (a <= 1) {
        return (double)INFINITY;
    }
    while (z < STIRLING_FROM) {
        shift *= (z - b) / z;
        z += 1;
    }
    return law->u.pareto.least_ns * shift * tgamma((a - 1) / a) * exp(log_gamma_step(z, b));
}

static double tail(const iw_law *law, double x_ns)
{
    const double least = law->u.pareto.least_ns;

    if (least <= 0) {
        return 0;
    }
    return x_ns <= least ? 1.0 : pow(least / x_ns, law->u.pareto.shape);
}

static void noise_spec(const iw_law *law, char *buf, size_t size)
{
    const double a = law->u.pareto.shape, least = law->u.pareto.least_ns;
    const double mean = a > 1 ? least * a / (a - 1) : least;

    snprintf(buf, size, "phase-pareto:%.15f,%.15g", law->work_ns > 0 ? mean / law->work_ns : 0.0, a);
}

/* min(2 [(1-f)/(f c)]^A, 2^(w/(2 tau)+2)), c = ((A-1)/A)^(1-1/A). With A <= 1 the papers have no rule: the
 * slowest of any number of ranks, of one too, has no mean. */
static double half_ranks(const iw_law *law, const iw_model_question *question, iw_doubling_rule *rule_p)
{
    const double a = law->u.pareto.shape, w = question->work_ns;
    const double network = exp2(w / (2 * question->latency_ns) + 2);
    double share;

    *rule_p = a > 1 ? IW_DOUBLING_PAPERS : IW_DOUBLING_OWN;
    if (a <= 1 || law->u.pareto.least_ns <= 0) {
        return law->u.pareto.least_ns > 0 ? 1.0 : network;
    }
    share = law->u.pareto.least_ns / w * a / (a - 1);
    return fmin(2 * pow(1 / (share * pow((a - 1) / a, 1 - 1 / a)), a), network);
}

const struct iwi_law_ops iwi_law_pareto = {
    .name = "pareto",
    .usage = "pareto:F,A",
    .example = "pareto:1%,1.5",
    .parse = parse,
    .mean_max_ns = mean_max,
    .tail = tail,
    .noise_spec = noise_spec,
    .half_ranks = half_ranks,
};

const struct iwi_law_ops iwi_law_phase_pareto = {
    .name = "phase-pareto",
    .usage = "phase-pareto:SHARE,A",
    .example = "phase-pareto:1%,1.5",
    .parse = parse_phase,
    .mean_max_ns = mean_max,
    .tail = tail,
    .half_ranks = half_ranks,
};
