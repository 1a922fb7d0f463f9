/* Heavy-tailed noise per compute phase, "phase-pareto:SHARE,A": a phase of work w gets a Pareto time more.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The time is w * SHARE * (A-1)/A * X with P(X > x) = x^-A for x >= 1; its mean is w * SHARE, so A > 1.
 */
#include <idlewave/noise.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

static iw_status parse(const iw_log *log, const char *spec, const char *arguments,
                       struct iwi_noise_source *source)
{
    struct iwi_phase_pareto *p = &source->u.phase_pareto;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_share(log, spec, fields[0], &p->share));
    if (strchr(fields[1], '%') != NULL || iw_parse_share(NULL, fields[1], &p->shape) != IW_OK ||
        p->shape <= 1) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': A is '%s', not a number above 1, without which there is no mean: write for "
                        "example '%s'",
                        spec, fields[1], source->ops->example);
    }
    return IW_OK;
}

static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    return source->u.phase_pareto.share;
}

static iw_time extra(const struct iwi_noise_source *source, struct iwi_draw_id draw, uint64_t phase,
                     iw_time work_ps)
{
    const struct iwi_phase_pareto p = source->u.phase_pareto;
    const double least_ps = (double)work_ps * p.share * (p.shape - 1) / p.shape;

    return iwi_round_ps(least_ps * pow(iwi_draw_unit(draw, phase), -1 / p.shape));
}

const struct iwi_source_ops iwi_source_phase_pareto = {
    .name = "phase-pareto",
    .usage = "phase-pareto:SHARE,A",
    .example = "phase-pareto:0.5%,1.5",
    .parse = parse,
    .share = share,
    .extra = extra,
};
