/* The order in which a wait serves its messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/engine.h"

static bool is_before(const struct iwi_arrival *a, const struct iwi_arrival *b)
{
    return a->time < b->time || (a->time == b->time && a->index < b->index);
}

IWI_COMPARE(compare_arrivals, struct iwi_arrival, IWI_RISING(time), IWI_RISING(index))

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
        iwi_sort(arrivals, count, compare_arrivals);
    }
}

/* Both in order, `late` without room behind it; into `arrivals`, which begins with the first. */
static void merge(struct iwi_arrival *arrivals, size_t kept, const struct iwi_arrival *late, size_t count)
{
    while (count > 0) {
        const bool is_kept = kept > 0 && is_before(&late[count - 1], &arrivals[kept - 1]);

        arrivals[kept + count - 1] = is_kept ? arrivals[kept - 1] : late[count - 1];
        kept -= is_kept;
        count -= !is_kept;
    }
}

/* Those that are in order stay; the others are sorted alike and merged. One that is too late for all that
 * come after it goes, and not these. */
static void sort_rising(struct iwi_arrival *arrivals, size_t count, struct iwi_arrival *scratch, size_t room)
{
    enum { FEW = 24 };
    size_t kept = 0, out = 0;

    if (count <= FEW || count > room) {
        iwi_sort_arrivals(arrivals, count);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct iwi_arrival now = arrivals[k];

        if (kept == 0 || !is_before(&now, &arrivals[kept - 1])) {
            arrivals[kept++] = now;
        } else if (kept > 1 && !is_before(&now, &arrivals[kept - 2])) {
            scratch[out++] = arrivals[kept - 1];
            arrivals[kept - 1] = now;
        } else {
            scratch[out++] = now;
        }
    }
    sort_rising(scratch, out, scratch + out, room - out);
    merge(arrivals, kept, scratch, out);
}

void iwi_sort_by_lines(struct iwi_arrival *arrivals, size_t count, struct iwi_arrival *scratch)
{
    sort_rising(arrivals, count, scratch, IWI_SORT_ROOM * count);
}
