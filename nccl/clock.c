/* From the timer of a GPU to the wall clock.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <time.h>

#include "recorder.h"

#define SECOND_NS INT64_C(1000000000)

int64_t iwi_nccl_wall_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

void iwi_nccl_clock_init(struct iwi_nccl_gpu_clock *clock)
{
    clock->least_ns = clock->least_before_ns = INT64_MAX;
    clock->second_begin_ns = 0;
}

void iwi_nccl_clock_saw(struct iwi_nccl_gpu_clock *clock, int64_t gpu_ns, int64_t wall_ns)
{
    const int64_t ahead_ns = wall_ns - gpu_ns;
    int64_t begin_ns = clock->second_begin_ns, least_ns;

    if (wall_ns - begin_ns > SECOND_NS &&
        atomic_compare_exchange_strong(&clock->second_begin_ns, &begin_ns, wall_ns)) {
        clock->least_before_ns = atomic_exchange(&clock->least_ns, ahead_ns);
    }
    least_ns = clock->least_ns;
    while (ahead_ns < least_ns && !atomic_compare_exchange_weak(&clock->least_ns, &least_ns, ahead_ns)) {
    }
}

int64_t iwi_nccl_clock_wall(const struct iwi_nccl_gpu_clock *clock, int64_t gpu_ns)
{
    const int64_t least_ns = clock->least_ns, before_ns = clock->least_before_ns;

    return gpu_ns + (least_ns < before_ns ? least_ns : before_ns);
}
