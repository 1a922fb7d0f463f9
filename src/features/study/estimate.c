/* What a run would take: time and memory of the cells that are not there yet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "features/study/share.h"
#include "features/study/tasks.h"

IWI_COMPARE(compare_bytes, struct iwi_task, IWI_FALLING(bytes))

/* The largest side by side, as far as a run would: up to half of what is available. Sorts the tasks anew. */
static uint64_t most_memory(struct iwi_tasks *tasks, const iw_study_opts *opts, uint32_t threads)
{
    const uint64_t budget = iwi_study_budget_bytes(opts);
    uint64_t sum = 0;

    iwi_sort(tasks->items, tasks->count, compare_bytes);
    for (size_t i = 0; i < tasks->count && i < threads; i++) {
        const uint64_t bytes = tasks->items[i].bytes;

        sum += i == 0 || sum + bytes <= budget ? bytes : 0;
    }
    return sum;
}

static void fill(struct iwi_tasks *tasks, const iw_study_opts *opts, iw_study_estimate *estimate)
{
    estimate->cells = tasks->count;
    estimate->found = tasks->found;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct iwi_task *task = &tasks->items[i];

        if (!task->is_found) {
            estimate->core_seconds += task->seconds;
            estimate->cell_seconds[task->cell] = task->seconds;
            estimate->cell_bytes[task->cell] = task->bytes;
        }
    }
    estimate->memory_bytes = most_memory(tasks, opts, estimate->threads);
}

static iw_study_estimate_row add_up(const iw_study *study, const iw_study_estimate *estimate, size_t system,
                                    size_t work)
{
    iw_study_estimate_row row = {
        .system = study->systems[system].name, .work = study->works[work].name, .least_ranks = UINT32_MAX};

    for (size_t i = 0; i < study->cell_count; i++) {
        const iw_cell *cell = &study->cells[i];

        if (cell->system == system && cell->work == work && estimate->cell_seconds[i] > 0.0) {
            row.cells++;
            row.core_seconds += estimate->cell_seconds[i];
            row.least_ranks = cell->ranks < row.least_ranks ? cell->ranks : row.least_ranks;
            row.most_ranks = cell->ranks > row.most_ranks ? cell->ranks : row.most_ranks;
            if (estimate->cell_bytes[i] > row.largest_bytes) {
                row.largest_bytes = estimate->cell_bytes[i];
            }
        }
    }
    return row;
}

static void fill_rows(const iw_study *study, iw_study_estimate *estimate)
{
    for (size_t system = 0; system < study->system_count; system++) {
        for (size_t work = 0; work < study->work_count; work++) {
            const iw_study_estimate_row row = add_up(study, estimate, system, work);

            if (row.cells > 0) {
                estimate->rows[estimate->row_count++] = row;
            }
        }
    }
    estimate->wall_seconds = estimate->core_seconds / ((double)estimate->threads * estimate->processes);
}

static iw_status price(const iw_log *log, const iw_study *study, const char *dir, const iw_study_opts *opts,
                       iw_study_estimate *estimate)
{
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    iw_status status;

    IW_TRY(iwi_inputs_init(log, study, &inputs));
    status = iwi_tasks_init(log, &inputs, opts->shard, opts->shards, &tasks);
    if (status == IW_OK) {
        status = dir != NULL ? iwi_tasks_find(log, study, dir, &tasks) : IW_OK;
        if (status == IW_OK) {
            status = iwi_tasks_price(log, &inputs, &tasks);
        }
        if (status == IW_OK) {
            fill(&tasks, opts, estimate);
        }
        iwi_tasks_release(&tasks);
    }
    iwi_inputs_release(&inputs);
    return status;
}

iw_status iw_study_estimate_new(const iw_log *log, const iw_study *study, const char *dir,
                                const iw_study_opts *given, iw_study_estimate **estimate_p)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_estimate *estimate;
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(IWI_READ_OPTS(log, "IW_STUDY_OPTS_INIT", given, &opts));
    estimate = iwi_new_array(log, 1, sizeof *estimate);
    if (estimate == NULL) {
        return IW_ERR_NOMEM;
    }
    estimate->shard = opts.shard + 1;
    estimate->shards = opts.shards;
    estimate->threads = iwi_study_threads(&opts);
    estimate->processes = opts.processes > 1 ? opts.processes : 1;
    estimate->cell_seconds = iwi_new_array(log, study->cell_count, sizeof *estimate->cell_seconds);
    estimate->cell_bytes = iwi_new_array(log, study->cell_count, sizeof *estimate->cell_bytes);
    estimate->rows = iwi_new_array(log, study->system_count * study->work_count, sizeof *estimate->rows);
    if (estimate->cell_seconds != NULL && estimate->cell_bytes != NULL && estimate->rows != NULL) {
        status = price(log, study, dir, &opts, estimate);
    }
    if (status != IW_OK) {
        iw_study_estimate_free(estimate);
        return status;
    }
    fill_rows(study, estimate);
    *estimate_p = estimate;
    return IW_OK;
}

void iw_study_estimate_free(iw_study_estimate *estimate)
{
    if (estimate != NULL) {
        free(estimate->cell_seconds);
        free(estimate->cell_bytes);
        free(estimate->rows);
        free(estimate);
    }
}
