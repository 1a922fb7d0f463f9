/* CLOCK_MONOTONIC_RAW: slower to read than a counter, but everywhere.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <time.h>

#include "features/record/clock/clock.h"

IWI_LOOP uint64_t read_raw(void *unused)
{
    struct timespec now;

    (void)unused;
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static double raw_hz(void)
{
    return 1e9;
}

static bool is_usable(const char *root)
{
    (void)root;
    return true;
}

IWI_DEFINE_LOOPS(read_raw)

const struct iwi_clock_ops iwi_clock_monotonic_raw = {
    .name = "monotonic_raw", .is_usable = is_usable, .hz = raw_hz, IWI_LOOPS};
