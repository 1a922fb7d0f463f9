/* How busy a real-time thread may be: the kernel's limit, which is read and never changed, kept from below.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIFO_DUTY_H
#define IWI_FIFO_DUTY_H

#include <stdbool.h>
#include <stdint.h>

enum { IWI_DUTY_SLOTS = 64 };

/* Busy time of the last period, in slots by when it ended. */
struct iwi_duty {
    int64_t period_ns, most_ns;       /* at most this much in any such period */
    int64_t slot[IWI_DUTY_SLOTS + 1]; /* number of the slot that is in this place */
    int64_t busy_ns[IWI_DUTY_SLOTS + 1];
};

/* 90 % of sched_rt_runtime_us per sched_rt_period_us, read below `root` ("" for the real ones); without a
 * limit there, of the 95 % that are usual. */
void iwi_duty_init(struct iwi_duty *duty, const char *root);

/* Books a detour from start_ns on; false, and nothing is booked: it would be over the limit. */
bool iwi_duty_take(struct iwi_duty *duty, int64_t start_ns, int64_t duration_ns);

#endif
