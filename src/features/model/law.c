/* Laws of the time that noise adds to a phase: the table, reading specs, asking.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "features/model/law.h"

static const struct iwi_law_ops *const kinds[] = {
    &iwi_law_exp,       &iwi_law_pareto,       &iwi_law_bernoulli, &iwi_law_periodic,
    &iwi_law_phase_exp, &iwi_law_phase_pareto, &iwi_law_poisson,   &iwi_law_none,
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static iw_status unknown_law(const iw_log *log, const char *spec)
{
    char usages[256] = "";

    for (size_t i = 0; i < KIND_COUNT; i++) {
        const size_t used = strlen(usages);

        snprintf(usages + used, sizeof usages - used, "%s%s", i > 0 ? ", " : "", kinds[i]->usage);
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a law of noise: use one of %s", spec, usages);
}

static iw_status parse_with(const iw_log *log, const struct iwi_law_ops *ops, const char *spec,
                            const char *arguments, double work_ns, iw_law **law_p)
{
    iw_law *law = iwi_new_array(log, 1, sizeof *law);
    iw_status status;

    if (law == NULL) {
        return IW_ERR_NOMEM;
    }
    law->ops = ops;
    law->work_ns = work_ns;
    status = ops->parse(log, spec, arguments, law);
    if (status != IW_OK) {
        free(law);
        return status;
    }
    *law_p = law;
    return IW_OK;
}

/* What stands behind "name:", or "" of a law without parameters; NULL: it is another law. */
static const char *arguments_of(const struct iwi_law_ops *ops, const char *spec)
{
    if (strcmp(ops->usage, ops->name) == 0) {
        return strcmp(spec, ops->name) == 0 ? "" : NULL;
    }
    return iwi_spec_arguments(spec, ops->name);
}

iw_status iw_law_new(const iw_log *log, const char *spec, double work_ns, iw_law **law_p)
{
    if (!(work_ns >= 0) || isinf(work_ns)) {
        return iwi_fail(log, IW_ERR_RANGE, "the work of a phase is %g ns: it must not be negative", work_ns);
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const char *arguments = arguments_of(kinds[i], spec);

        if (arguments != NULL) {
            return parse_with(log, kinds[i], spec, arguments, work_ns, law_p);
        }
    }
    return unknown_law(log, spec);
}

void iw_law_free(iw_law *law)
{
    free(law);
}

double iw_law_mean_max_ns(const iw_law *law, double n)
{
    return law->ops->mean_max_ns != NULL ? law->ops->mean_max_ns(law, n) : iwi_law_integrate(law, n);
}

const char *iw_law_noise_spec(const iw_law *law, const char *spec, char *buf, size_t size)
{
    if (law->ops->noise_spec == NULL) {
        return spec;
    }
    law->ops->noise_spec(law, buf, size);
    return buf;
}

double iw_law_cdf(const iw_law *law, double x_ns)
{
    return x_ns < 0 ? 0.0 : 1.0 - law->ops->tail(law, x_ns);
}
