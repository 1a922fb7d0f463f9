/* Comparing with the GNU Scientific Library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_COMPARE_H
#define IWT_COMPARE_H

#include <math.h>

#include "support/support.h"

#define CLOSE 2e-13

/* As far apart as `tolerance` of the larger one; what is below all doubles counts as equal. */
#define assert_near(ours, theirs, tolerance)                                                                \
    do {                                                                                                    \
        const double ours_ = (ours), theirs_ = (theirs);                                                    \
                                                                                                            \
        if (!(fabs(ours_ - theirs_) <= (tolerance)*fmax(fabs(ours_), fabs(theirs_)) + 1e-300)) {            \
            fail_msg("%s is %.17g, not %.17g (off by %.2g)", #ours, ours_, theirs_, ours_ / theirs_ - 1.0); \
        }                                                                                                   \
    } while (0)

#endif
