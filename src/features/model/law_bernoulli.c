/* All-or-nothing noise, "bernoulli:P,TIME": with probability P a phase takes TIME longer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "features/model/law.h"

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    char fields[2][IWI_FIELD_SIZE];
    iw_time time_ps;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 2, fields));
    IW_TRY(iwi_spec_share(log, spec, fields[0], &law->u.bernoulli.probability));
    IW_TRY(iwi_spec_time(log, spec, fields[1], &time_ps));
    if (law->u.bernoulli.probability > 1) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the probability '%s' is above 1: use 0 to 1, or 0%% to 100%%", spec,
                        fields[0]);
    }
    law->u.bernoulli.time_ns = (double)time_ps / (double)IW_PS_PER_NS;
    return IW_OK;
}

static double mean_max(const iw_law *law, double n)
{
    return law->u.bernoulli.time_ns * iwi_exceeded_by_one_of(n, law->u.bernoulli.probability);
}

static double tail(const iw_law *law, double x_ns)
{
    return x_ns < law->u.bernoulli.time_ns ? law->u.bernoulli.probability : 0.0;
}

/* 2/f, f = p T / (w + p T) the share of all time: where the linear rise p T N / 2 has reached w. The papers
 * do not say that this takes T >= w. Shorter detours alone never double the work; ours is where they and the
 * network do together: N + 1 = 2^((w - T)/(2 tau)), without noise the papers' 2^(w/(2 tau)). */
static double half_ranks(const iw_law *law, const iw_model_question *question, iw_doubling_rule *rule_p)
{
    const double w = question->work_ns, lost = law->u.bernoulli.probability * law->u.bernoulli.time_ns;

    *rule_p = lost > 0 && law->u.bernoulli.time_ns < w ? IW_DOUBLING_OWN : IW_DOUBLING_PAPERS;
    if (law->u.bernoulli.time_ns < w || lost <= 0) {
        return exp2((w - (lost > 0 ? law->u.bernoulli.time_ns : 0)) / (2 * question->latency_ns)) - 1;
    }
    return 2 * (w + lost) / lost;
}

const struct iwi_law_ops iwi_law_bernoulli = {
    .name = "bernoulli",
    .usage = "bernoulli:P,TIME",
    .example = "bernoulli:1%,2ms",
    .parse = parse,
    .mean_max_ns = mean_max,
    .tail = tail,
    .half_ranks = half_ranks,
};
