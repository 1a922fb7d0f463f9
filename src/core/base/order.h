/* Comparing numbers and texts, for qsort() and for keys of several parts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ORDER_H
#define IWI_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Negative, 0 or positive, as compare functions have it. */
static inline int iwi_order(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

/* The same of times and other signed numbers. */
static inline int iwi_order_signed(int64_t left, int64_t right)
{
    return (left > right) - (left < right);
}

/* NULL is as "". */
static inline int iwi_order_texts(const char *left, const char *right)
{
    return strcmp(left != NULL ? left : "", right != NULL ? right : "");
}

/* Of two doubles, for qsort(). */
static inline int iwi_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline void iwi_sort_doubles(double *values, size_t count)
{
    if (count > 1) { /* of none there may be no array */
        qsort(values, count, sizeof *values, iwi_compare_doubles);
    }
}

/* Of two uint32_t, for qsort(). */
static inline int iwi_compare_u32(const void *a, const void *b)
{
    return iwi_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Of two int64_t, such as times. */
static inline int iwi_compare_i64(const void *a, const void *b)
{
    return iwi_order_signed(*(const int64_t *)a, *(const int64_t *)b);
}

#endif
