/* The kernel's names of its softirqs, in the order of their numbers (include/linux/interrupt.h).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/softirq_name.h"

#include <inttypes.h>
#include <stdio.h>

void iwi_softirq_name(int64_t vector, char *buf, size_t size)
{
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

    if (vector >= 0 && vector < (int64_t)(sizeof names / sizeof names[0])) {
        snprintf(buf, size, "%s", names[vector]);
    } else {
        snprintf(buf, size, "softirq %" PRId64, vector);
    }
}
