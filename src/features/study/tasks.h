/* Cells to run: dealt to shards, with what each will cost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TASKS_H
#define IWI_TASKS_H

#include "features/study/inputs.h"

struct iwi_task {
    size_t cell; /* number in the study */
    uint64_t messages;
    bool is_found; /* finished before */
    /* of those not found, by iwi_tasks_price(): */
    double seconds; /* of one core */
    uint64_t bytes; /* of memory on one thread */
};

/* The tasks of one shard, largest first. */
struct iwi_tasks {
    struct iwi_task *items;
    size_t count, found;
};

/* Deals by messages, ranks and trials, so the same study gives the same shards on any machine; makes the
 * schedules. None is found yet. IW_ERR_USAGE: there is no such shard. */
IW_NODISCARD iw_status iwi_tasks_init(const iw_log *log, struct iwi_inputs *inputs, uint32_t shard,
                                      uint32_t shards, struct iwi_tasks *tasks);
void iwi_tasks_release(struct iwi_tasks *tasks);

/* Deals them once more, and keeps one part (from 0) of so many. */
IW_NODISCARD iw_status iwi_tasks_keep_shard(const iw_log *log, const iw_study *study, uint32_t part,
                                            uint32_t parts, struct iwi_tasks *tasks);

/* Marks the tasks whose results are in the folder. */
IW_NODISCARD iw_status iwi_tasks_find(const iw_log *log, const iw_study *study, const char *dir,
                                      struct iwi_tasks *tasks);

/* Makes the noise of the tasks that are not found, runs a little of each kind to see how long it takes
 * (price.c), and sorts by seconds, largest first. */
IW_NODISCARD iw_status iwi_tasks_price(const iw_log *log, struct iwi_inputs *inputs, struct iwi_tasks *tasks);

/* "cell 17: system chic, allreduce:dissemination, 1024 ranks"; the first is 1. */
enum { IWI_TASK_NAME_SIZE = 256 };
void iwi_task_name(const iw_study *study, const struct iwi_task *task, char buf[IWI_TASK_NAME_SIZE]);

/* A copy, prefixed by the name of its task, of each message goes to `to`. */
struct iwi_task_log {
    iw_log log; /* hand &log on */
    const iw_log *to;
    char name[IWI_TASK_NAME_SIZE];
};
void iwi_task_log_init(const iw_log *to, const iw_study *study, const struct iwi_task *task,
                       struct iwi_task_log *task_log);

#endif
