/* The state of a pool, and how its threads take tasks and end them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_POOL_STATE_H
#define IWI_POOL_STATE_H

#include <pthread.h>

#include "features/study/cell_states.h"
#include "features/study/messages.h"
#include "features/study/pool.h"

struct iwi_pool {
    const struct iwi_pool_job *job;
    struct iwi_messages messages;
    pthread_mutex_t file_lock;   /* of the results file */
    pthread_mutex_t others_lock; /* of job->others; taken before `lock` */
    double begin_s, look_s;      /* of the calling thread: the start, the next look at others */
    /* under `lock`: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct iwi_cell_states cells;
    size_t workers;
    uint32_t free_threads;
    uint64_t used_bytes;
    iw_status status;  /* the first failure after which nothing is begun */
    iw_status failure; /* the first one of a cell */
    bool is_stopping;
};

/* What a task writes to while it runs; `name` may be "". Hand &log on. */
struct iwi_task_messages {
    iw_log log;
    struct iwi_messages *messages;
    char name[IWI_TASK_NAME_SIZE];
};
void iwi_task_messages_init(struct iwi_pool *pool, struct iwi_task_messages *messages);

const iw_cell *iwi_pool_cell(const struct iwi_pool *pool, const struct iwi_tracked_cell *tracked);

/* ---- `lock` is held ---- */

/* Waits until a task can begin, and claims it; NULL: there is nothing more to do. Lets go of `lock` for
 * whiles. */
struct iwi_tracked_cell *iwi_pool_take(struct iwi_pool *pool);
void iwi_pool_end(struct iwi_pool *pool, struct iwi_tracked_cell *tracked, iw_status status);

/* Nothing else is left to this process: others may try what failed here. */
void iwi_pool_give_failed_back(struct iwi_pool *pool);

/* ---- `lock` is not held ---- */

/* Notes what others have finished. */
IW_NODISCARD iw_status iwi_pool_read_peers(struct iwi_pool *pool);

#endif
