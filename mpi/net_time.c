/* The clock that pairs of ranks are timed by, and medians of what it says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/monotonic.h"
#include "core/base/order.h"
#include "mpi/net.h"

int64_t iwi_net_now_ns(void)
{
    return iwi_now_ns();
}

double iwi_pair_median(double *values, size_t count)
{
    iwi_sort_doubles(values, count);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

double iwi_net_clock_cost_ns(void)
{
    double costs[IWI_MOST_BATCH];

    for (size_t i = 0; i < IWI_MOST_BATCH; i++) {
        const int64_t start_ns = iwi_net_now_ns();

        for (int k = 0; k < 16; k++) {
            (void)iwi_net_now_ns();
        }
        costs[i] = (double)(iwi_net_now_ns() - start_ns) / 17;
    }
    return iwi_pair_median(costs, IWI_MOST_BATCH);
}
