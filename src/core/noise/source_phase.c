/* Noise of compute phases: with a probability, or by an exponential or Pareto law.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/noise.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

static iw_status source_bernoulli_parse(const iw_log *log, const char *spec, const char *arguments,
                                        struct iwi_noise_source *source)
{
    struct iwi_bernoulli *b = &source->u.bernoulli;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_share(log, spec, fields[0], &b->probability));
    IW_TRY(iwi_spec_time(log, spec, fields[1], &b->extra_ps));
    if (b->probability > 1) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the probability '%s' is above 1; write a number from 0 to 1, or 0%% to 100%%",
                        spec, fields[0]);
    }
    return IW_OK;
}

/* Unknown here: it depends on the work of the phases. */
static double source_bernoulli_share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    (void)source;
    return (double)NAN;
}

static iw_time source_bernoulli_extra(const struct iwi_noise_source *source, struct iwi_draw_id draw,
                                      uint64_t phase, iw_time work_ps)
{
    (void)work_ps;
    return iwi_draw_unit(draw, phase) < source->u.bernoulli.probability ? source->u.bernoulli.extra_ps : 0;
}

const struct iwi_source_ops iwi_source_bernoulli = {
    .name = "bernoulli",
    .usage = "bernoulli:P,T",
    .example = "bernoulli:1%,2ms",
    .parse = source_bernoulli_parse,
    .share = source_bernoulli_share,
    .extra = source_bernoulli_extra,
};

/* Exponential noise per compute phase, "phase-exp:SHARE": a phase of work w gets Exp(mean SHARE * w) more. */

static iw_status source_phase_exp_parse(const iw_log *log, const char *spec, const char *arguments,
                                        struct iwi_noise_source *source)
{
    char field[1][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 1, field));
    return iwi_spec_share(log, spec, field[0], &source->u.phase_share);
}

static double source_phase_exp_share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    return source->u.phase_share;
}

static iw_time source_phase_exp_extra(const struct iwi_noise_source *source, struct iwi_draw_id draw,
                                      uint64_t phase, iw_time work_ps)
{
    return iwi_round_ps(-log(iwi_draw_unit(draw, phase)) * source->u.phase_share * (double)work_ps);
}

const struct iwi_source_ops iwi_source_phase_exp = {
    .name = "phase-exp",
    .usage = "phase-exp:SHARE",
    .example = "phase-exp:0.5%",
    .parse = source_phase_exp_parse,
    .share = source_phase_exp_share,
    .extra = source_phase_exp_extra,
};

/* Heavy-tailed noise per compute phase, "phase-pareto:SHARE,A": a phase of work w gets a Pareto time more.
 *
 * The time is w * SHARE * (A-1)/A * X with P(X > x) = x^-A for x >= 1; its mean is w * SHARE, so A > 1.
 */

static iw_status source_phase_pareto_parse(const iw_log *log, const char *spec, const char *arguments,
                                           struct iwi_noise_source *source)
{
    struct iwi_phase_pareto *p = &source->u.phase_pareto;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_share(log, spec, fields[0], &p->share));
    if (strchr(fields[1], '%') != NULL || iw_parse_share(NULL, fields[1], &p->shape) != IW_OK ||
        p->shape <= 1) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "'%s': A is '%s', not a number above 1, so the mean is infinite; write for example '%s'", spec,
            fields[1], source->ops->example);
    }
    return IW_OK;
}

static double source_phase_pareto_share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    return source->u.phase_pareto.share;
}

static iw_time source_phase_pareto_extra(const struct iwi_noise_source *source, struct iwi_draw_id draw,
                                         uint64_t phase, iw_time work_ps)
{
    const struct iwi_phase_pareto p = source->u.phase_pareto;
    const double least_ps = (double)work_ps * p.share * (p.shape - 1) / p.shape;

    return iwi_round_ps(least_ps * pow(iwi_draw_unit(draw, phase), -1 / p.shape));
}

const struct iwi_source_ops iwi_source_phase_pareto = {
    .name = "phase-pareto",
    .usage = "phase-pareto:SHARE,A",
    .example = "phase-pareto:0.5%,1.5",
    .parse = source_phase_pareto_parse,
    .share = source_phase_pareto_share,
    .extra = source_phase_pareto_extra,
};
