/* What tests of laws share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_LAW_TESTING_H
#define IWT_LAW_TESTING_H

#include <math.h>

#include <idlewave/model.h>

#include "support/support.h"

#define MS 1e6

static inline iw_law *make(const char *spec, double work_ns)
{
    struct iwt_log l;
    iw_law *law = NULL;

    iwt_log_init(&l);
    assert_ok(iw_law_new(&l.log, spec, work_ns, &law));
    assert_string_equal(l.text, "");
    return law;
}

static inline void assert_close(double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected))) {
        fail_msg("%.17g is not %.17g within %g", got, expected, relative);
    }
}

static inline double mean_max(const char *spec, double work_ns, double n)
{
    iw_law *law = make(spec, work_ns);
    const double mean = iw_law_mean_max_ns(law, n);

    iw_law_free(law);
    return mean;
}

#endif
