/* How long detours are, from a digest's numbers of them by powers of two.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/digest.h>

#include <math.h>

/* Within a bin detours are taken to be spread evenly on a logarithmic scale. */
static double quantile(const uint64_t by_length[IW_DIGEST_LENGTHS], double count, double q)
{
    double before = 0.0;

    for (int bin = 0; bin < IW_DIGEST_LENGTHS; bin++) {
        const double here = (double)by_length[bin];

        if (here > 0.0 && before + here >= q * count) {
            return exp2(bin + (q * count - before) / here);
        }
        before += here;
    }
    return 0.0;
}

iw_detour_lengths iw_digest_lengths(const uint64_t by_length[IW_DIGEST_LENGTHS], double longest_ns)
{
    double count = 0.0;

    for (size_t bin = 0; bin < IW_DIGEST_LENGTHS; bin++) {
        count += (double)by_length[bin];
    }
    return (iw_detour_lengths){fmin(quantile(by_length, count, 0.5), longest_ns),
                               fmin(quantile(by_length, count, 0.99), longest_ns), longest_ns};
}
