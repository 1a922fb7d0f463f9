/* Sorting of times in linear time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SORT_NS_H
#define IWI_SORT_NS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts values of at least 0; `scratch` has room for as many. Linear time. */
void iwi_sort_ns(int64_t *values, int64_t *scratch, size_t count);

#endif
