/* How the work of a simulation is split over threads and processes: settled, and the parts joined.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PARALLEL_H
#define IWI_PARALLEL_H

#include "core/sim/plan.h"

struct iwi_split_work {
    iw_parallel parallel; /* never AUTO */
    uint32_t lanes, threads;
};

/* The same on all processes: the first one chooses. */
IW_NODISCARD iw_status iwi_parallel_settle(const iw_log *log, const struct iwi_plan *plan,
                                           const iw_program *program, const iw_noise *noise,
                                           const iw_sim_opts *opts, struct iwi_split_work *split_p);

/* Each value becomes the largest that any process has. */
IW_NODISCARD iw_status iwi_parallel_join(const iw_log *log, const iw_link *link, int64_t *values,
                                         size_t count);

/* Runs all trials, split or not; afterwards all processes have all makespans, and the first one all end times
 * if they are wanted. */
IW_NODISCARD iw_status iwi_parallel_run(const iw_log *log, const struct iwi_batches *batches);

#endif
