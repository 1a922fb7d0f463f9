/* Medians of rounds, with intervals.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/order.h"
#include "features/network/net_fit.h"

iw_estimate iwi_net_median(const double *values, size_t count)
{
    double sorted[IWI_NET_ROUNDS_MAX];
    const double reach = 0.98 * sqrt((double)count); /* 1.96 / 2: half the values lie below, give or take */
    const double low = floor((double)count / 2 - reach), high = ceil((double)count / 2 + reach);
    const size_t low_index = low < 1 ? 0 : (size_t)low - 1;
    const size_t high_index = high > (double)count - 1 ? count - 1 : (size_t)high;

    memcpy(sorted, values, count * sizeof *sorted);
    iwi_sort_doubles(sorted, count);
    return (iw_estimate){.value = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]),
                         .low = sorted[low_index],
                         .high = sorted[high_index]};
}

bool iwi_net_is_narrow(const iw_estimate *value, double share)
{
    return fmax(value->high - value->value, value->value - value->low) <= share * fabs(value->value);
}
