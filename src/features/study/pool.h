/* Runs the tasks of a shard over threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_POOL_H
#define IWI_POOL_H

#include "features/study/claims.h"
#include "features/study/peer_results.h"
#include "features/study/tasks.h"

struct iwi_pool_job {
    const struct iwi_inputs *inputs;
    const struct iwi_tasks *tasks; /* those found are left alone; largest first */
    const iw_study_opts *opts;
    uint32_t threads;      /* at least 1 */
    uint64_t budget_bytes; /* tasks run side by side as far as they fit into it; one runs in any case */
    const struct iwi_claims *claims;
    struct iwi_peer_results *others;
    struct iwi_results_file *results;
    int timings_fd; /* or -1 */
};

/* The callbacks of `opts` and the log are called by the calling thread. Fills `run`, `others`, `elsewhere`
 * and `is_stopped` of *outcome, whether all went well or not. One process alone begins nothing after a
 * failure; of several each goes on with other tasks after one that failed, unless it cannot write. */
IW_NODISCARD iw_status iwi_pool_run(const iw_log *log, const struct iwi_pool_job *job,
                                    iw_study_outcome *outcome);

/* How many threads a task should get: more than one only if it would outlast all others together. */
uint32_t iwi_pool_threads(double task_seconds, double all_seconds, uint32_t threads);

#endif
