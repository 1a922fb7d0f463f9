/* Quantiles without sorting.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SELECT_H
#define IWI_SELECT_H

#include <stddef.h>

/* Quantile q of `count` > 0 values, defined as iw_quantile_sorted(); reorders them. Linear time. */
double iwi_select_quantile(double *values, size_t count, double q);

#endif
