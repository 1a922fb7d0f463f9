/* Quantiles of laws on the positive numbers, by search.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SEARCH_H
#define IWI_SEARCH_H

struct iwi_searched {
    const void *law;
    double (*share)(const void *law, double x, int is_above);
    double (*density)(const void *law, double x);
};

/* Where the share above (or below) is `chance`, 0 < chance < 1; guess > 0. */
double iwi_search_quantile(const struct iwi_searched *of, double chance, int is_above, double guess);

#endif
