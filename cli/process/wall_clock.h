/* The clock that never goes back.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_WALL_CLOCK_H
#define IW_CLI_WALL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC of this host. */
static inline int64_t monotonic_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
