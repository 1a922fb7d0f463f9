/* No noise, "none": what the network alone does to a phase, to compare with.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/model/law.h"

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    (void)log;
    (void)spec;
    (void)arguments;
    (void)law;
    return IW_OK;
}

static double mean_max(const iw_law *law, double n)
{
    (void)law;
    (void)n;
    return 0.0;
}

static double tail(const iw_law *law, double x_ns)
{
    (void)law;
    (void)x_ns;
    return 0.0;
}

/* N + 1 = 2^(w/(2 tau)) */
static double half_ranks(const iw_law *law, const iw_model_question *question, iw_doubling_rule *rule_p)
{
    (void)law;
    *rule_p = IW_DOUBLING_PAPERS;
    return exp2(question->work_ns / (2 * question->latency_ns)) - 1;
}

const struct iwi_law_ops iwi_law_none = {
    .name = "none",
    .usage = "none",
    .example = "none",
    .parse = parse,
    .mean_max_ns = mean_max,
    .tail = tail,
    .half_ranks = half_ranks,
};
