/* Cells: what they share, what they will cost, how one is run, and how a process's are chosen.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CELLS_H
#define IWI_CELLS_H

#include <idlewave/caveat.h>
#include <idlewave/noise.h>
#include <idlewave/noise_set.h>
#include <idlewave/program.h>
#include <idlewave/sim.h>
#include <idlewave/study.h>

#include "features/study/cells.h"

/* ======== what cells share ======== */

struct iwi_inputs {
    const iw_study *study;
    iw_noise_set **sets;     /* by system and alignment; NULL: not needed yet */
    iw_noise **noise;        /* of the sets as they are */
    iw_node_speeds **speeds; /* by system; NULL: nodes are alike, or not needed yet */
    iw_program **schedules;  /* by work; NULL: a pattern, or not needed yet */
};

IW_NODISCARD iw_status iwi_inputs_init(const iw_log *log, const iw_study *study, struct iwi_inputs *inputs);
void iwi_inputs_release(struct iwi_inputs *inputs);

/* Makes the schedule, or the noise, that a cell needs. Not while other threads use the inputs. */
IW_NODISCARD iw_status iwi_inputs_add_schedule(const iw_log *log, struct iwi_inputs *inputs,
                                               const iw_cell *cell);
IW_NODISCARD iw_status iwi_inputs_add_noise(const iw_log *log, struct iwi_inputs *inputs,
                                            const iw_cell *cell);

/* The noise that was made for the cell. */
const iw_noise *iwi_inputs_noise(const struct iwi_inputs *inputs, const iw_cell *cell);
/* How fast nodes are, made with the noise; NULL: all alike. */
const iw_node_speeds *iwi_inputs_speeds(const struct iwi_inputs *inputs, const iw_cell *cell);
const iw_noise_set *iwi_inputs_set(const struct iwi_inputs *inputs, const iw_cell *cell);

/* The program of a cell: a pattern or a trace of its own, or a schedule that was made. */
struct iwi_cell_program {
    const iw_program *program;
    iw_program *own; /* or NULL */
};
IW_NODISCARD iw_status iwi_cell_program_init(const iw_log *log, const struct iwi_inputs *inputs,
                                             const iw_cell *cell, struct iwi_cell_program *program);
void iwi_cell_program_release(struct iwi_cell_program *program);

/* The pattern of a cell's work with the cell's ranks and bytes; its work is right once the noise is made. */
iw_pattern iwi_cell_pattern(const struct iwi_inputs *inputs, const iw_cell *cell);

/* ======== cells to run ======== */

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

/* Makes the noise of the tasks that are not found, runs a little of each kind to see how long it takes, and
 * sorts by seconds, largest first. is_estimate: more of it, for somebody who wants to know. */
IW_NODISCARD iw_status iwi_tasks_price(const iw_log *log, struct iwi_inputs *inputs, bool is_estimate,
                                       struct iwi_tasks *tasks);

/* "cell 17: system chic, allreduce:dissemination, 1024 ranks"; the first is 1. */
enum { IWI_TASK_NAME_SIZE = 256 };
void iwi_task_name(const iw_study *study, const struct iwi_task *task, char buf[IWI_TASK_NAME_SIZE]);

/* ======== one cell ======== */

/* The line (with its newline, to be freed) depends on the cell only, not on `threads`. */
IW_NODISCARD iw_status iwi_cell_run(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                                    uint32_t threads, iw_progress progress, char **line_p);

/* CPU seconds of a cell that trains, by a sample of about enough_s. */
IW_NODISCARD iw_status iwi_cell_time_training(const struct iwi_inputs *inputs, const iw_cell *cell,
                                              double enough_s, double *seconds_p);

/* Operations of all ranks in the steps of a trial, which count as messages. */
IW_NODISCARD iw_status iwi_cell_count_training(const iw_log *log, const iw_study *study, const iw_cell *cell,
                                               uint64_t *messages_p);

/* ======== what a process may use of its node ======== */

/* Of `own` CPUs that this process may run on, when `processes` share a node where their launcher may run on
 * `node` of them: bound to some of them or not, nobody gets more than the even part. At least 1. */
uint32_t iwi_share_of_cpus(uint32_t own, uint32_t node, uint32_t processes);

/* Memory that cells may take together: half of what is available, in even parts for the processes of this
 * node. */
uint64_t iwi_study_budget_bytes(const iw_study_opts *opts);

#endif
