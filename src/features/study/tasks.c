/* Deals cells to shards, and finds those that are done.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/study/cell_training.h"
#include "features/study/files/study_line.h"

/* ---- names ---- */

void iwi_task_name(const iw_study *study, const struct iwi_task *task, char buf[IWI_TASK_NAME_SIZE])
{
    const iw_cell *cell = &study->cells[task->cell];

    snprintf(buf, IWI_TASK_NAME_SIZE, "cell %zu: system %.80s, %.100s, %" PRIu32 " ranks", task->cell + 1,
             study->systems[cell->system].name, study->works[cell->work].name, cell->ranks);
}

static void write_named(void *arg, iw_log_level level, const char *text)
{
    const struct iwi_task_log *task_log = arg;
    char line[2048];

    if (task_log->to != NULL && task_log->to->write != NULL) {
        snprintf(line, sizeof line, "%s: %s", task_log->name, text);
        task_log->to->write(task_log->to->arg, level, line);
    }
}

void iwi_task_log_init(const iw_log *to, const iw_study *study, const struct iwi_task *task,
                       struct iwi_task_log *task_log)
{
    task_log->log = (iw_log){write_named, task_log};
    task_log->to = to;
    iwi_task_name(study, task, task_log->name);
}

/* ---- dealing ---- */

/* Programs of traces take a while to make. Tasks are in the order of the cells still. */
static const struct iwi_task *find_same_trace(const iw_study *study, const struct iwi_task *tasks,
                                              const iw_cell *cell)
{
    const iw_cell *cells = study->cells;

    for (size_t i = 0; study->works[cell->work].is_trace && &cells[i] < cell; i++) {
        if (cells[i].work == cell->work && cells[i].ranks == cell->ranks) {
            return &tasks[i];
        }
    }
    return NULL;
}

static iw_status count_messages(const iw_log *log, struct iwi_inputs *inputs, struct iwi_task *tasks,
                                struct iwi_task *task)
{
    const iw_cell *cell = &inputs->study->cells[task->cell];
    const struct iwi_task *same = find_same_trace(inputs->study, tasks, cell);
    struct iwi_cell_program program;
    struct iwi_task_log task_log;

    if (same != NULL) {
        task->messages = same->messages;
        return IW_OK;
    }
    iwi_task_log_init(log, inputs->study, task, &task_log);
    if (inputs->study->works[cell->work].training != NULL) {
        return iwi_cell_count_training(&task_log.log, inputs->study, cell, &task->messages);
    }
    IW_TRY(iwi_inputs_add_schedule(&task_log.log, inputs, cell));
    IW_TRY(iwi_cell_program_init(&task_log.log, inputs, cell, &program));
    task->messages = iw_program_messages(program.program);
    iwi_cell_program_release(&program);
    return IW_OK;
}

struct weighed {
    struct iwi_task task;
    const char *id;
    double weight;
};

/* In messages: starting a rank is like one, starting a trial and summing it up like 30. */
static double weight_of(const iw_cell *cell, const struct iwi_task *task)
{
    return (double)cell->trials * ((double)task->messages + (double)cell->ranks + 30.0);
}

/* Heaviest first; ties by id, not by place in the file. */
IWI_COMPARE(compare_weights, struct weighed, IWI_FALLING(weight), IWI_TEXT(id))

static uint32_t least_loaded(const double *loads, uint32_t shards)
{
    uint32_t least = 0;

    for (uint32_t s = 1; s < shards; s++) {
        least = loads[s] < loads[least] ? s : least;
    }
    return least;
}

/* Heaviest first, each to the shard that has least so far: no shard gets more than the even part and one
 * cell. Keeps those of `shard`. */
static void keep_shard(const struct weighed *order, size_t count, double *loads, uint32_t shard,
                       uint32_t shards, struct iwi_tasks *tasks)
{
    tasks->count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t owner = least_loaded(loads, shards);

        loads[owner] += order[i].weight;
        if (owner == shard) {
            tasks->items[tasks->count++] = order[i].task;
        }
    }
}

static iw_status deal(const iw_log *log, const iw_study *study, uint32_t shard, uint32_t shards,
                      struct iwi_tasks *tasks)
{
    const size_t count = tasks->count;
    struct weighed *order = iwi_new_array(log, count, sizeof *order);
    double *loads = iwi_new_array(log, shards, sizeof *loads);
    const iw_status status = order != NULL && loads != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        for (size_t i = 0; i < count; i++) {
            const iw_cell *cell = &study->cells[tasks->items[i].cell];

            order[i] = (struct weighed){tasks->items[i], cell->id, weight_of(cell, &tasks->items[i])};
        }
        iwi_sort(order, count, compare_weights);
        keep_shard(order, count, loads, shard, shards, tasks);
    }
    free(order);
    free(loads);
    return status;
}

iw_status iwi_tasks_init(const iw_log *log, struct iwi_inputs *inputs, uint32_t shard, uint32_t shards,
                         struct iwi_tasks *tasks)
{
    iw_status status;

    *tasks = (struct iwi_tasks){.items = NULL};
    if (shard >= shards) {
        return iwi_fail(log, IW_ERR_USAGE, "there is no shard %" PRIu64 " of %" PRIu32, (uint64_t)shard + 1,
                        shards);
    }
    tasks->count = inputs->study->cell_count;
    tasks->items = iwi_new_array(log, tasks->count, sizeof *tasks->items);
    status = tasks->items != NULL ? IW_OK : IW_ERR_NOMEM;
    for (size_t i = 0; status == IW_OK && i < tasks->count; i++) {
        tasks->items[i].cell = i;
        status = count_messages(log, inputs, tasks->items, &tasks->items[i]);
    }
    if (status == IW_OK) {
        status = deal(log, inputs->study, shard, shards, tasks);
    }
    if (status != IW_OK) {
        iwi_tasks_release(tasks);
    }
    return status;
}

iw_status iwi_tasks_keep_shard(const iw_log *log, const iw_study *study, uint32_t part, uint32_t parts,
                               struct iwi_tasks *tasks)
{
    return deal(log, study, part, parts, tasks);
}

void iwi_tasks_release(struct iwi_tasks *tasks)
{
    free(tasks->items);
    *tasks = (struct iwi_tasks){.items = NULL};
}

/* ---- finding ---- */

IWI_COMPARE(compare_ids, char *const, strcmp(*left, *right))

static iw_status mark_found(const iw_log *log, const iw_study *study, const iw_cell_result *results,
                            size_t count, struct iwi_tasks *tasks)
{
    const char **ids = iwi_new_array(log, count, sizeof(const char *));

    if (ids == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = results[i].id;
    }
    iwi_sort(ids, count, compare_ids);
    for (size_t i = 0; i < tasks->count; i++) {
        struct iwi_task *task = &tasks->items[i];
        const char *id = study->cells[task->cell].id;

        task->is_found = iwi_find(&id, ids, count, compare_ids) != NULL;
        tasks->found += task->is_found;
    }
    free(ids);
    return IW_OK;
}

iw_status iwi_tasks_find(const iw_log *log, const iw_study *study, const char *dir, struct iwi_tasks *tasks)
{
    iw_cell_result *results = NULL;
    size_t count = 0;
    iw_status status;

    IW_TRY(iwi_cell_results_load(log, dir, &results, &count));
    status = mark_found(log, study, results, count, tasks);
    iwi_cell_results_free(results, count);
    return status;
}
