/* Exponential noise per compute phase, "phase-exp:SHARE": a phase of work w gets Exp(mean SHARE * w) more.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise.h>

#include <math.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

static iw_status parse(const iw_log *log, const char *spec, const char *arguments,
                       struct iwi_noise_source *source)
{
    char field[1][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 1, field));
    return iwi_spec_share(log, spec, field[0], &source->u.phase_share);
}

static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    return source->u.phase_share;
}

static iw_time extra(const struct iwi_noise_source *source, struct iwi_draw_id draw, uint64_t phase,
                     iw_time work_ps)
{
    return iwi_round_ps(-log(iwi_draw_unit(draw, phase)) * source->u.phase_share * (double)work_ps);
}

const struct iwi_source_ops iwi_source_phase_exp = {
    .name = "phase-exp",
    .usage = "phase-exp:SHARE",
    .example = "phase-exp:0.5%",
    .parse = parse,
    .share = share,
    .extra = extra,
};
