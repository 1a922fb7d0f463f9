/* Distances of samples.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/distances.h"

#include <math.h>

#include "core/base/base.h"

/* Exact, by one walk over the durations of both. */
void iwi_sorted_distances(const int64_t *a_ns, size_t count_a, const int64_t *b_ns, size_t count_b,
                          double *ks_p, double *wasserstein_ns_p)
{
    size_t i = 0, j = 0;
    double ks = 0.0, area = 0.0;

    while (i < count_a || j < count_b) {
        const int64_t next_a = i < count_a ? a_ns[i] : INT64_MAX;
        const int64_t next_b = j < count_b ? b_ns[j] : INT64_MAX;
        const int64_t here = iwi_min(next_a, next_b);
        double apart;
        int64_t next;

        while (i < count_a && a_ns[i] == here) {
            i++;
        }
        while (j < count_b && b_ns[j] == here) {
            j++;
        }
        apart = fabs((double)i / (double)count_a - (double)j / (double)count_b);
        next = iwi_min(i < count_a ? a_ns[i] : INT64_MAX, j < count_b ? b_ns[j] : INT64_MAX);
        ks = fmax(ks, apart);
        area += next < INT64_MAX ? apart * (double)(next - here) : 0.0;
    }
    *ks_p = ks;
    *wasserstein_ns_p = area;
}
