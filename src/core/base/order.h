/* Comparing, sorting and searching.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     IWI_COMPARE(compare_visits, struct iwi_visit, IWI_RISING(group), IWI_FALLING(bytes), IWI_TEXT(name))
 *
 * is a function for iwi_sort() and bsearch(): the first key in which two visits differ decides. A key is any
 * int of `left` and `right` as strcmp() returns it; there may be eight.
 *
 *     IWI_FIRST_NOT(at, 0, count, ends_ps[at] <= time_ps)
 *
 * is a binary search: the first `at` from 0 on for which the condition does not hold, count if it always
 * does. It holds for none behind one for which it does not.
 */
#ifndef IWI_ORDER_H
#define IWI_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IWI_COMPARE(name, type, ...)                               \
    static int name(const void *left_item, const void *right_item) \
    {                                                              \
        const type *const left = left_item;                        \
        const type *const right = right_item;                      \
        int sign;                                                  \
                                                                   \
        IWI_FIRST_KEY(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)         \
        return sign;                                               \
    }
#define IWI_FIRST_KEY(k1, k2, k3, k4, k5, k6, k7, k8, ...)                                         \
    (void)((sign = (k1)) != 0 || (sign = (k2)) != 0 || (sign = (k3)) != 0 || (sign = (k4)) != 0 || \
           (sign = (k5)) != 0 || (sign = (k6)) != 0 || (sign = (k7)) != 0 || (sign = (k8)) != 0);

#define IWI_RISING(member) IWI_ORDER(left->member, right->member)
#define IWI_FALLING(member) IWI_ORDER(right->member, left->member)
#define IWI_TEXT(member) strcmp(left->member, right->member)

/* Negative, 0 or positive, of any two numbers. */
#define IWI_ORDER(left, right) (((left) > (right)) - ((left) < (right)))

#define IWI_FIRST_NOT(at, from, to, condition) \
    do {                                       \
        size_t low_ = (from), high_ = (to);    \
                                               \
        while (low_ < high_) {                 \
            (at) = low_ + (high_ - low_) / 2;  \
            if (condition) {                   \
                low_ = (at) + 1;               \
            } else {                           \
                high_ = (at);                  \
            }                                  \
        }                                      \
        (at) = low_;                           \
    } while (0)

/* Of none there may be no array. Items may be pointers: NOLINTNEXTLINE(bugprone-sizeof-expression) */
#define iwi_sort(array, count, compare) iwi_sort_items(array, count, sizeof *(array), compare)

static inline void iwi_sort_items(void *items, size_t count, size_t size,
                                  int (*compare)(const void *, const void *))
{
    if (count > 1) {
        qsort(items, count, size, compare);
    }
}

/* The item that equals `key`, one of them itself, or NULL. NOLINTNEXTLINE(bugprone-sizeof-expression) */
#define iwi_find(key, array, count, compare) iwi_find_item(key, array, count, sizeof *(array), compare)

static inline void *iwi_find_item(const void *key, const void *items, size_t count, size_t size,
                                  int (*compare)(const void *, const void *))
{
    return count > 0 ? bsearch(key, items, count, size, compare) : NULL;
}

/* Negative, 0 or positive, as compare functions have it. */
static inline int iwi_order(uint64_t left, uint64_t right)
{
    return IWI_ORDER(left, right);
}

/* The same of times and other signed numbers. */
static inline int iwi_order_signed(int64_t left, int64_t right)
{
    return IWI_ORDER(left, right);
}

/* NULL is as "". */
static inline int iwi_order_texts(const char *left, const char *right)
{
    return strcmp(left != NULL ? left : "", right != NULL ? right : "");
}

static inline int iwi_compare_doubles(const void *a, const void *b)
{
    return IWI_ORDER(*(const double *)a, *(const double *)b);
}

static inline void iwi_sort_doubles(double *values, size_t count)
{
    iwi_sort(values, count, iwi_compare_doubles);
}

static inline int iwi_compare_u32(const void *a, const void *b)
{
    return IWI_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int iwi_compare_u64(const void *a, const void *b)
{
    return IWI_ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int iwi_compare_i64(const void *a, const void *b)
{
    return IWI_ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

#endif
