/* How far two samples are apart.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DISTANCES_H
#define IWI_DISTANCES_H

#include <stddef.h>
#include <stdint.h>

/* Kolmogorov and Smirnov's distance and Wasserstein's of first order; both have something. */
void iwi_sorted_distances(const int64_t *a_ns, size_t count_a, const int64_t *b_ns, size_t count_b,
                          double *ks_p, double *wasserstein_ns_p);

#endif
