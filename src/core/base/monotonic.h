/* Clocks that never go back: CLOCK_MONOTONIC of this host, and CPU time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MONOTONIC_H
#define IWI_MONOTONIC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
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

static inline double iwi_cpu_s(clockid_t clock)
{
    struct timespec used;

    (void)clock_gettime(clock, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Of this thread: what others do on the machine does not count. */
static inline double iwi_thread_cpu_s(void)
{
    return iwi_cpu_s(CLOCK_THREAD_CPUTIME_ID);
}

static inline double iwi_timeval_s(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* Of all threads of this process, since it was started, and of its children that have ended: some files are
 * read by those. */
static inline double iwi_process_cpu_s(void)
{
    struct rusage children;
    const bool is_known = getrusage(RUSAGE_CHILDREN, &children) == 0;

    return iwi_cpu_s(CLOCK_PROCESS_CPUTIME_ID) +
           (is_known ? iwi_timeval_s(children.ru_utime) + iwi_timeval_s(children.ru_stime) : 0.0);
}

#endif
