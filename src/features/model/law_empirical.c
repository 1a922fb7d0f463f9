/* The law of values that were seen: each is drawn as often as any other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/model/law.h"

static void release(iw_law *law)
{
    free(law->u.empirical.values_ns);
}

/* x_1 + sum over i of (x_(i+1) - x_i) (1 - (i/m)^n) of ascending x_1 ... x_m */
static double mean_max(const iw_law *law, double n)
{
    const double *x = law->u.empirical.values_ns;
    const size_t count = law->u.empirical.count;
    double sum = x[0];

    for (size_t i = 1; i < count; i++) {
        sum += (x[i] - x[i - 1]) * iwi_exceeded_by_one_of(n, (double)(count - i) / (double)count);
    }
    return sum;
}

static double tail(const iw_law *law, double x_ns)
{
    const double *x = law->u.empirical.values_ns;
    size_t low = 0, high = law->u.empirical.count; /* x[low - 1] <= x_ns < x[high] */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (x[middle] <= x_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (double)(law->u.empirical.count - low) / (double)law->u.empirical.count;
}

const struct iwi_law_ops iwi_law_empirical = {
    .name = "empirical",
    .release = release,
    .mean_max_ns = mean_max,
    .tail = tail,
};

static iw_status check_values(const iw_log *log, const double *values_ns, size_t count)
{
    if (count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "no values, so there is no law of them");
    }
    for (size_t i = 0; i < count; i++) {
        if (!(values_ns[i] >= 0) || isinf(values_ns[i])) {
            return iwi_fail(log, IW_ERR_RANGE, "value %zu is %g ns; noise adds a time of at least 0", i,
                            values_ns[i]);
        }
    }
    return IW_OK;
}

iw_status iw_law_new_empirical(const iw_log *log, const double *values_ns, size_t count, iw_law **law_p)
{
    iw_law *law;

    IW_TRY(check_values(log, values_ns, count));
    law = iwi_new_array(log, 1, sizeof *law);
    if (law == NULL) {
        return IW_ERR_NOMEM;
    }
    law->ops = &iwi_law_empirical;
    law->u.empirical.count = count;
    law->u.empirical.values_ns = iwi_new_array(log, count, sizeof *values_ns);
    if (law->u.empirical.values_ns == NULL) {
        free(law);
        return IW_ERR_NOMEM;
    }
    memcpy(law->u.empirical.values_ns, values_ns, count * sizeof *values_ns);
    iwi_sort_doubles(law->u.empirical.values_ns, count);
    *law_p = law;
    return IW_OK;
}
