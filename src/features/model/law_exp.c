/* Exponential noise: "exp:F", F the share of all time, and "phase-exp:SHARE" of simulations, share of the
 * work.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "core/numeric/numeric.h"
#include "features/model/law.h"

static const double EULER = 0.57721566490153286;

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    char field[1][IWI_FIELD_SIZE];
    double share;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 1, field));
    IW_TRY(iwi_law_share_of_time(log, spec, field[0], &share));
    law->u.exp.mean_ns = share * law->work_ns;
    return IW_OK;
}

static iw_status parse_phase(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    char field[1][IWI_FIELD_SIZE];
    double share;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 1, field));
    IW_TRY(iwi_spec_share(log, spec, field[0], &share));
    law->u.exp.mean_ns = share * law->work_ns;
    return IW_OK;
}

/* H_n = digamma(n + 1) + Euler's constant */
static double mean_max(const iw_law *law, double n)
{
    return law->u.exp.mean_ns * (iwi_digamma(n + 1) + EULER);
}

static double tail(const iw_law *law, double x_ns)
{
    return law->u.exp.mean_ns > 0 ? exp(-x_ns / law->u.exp.mean_ns) : 0.0;
}

static void noise_spec(const iw_law *law, char *buf, size_t size)
{
    snprintf(buf, size, "phase-exp:%.15f", law->work_ns > 0 ? law->u.exp.mean_ns / law->work_ns : 0.0);
}

/* exp(1 / (f/(1-f) + 2 tau / (w ln 2))) */
static double half_ranks(const iw_law *law, const iw_model_question *question, iw_doubling_rule *rule_p)
{
    const double w = question->work_ns;

    *rule_p = IW_DOUBLING_PAPERS;
    return exp(1 / (law->u.exp.mean_ns / w + 2 * question->latency_ns / (w * M_LN2)));
}

const struct iwi_law_ops iwi_law_exp = {
    .name = "exp",
    .usage = "exp:F",
    .example = "exp:1%",
    .parse = parse,
    .mean_max_ns = mean_max,
    .tail = tail,
    .noise_spec = noise_spec,
    .half_ranks = half_ranks,
};

const struct iwi_law_ops iwi_law_phase_exp = {
    .name = "phase-exp",
    .usage = "phase-exp:SHARE",
    .example = "phase-exp:1%",
    .parse = parse_phase,
    .mean_max_ns = mean_max,
    .tail = tail,
    .half_ranks = half_ranks,
};
