/* Finds pairs of ranks that are slower than the others of their kind.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/order.h"
#include "features/network/net_fit.h"

static double median_of(const iw_net_link *links, size_t count, bool is_inside, bool is_small,
                        double *scratch)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (links[i].is_inside == is_inside) {
            scratch[found++] = is_small ? links[i].small_ns : links[i].large_ns;
        }
    }
    iwi_sort_doubles(scratch, found);
    return found == 0 ? 0 : scratch[(found - 1) / 2];
}

void iwi_net_link_medians(const iw_net_link *links, size_t count, bool is_inside, double *scratch,
                          double *small_ns, double *large_ns)
{
    *small_ns = median_of(links, count, is_inside, true, scratch);
    *large_ns = median_of(links, count, is_inside, false, scratch);
}

bool iwi_net_is_slow(double ns, double value_ns)
{
    return value_ns > 0 && ns > IWI_NET_SLOW * value_ns;
}
