/* The limit on real-time threads, and the account of what was used of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/fifo_duty.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

static const double USED = 0.9;
static const int64_t USUAL_PERIOD_NS = 1000000000, USUAL_RUNTIME_NS = 950000000;

/* In ns; negative: no limit, or no such file. */
static int64_t limit_ns(const char *root, const char *path)
{
    char line[32];
    char *end;
    long us;

    if (!iwi_sysfile_line(root, path, line, sizeof line)) {
        return -1;
    }
    us = strtol(line, &end, 10);
    return end == line || us < 0 || us > INT64_C(1000000000) ? -1 : (int64_t)us * 1000;
}

void iwi_duty_init(struct iwi_duty *duty, const char *root)
{
    int64_t period_ns = limit_ns(root, "/proc/sys/kernel/sched_rt_period_us");
    int64_t runtime_ns = limit_ns(root, "/proc/sys/kernel/sched_rt_runtime_us");

    if (period_ns <= 0) {
        period_ns = USUAL_PERIOD_NS;
        runtime_ns = runtime_ns < 0 ? -1 : iwi_min(runtime_ns, USUAL_RUNTIME_NS);
    }
    if (runtime_ns < 0 || runtime_ns >= period_ns) {
        runtime_ns = (int64_t)((double)period_ns * ((double)USUAL_RUNTIME_NS / (double)USUAL_PERIOD_NS));
    }
    memset(duty, 0, sizeof *duty);
    duty->period_ns = period_ns;
    duty->most_ns = (int64_t)((double)runtime_ns * USED);
}

/* Time is booked where it ends and leaves the account only when its whole slot is a period old: the account
 * is never lower than the truth. */
bool iwi_duty_take(struct iwi_duty *duty, int64_t start_ns, int64_t duration_ns)
{
    const int64_t slot_ns = iwi_max(duty->period_ns / IWI_DUTY_SLOTS, 1);
    const int64_t slot = (start_ns + duration_ns) / slot_ns;
    const size_t place = (size_t)(slot % (IWI_DUTY_SLOTS + 1));
    int64_t sum_ns = duration_ns;

    for (size_t i = 0; i <= IWI_DUTY_SLOTS; i++) {
        if (duty->slot[i] >= slot - IWI_DUTY_SLOTS && duty->slot[i] <= slot) {
            sum_ns += duty->busy_ns[i];
        }
    }
    if (sum_ns > duty->most_ns) {
        return false;
    }
    if (duty->slot[place] != slot) {
        duty->slot[place] = slot;
        duty->busy_ns[place] = 0;
    }
    duty->busy_ns[place] += duration_ns;
    return true;
}
