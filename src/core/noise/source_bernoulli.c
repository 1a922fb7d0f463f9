/* All-or-nothing noise per compute phase, "bernoulli:P,T": with probability P a phase gets T more work.
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
    struct iwi_bernoulli *b = &source->u.bernoulli;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, source->ops->usage, source->ops->example, 2, fields));
    IW_TRY(iwi_spec_share(log, spec, fields[0], &b->probability));
    IW_TRY(iwi_spec_time(log, spec, fields[1], &b->extra_ps));
    if (b->probability > 1) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the probability '%s' is above 1: write a number from 0 to 1, or 0%% to 100%%",
                        spec, fields[0]);
    }
    return IW_OK;
}

/* Unknown here: it depends on the work of the phases. */
static double share(const struct iwi_noise_source *source, uint32_t cores_per_node)
{
    (void)cores_per_node;
    (void)source;
    return (double)NAN;
}

static iw_time extra(const struct iwi_noise_source *source, struct iwi_draw_id draw, uint64_t phase,
                     iw_time work_ps)
{
    (void)work_ps;
    return iwi_draw_unit(draw, phase) < source->u.bernoulli.probability ? source->u.bernoulli.extra_ps : 0;
}

const struct iwi_source_ops iwi_source_bernoulli = {
    .name = "bernoulli",
    .usage = "bernoulli:P,T",
    .example = "bernoulli:1%,2ms",
    .parse = parse,
    .share = share,
    .extra = extra,
};
