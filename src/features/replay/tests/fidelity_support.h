/* Has iw_fidelity_compare() judge made recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FIDELITY_SUPPORT_H
#define IWT_FIDELITY_SUPPORT_H

#include <idlewave/internal/fidelity.h>

#include <math.h>

#include "support/made_recording.h"
#include "support/support.h"

#define SECOND_NS INT64_C(1000000000)

enum { NO_SOURCE = 0 };

static inline iw_fidelity judged(const iw_recording *expected, const iw_recording *observed,
                                 const iw_recording *host, double time_scale)
{
    const iw_fidelity_inputs inputs = {.expected = &expected->cpus[0],
                                       .observed = &observed->cpus[0],
                                       .host = &host->cpus[0],
                                       .time_scale = time_scale,
                                       .floor_ns = 2000.0};
    iw_fidelity fidelity;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_ok(iw_fidelity_compare(&l.log, &inputs, &fidelity));
    assert_string_equal(l.text, "");
    return fidelity;
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.12g instead of %.12g", value, expected);
    }
}

#endif
