/* Timelines of a made run: ranks in a row that compute and exchange with both neighbours, one delay.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_TIMELINE_H
#define IWT_MADE_TIMELINE_H

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

/* Ordinary steps: 3 ms of work, 20 us of messages, 80 us of waiting; ps. */
#define IWT_WORK_PS INT64_C(3000000000)
#define IWT_MESSAGES_PS INT64_C(20000000)
#define IWT_WAIT_PS INT64_C(80000000)

struct iwt_run {
    uint32_t ranks, steps;
    uint32_t late_rank, late_step; /* where the delay is */
    iw_time delay_ps;              /* 0: none */
    iw_time most_noise_ps;         /* each step has between none and this, the same in every test */
    uint32_t rows, columns;        /* of the raster, at most */
    uint64_t max_steps;
    uint32_t first_rank, rank_count; /* the exact window */
    const char *title;
};

/* As in the paper: 18 ranks, a delay of 4.5 steps on rank 5 in step 1. */
#define IWT_RUN_INIT                                                                                \
    {                                                                                               \
        .ranks = 18, .steps = 20, .late_rank = 5, .late_step = 1, .delay_ps = INT64_C(13500000000), \
        .rows = 2048, .columns = 2048, .max_steps = UINT64_C(1) << 21, .title = "a made run"        \
    }

iw_timeline *iwt_made_timeline(const struct iwt_run *run);

/* One wave towards higher and one towards lower ranks, if there are such: 1 rank a step, 1000/3.1 ranks/s.
 * Where others than those of IWT_RUN_INIT are asked for, without noise. */
iw_waves *iwt_made_waves(const struct iwt_run *run);
void iwt_free_waves(iw_waves *waves);

#endif
