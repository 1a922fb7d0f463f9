/* Clocks that never go back: CLOCK_MONOTONIC of this host, and the CPU time of a thread.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MONOTONIC_H
#define IWI_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t iwi_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double iwi_now_s(void)
{
    return 1e-9 * (double)iwi_now_ns();
}

/* Of this thread: what others do on the machine does not count. */
static inline double iwi_thread_cpu_s(void)
{
    struct timespec used;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

#endif
