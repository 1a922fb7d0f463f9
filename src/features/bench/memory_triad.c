/* The triad. A file of its own, so that every build optimises it alike.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/bench/memory_measure.h"

#include "core/base/base.h"

IWI_UNTOUCHED void iwi_triad(double *restrict a, const double *restrict b, const double *restrict c,
                             size_t count)
{
    const double factor = 3.0;

    for (size_t i = 0; i < count; i++) {
        a[i] = b[i] + factor * c[i];
    }
}
