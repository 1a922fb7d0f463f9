/* Quantiles without sorting.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/select.h"

#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"

double iwi_select_quantile(double *values, size_t count, double q)
{
    const double position = q * (double)(count - 1);
    const size_t index = (size_t)position;
    const double low = iwi_select(values, count, index);
    double high = INFINITY;

    if (position == (double)index) {
        return low;
    }
    for (size_t i = index + 1; i < count; i++) { /* what is not smaller stands behind what was selected */
        high = values[i] < high ? values[i] : high;
    }
    return low + (position - (double)index) * (high - low);
}
