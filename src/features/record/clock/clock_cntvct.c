/* The virtual counter of aarch64; one rate on all CPUs, told by the machine.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/clock/clock.h"

#if defined(__aarch64__)

IWI_LOOP uint64_t read_cntvct(void *unused)
{
    uint64_t ticks;

    (void)unused;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static double cntvct_hz(void)
{
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return (double)hz;
}

static bool is_usable(const char *root)
{
    (void)root;
    return cntvct_hz() > 0.0; /* firmware may have left it unset */
}

IWI_DEFINE_LOOPS(read_cntvct)

const struct iwi_clock_ops iwi_clock_cntvct = {
    .name = "cntvct", .is_usable = is_usable, .hz = cntvct_hz, IWI_LOOPS};

#endif
