/* What periodic detours take from a phase of work that begins at any time, "periodic:RATE,TIME".
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The next detour begins s after the start of the phase, s uniform in (-D, T - D): below 0 it is under way,
 * and D + s of it are left. Undisturbed time between detours is A = T - D, the work w = q A + r, 0 < r <= A.
 *     s < 0:       D + s, and q whole ones
 *     0 <= s < r:  q + 1 whole ones
 *     r <= s:      q whole ones
 * (docs/explanation/semantics.md, rule 6: those that begin while work is stretched count.) So F(qD + y) = (A
 * - r + y)/T for 0 <= y < D, and 1 at y = D. The integral of F^n over y is elementary.
 */
#include <math.h>

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "features/model/law.h"

static iw_status parse(const iw_log *log, const char *spec, const char *arguments, iw_law *law)
{
    struct iwi_law_periodic *p = &law->u.periodic;
    char fields[2][IWI_FIELD_SIZE];
    iw_time period_ps, duration_ps;
    double free_ns;

    IW_TRY(iwi_spec_split(log, spec, arguments, law->ops->usage, law->ops->example, 2, fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &period_ps));
    IW_TRY(iwi_spec_time(log, spec, fields[1], &duration_ps));
    if (duration_ps >= period_ps) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the detours fill the whole period: use a shorter duration, or a lower rate",
                        spec);
    }
    free_ns = (double)(period_ps - duration_ps) / (double)IW_PS_PER_NS;
    p->period_ns = (double)period_ps / (double)IW_PS_PER_NS;
    p->duration_ns = (double)duration_ps / (double)IW_PS_PER_NS;
    p->whole = fmax(ceil(law->work_ns / free_ns) - 1, 0);
    p->rest_ns = law->work_ns - p->whole * free_ns;
    return IW_OK;
}

/* qD + D - T/(n+1) [(1 - r/T)^(n+1) - (1 - (r+D)/T)^(n+1)] */
static double mean_max(const iw_law *law, double n)
{
    const struct iwi_law_periodic *p = &law->u.periodic;
    const double above_all = iwi_exceeded_by_one_of(n + 1, p->rest_ns / p->period_ns);
    const double above_none = iwi_exceeded_by_one_of(n + 1, (p->rest_ns + p->duration_ns) / p->period_ns);

    if (p->rest_ns <= 0) {
        return 0;
    }
    return (p->whole + 1) * p->duration_ns - p->period_ns / (n + 1) * (above_none - above_all);
}

static double tail(const iw_law *law, double x_ns)
{
    const struct iwi_law_periodic *p = &law->u.periodic;
    const double y = x_ns - p->whole * p->duration_ns;

    if (p->rest_ns <= 0) {
        return 0;
    }
    if (y < 0) {
        return 1;
    }
    return y < p->duration_ns ? (p->rest_ns + p->duration_ns - y) / p->period_ns : 0.0;
}

const struct iwi_law_ops iwi_law_periodic = {
    .name = "periodic",
    .usage = "periodic:RATE,TIME",
    .example = "periodic:10Hz,220us",
    .parse = parse,
    .mean_max_ns = mean_max,
    .tail = tail,
};
