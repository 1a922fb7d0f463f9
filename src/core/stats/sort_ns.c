/* Sorts times in linear time: by digits, the lowest first.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/sort_ns.h"

#include <string.h>

#include "core/base/base.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static size_t digit_of(int64_t value, unsigned shift)
{
    return ((uint64_t)value >> shift) & (DIGITS - 1);
}

static void sort_by_digit(const int64_t *from, int64_t *to, size_t count, unsigned shift)
{
    size_t place[DIGITS] = {0}, next = 0;

    for (size_t i = 0; i < count; i++) {
        place[digit_of(from[i], shift)]++;
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        const size_t own = place[digit];

        place[digit] = next;
        next += own;
    }
    for (size_t i = 0; i < count; i++) {
        to[place[digit_of(from[i], shift)]++] = from[i];
    }
}

void iwi_sort_ns(int64_t *values, int64_t *scratch, size_t count)
{
    int64_t *from = values, *to = scratch;
    int64_t largest = 0;

    for (size_t i = 0; i < count; i++) {
        largest = iwi_max(largest, values[i]);
    }
    for (unsigned shift = 0; shift < 63 && largest >> shift > 0; shift += DIGIT_BITS) {
        int64_t *sorted = to;

        sort_by_digit(from, sorted, count, shift);
        to = from;
        from = sorted;
    }
    if (from != values) {
        memcpy(values, from, count * sizeof *values);
    }
}
