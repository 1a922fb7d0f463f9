/* Sums, quantiles and selecting.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/numeric/numeric.h"

double iwi_sum(const double *values, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

double iwi_mean(const double *values, size_t count)
{
    return iwi_sum(values, count) / (double)count;
}

double iwi_quantile_of_sorted(const double *sorted, size_t count, double q)
{
    const double position = count > 0 ? q * (double)(count - 1) : 0.0;
    const size_t index = (size_t)position;
    const double part = position - (double)index;

    if (count == 0) {
        return (double)NAN;
    }
    return index + 1 == count ? sorted[index] : (1.0 - part) * sorted[index] + part * sorted[index + 1];
}

static void swap(double *a, double *b)
{
    const double kept = *a;

    *a = *b;
    *b = kept;
}

/* The middle one of the first, the middle and the last value goes to the front. */
static void choose_pivot(double *values, size_t first, size_t last)
{
    const size_t middle = first + (last - first) / 2;

    if (values[middle] > values[last]) {
        swap(&values[middle], &values[last]);
    }
    if (values[first] > values[last]) {
        swap(&values[first], &values[last]);
    }
    if (values[middle] > values[first]) {
        swap(&values[middle], &values[first]);
    }
}

/* Hoare's FIND. */
double iwi_select(double *values, size_t count, size_t index)
{
    size_t first = 0, last = count - 1;

    while (first < last) {
        size_t i = first, j = last + 1;
        double pivot;

        choose_pivot(values, first, last);
        pivot = values[first];
        for (;;) {
            do {
                i++;
            } while (i < last && values[i] < pivot);
            do {
                j--;
            } while (values[j] > pivot);
            if (i >= j) {
                break;
            }
            swap(&values[i], &values[j]);
        }
        swap(&values[first], &values[j]);
        if (j == index) {
            break;
        }
        if (j < index) {
            first = j + 1;
        } else {
            last = j - 1;
        }
    }
    return values[index];
}

double iwi_median(double *values, size_t count)
{
    const double upper = iwi_select(values, count, count / 2);
    double lower;

    if (count % 2 != 0) {
        return upper;
    }
    lower = values[0]; /* the largest before it */
    for (size_t i = 1; i < count / 2; i++) {
        lower = fmax(lower, values[i]);
    }
    return (lower + upper) / 2;
}
