/* Runs the tasks of a shard over threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_POOL_H
#define IWI_POOL_H

#include <stdatomic.h>

#include "features/study/cells.h"
#include "features/study/folder.h"

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

/* ======== states of cells ======== */

/* waiting -> claiming -> running -> ended | failed
 *                         -> held      another process runs it; waits again from time to time
 *     waiting | claiming | held -> found      another process has run it */

enum iwi_cell_state { IWI_WAITING, IWI_CLAIMING, IWI_RUNNING, IWI_HELD, IWI_ENDED, IWI_FOUND, IWI_FAILED };
enum { IWI_CELL_STATES = IWI_FAILED + 1 };

struct iwi_tracked_cell {
    const struct iwi_task *task;
    enum iwi_cell_state state;
    uint32_t threads;             /* while claiming and running */
    bool has_claim, has_node;     /* the cell's claim is held, and the node's too */
    bool is_found;                /* another process's line has been seen */
    atomic_uint_fast32_t permill; /* of its work done */
};

struct iwi_cell_states {
    const iw_study *study;
    struct iwi_tracked_cell *items; /* largest first */
    size_t count;
    struct iwi_named_cell {
        const char *id;
        struct iwi_tracked_cell *tracked;
    } * by_id; /* in the order of ids */
    double all_seconds;
    size_t in[IWI_CELL_STATES]; /* how many */
    size_t first_waiting;       /* none before it waits */
    size_t next_held;           /* where to look for the next that is held */
};

/* Those that were not found. */
IW_NODISCARD iw_status iwi_cell_states_init(const iw_log *log, const iw_study *study,
                                            const struct iwi_tasks *tasks, struct iwi_cell_states *cells);
void iwi_cell_states_release(struct iwi_cell_states *cells);

void iwi_cell_states_set(struct iwi_cell_states *cells, struct iwi_tracked_cell *tracked,
                         enum iwi_cell_state state);

/* The line of that cell has been seen in another process's results. */
void iwi_cell_states_note_found(struct iwi_cell_states *cells, const char *id);

/* Lets up to `most` of those held wait again, in turn. */
void iwi_cell_states_retry_held(struct iwi_cell_states *cells, size_t most);

/* Of all work, in expected seconds of one core. */
double iwi_cell_states_work_done(const struct iwi_cell_states *cells);

#endif
