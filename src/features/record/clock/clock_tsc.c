/* The time-stamp counter of x86-64, where it ticks at one rate whatever the CPU does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/clock/clock.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/base/sysfile.h"

/* No fence: it would cost more than the reading, and a loop of readings orders itself well enough. */
IWI_LOOP uint64_t read_tsc(void *unused)
{
    (void)unused;
    return __builtin_ia32_rdtsc();
}

static bool is_invariant(void)
{
    const unsigned power_leaf = 0x80000007, invariant_bit = 1u << 8;
    unsigned a, b, c, d = 0;

    return __get_cpuid(power_leaf, &a, &b, &c, &d) != 0 && (d & invariant_bit) != 0;
}

/* The kernel strikes a counter off this list that differs between CPUs. */
static bool is_distrusted(const char *root)
{
    char clocksources[256];

    return iwi_sysfile_line(root, "/sys/devices/system/clocksource/clocksource0/available_clocksource",
                            clocksources, sizeof clocksources) &&
           strstr(clocksources, "tsc") == NULL;
}

static bool is_usable(const char *root)
{
    int access = PR_TSC_ENABLE; /* the process may have been denied to read it */

    (void)prctl(PR_GET_TSC, &access);
    return access == PR_TSC_ENABLE && is_invariant() && !is_distrusted(root);
}

IWI_DEFINE_LOOPS(read_tsc)

const struct iwi_clock_ops iwi_clock_tsc = {.name = "tsc", .is_usable = is_usable, IWI_LOOPS};

#endif
