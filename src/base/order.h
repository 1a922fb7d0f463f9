/* Comparing numbers and texts, for qsort() and for keys of several parts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ORDER_H
#define IWI_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Negative, 0 or positive, as compare functions have it. */
static inline int iwi_order(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

/* NULL is as "". */
static inline int iwi_order_texts(const char *left, const char *right)
{
    return strcmp(left != NULL ? left : "", right != NULL ? right : "");
}

/* Of two uint32_t, for qsort(). */
static inline int iwi_compare_u32(const void *a, const void *b)
{
    return iwi_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

#endif
