/* How much longer pieces of equal work take than their neighbours: what interrupts them, whatever the clock
 * rate.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_CHUNK_TIMES_H
#define IWT_CHUNK_TIMES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Chunks that are compared with each other; and how much longer one can be by interrupts: where it is even
 * longer, the hypervisor had the CPU. */
enum { CHUNK_WINDOW = 64, CHUNK_LONGEST_INTERRUPT_NS = 200000 };

struct chunk_sums {
    int64_t plain_ns; /* what chunks take that nothing interrupts, each the median of its window */
    int64_t beyond_ns;
    size_t left_out;
};

static inline int64_t chunk_now_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int chunk_by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static inline void chunk_add_window(const int64_t *window, struct chunk_sums *sums)
{
    int64_t sorted[CHUNK_WINDOW], median;

    memcpy(sorted, window, sizeof sorted);
    qsort(sorted, CHUNK_WINDOW, sizeof sorted[0], chunk_by_size);
    median = sorted[CHUNK_WINDOW / 2];
    for (size_t i = 0; i < CHUNK_WINDOW; i++) {
        if (window[i] > median + CHUNK_LONGEST_INTERRUPT_NS) {
            sums->left_out++;
        } else {
            sums->plain_ns += median;
            sums->beyond_ns += window[i] - median;
        }
    }
}

/* Of whole windows. */
static inline struct chunk_sums chunk_sums_of(const int64_t *times_ns, size_t count)
{
    struct chunk_sums sums = {0, 0, 0};

    for (size_t i = 0; i + CHUNK_WINDOW <= count; i += CHUNK_WINDOW) {
        chunk_add_window(&times_ns[i], &sums);
    }
    return sums;
}

#endif
