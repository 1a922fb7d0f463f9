/* The order in which a wait serves its messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/base.h"
#include "sim/engine.h"

static int compare_arrivals(const void *left, const void *right)
{
    const struct iwi_arrival *a = left;
    const struct iwi_arrival *b = right;

    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* Insertion: best for the usual few. */
static void sort_few(struct iwi_arrival *arrivals, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        const struct iwi_arrival moving = arrivals[k];
        size_t hole = k;

        while (hole > 0 && compare_arrivals(&arrivals[hole - 1], &moving) > 0) {
            arrivals[hole] = arrivals[hole - 1];
            hole--;
        }
        arrivals[hole] = moving;
    }
}

void iwi_sort_arrivals(struct iwi_arrival *arrivals, size_t count)
{
    enum { FEW = 24 };

    if (count <= FEW) {
        sort_few(arrivals, count);
    } else {
        qsort(arrivals, count, sizeof *arrivals, compare_arrivals);
    }
}
