/* Runs a study: the folder, what it holds already, the rest over threads; or says what that would take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/base/output.h"
#include "features/study/cells.h"
#include "features/study/files/study_line.h"
#include "features/study/pool.h"
#include "kit/files/io/paths.h"

/* ======== a share of the node ======== */

static uint32_t local_processes(const iw_study_opts *opts)
{
    return opts->local_processes > 1 ? opts->local_processes : 1;
}

uint32_t iwi_share_of_cpus(uint32_t own, uint32_t node, uint32_t processes)
{
    const uint32_t all = node > own ? node : own;
    const uint32_t even = all / processes > 0 ? all / processes : 1;

    return even < own ? even : own;
}

/* The launcher's daemon, our parent, is bound to nothing: its CPUs are those of the job on this node. */
static uint32_t study_threads(const iw_study_opts *opts)
{
    if (opts->threads != 0) {
        return opts->threads;
    }
    return iwi_share_of_cpus(iwi_available_cpus(), iwi_cpus_of_process(getppid()), local_processes(opts));
}

uint64_t iwi_study_budget_bytes(const iw_study_opts *opts)
{
    const uint64_t told = iwi_available_bytes("");
    const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;

    return (told != UINT64_MAX ? told : half) / 2 / local_processes(opts);
}

/* ======== running ======== */

enum { MOST_THREADS = 1024, NOTE_SIZE = 256 };

static void note_other_study(const iw_log *log, const char *dir, const struct iwi_tasks *tasks)
{
    char text[NOTE_SIZE];

    if (log != NULL && log->write != NULL) {
        snprintf(text, sizeof text,
                 "'%.120s' has another version of the study: %zu of %zu cells are unchanged and kept", dir,
                 tasks->found, tasks->count);
        log->write(log->arg, IW_LOG_INFO, text);
    }
}

static iw_status describe_folder(const iw_log *log, const iw_study *study, const char *dir,
                                 const iw_study_opts *opts, const struct iwi_tasks *tasks)
{
    bool is_other = false;

    IW_TRY(iwi_folder_describe(log, dir, study, opts->command, &is_other));
    if (is_other) {
        note_other_study(log, dir, tasks);
    }
    return IW_OK;
}

/* -1: not to be had, and not needed. */
static int open_timings(const iw_log *log, const char *dir)
{
    char *path = iwi_path_join(log, dir, "timings.jsonl");
    int fd = -1;

    if (path != NULL && iwi_open_growing(NULL, path, O_WRONLY | O_APPEND, &fd) != IW_OK) {
        fd = -1;
    }
    free(path);
    return fd;
}

/* What is open while a study runs. */
struct opened {
    const char *dir;
    struct iwi_claims claims;
    struct iwi_results_file results;
    struct iwi_peer_results others;
};

static iw_status run_tasks(const iw_log *log, struct iwi_inputs *inputs, struct opened *opened,
                           const iw_study_opts *opts, struct iwi_tasks *tasks, iw_study_outcome *outcome)
{
    struct iwi_pool_job job = {
        .inputs = inputs,
        .tasks = tasks,
        .opts = opts,
        .threads = study_threads(opts),
        .claims = &opened->claims,
        .others = &opened->others,
        .results = &opened->results,
    };
    iw_status status;

    IW_TRY(iwi_tasks_price(log, inputs, false, tasks));
    job.budget_bytes = iwi_study_budget_bytes(opts);
    job.timings_fd = open_timings(log, opened->dir);
    status = iwi_pool_run(log, &job, outcome);
    if (job.timings_fd >= 0) {
        (void)close(job.timings_fd);
    }
    return status;
}

/* The results file is locked. */
static iw_status run_rest(const iw_log *log, struct iwi_inputs *inputs, struct opened *opened,
                          const iw_study_opts *opts, struct iwi_tasks *tasks, iw_study_outcome *outcome)
{
    iw_status status;

    IW_TRY(iwi_peer_results_init(log, opened->dir, opened->results.path, &opened->others));
    status = iwi_tasks_find(log, inputs->study, opened->dir, tasks);
    if (status == IW_OK) {
        status = describe_folder(log, inputs->study, opened->dir, opts, tasks);
    }
    if (status == IW_OK) {
        outcome->cells = tasks->count;
        outcome->found = tasks->found;
        status = run_tasks(log, inputs, opened, opts, tasks, outcome);
    }
    iwi_peer_results_release(&opened->others);
    return status;
}

/* Without locks nothing can be claimed: each process has a part of its own. */
static iw_status deal_instead(const iw_log *log, const iw_study *study, const struct opened *opened,
                              const iw_study_opts *opts, struct iwi_tasks *tasks)
{
    const char *why = strerror(opened->claims.fault);
    const uint32_t processes = opts->processes > 1 ? opts->processes : 1;

    if (opts->process >= processes) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "the file system of '%s' has no locks (%s), so processes cannot share the cells: "
                        "give each process its part (`shard`)",
                        opened->dir, why);
    }
    if (processes == 1) {
        iwi_warn(log,
                 "the file system of '%s' has no locks (%s): make sure that no other process writes there",
                 opened->dir, why);
        return IW_OK;
    }
    iwi_warn(log,
             "the file system of '%s' has no locks (%s): cells are assigned to processes in advance; rerun "
             "to finish those of a lost process",
             opened->dir, why);
    return iwi_tasks_keep_shard(log, study, opts->process, processes, tasks);
}

static iw_status run_claiming(const iw_log *log, struct iwi_inputs *inputs, struct opened *opened,
                              const iw_study_opts *opts, struct iwi_tasks *tasks, iw_study_outcome *outcome)
{
    const bool has_locks = opened->claims.fault == 0;
    iw_status status;

    if (!has_locks) {
        IW_TRY(deal_instead(log, inputs->study, opened, opts, tasks));
    }
    IW_TRY(iwi_results_file_take(log, opened->dir, opts->shard, opts->shards, opts->process, has_locks,
                                 &opened->results));
    status = run_rest(log, inputs, opened, opts, tasks, outcome);
    iwi_results_file_leave(&opened->results);
    return status;
}

static iw_status run_in_folder(const iw_log *log, struct iwi_inputs *inputs, const char *dir,
                               const iw_study_opts *opts, struct iwi_tasks *tasks, iw_study_outcome *outcome)
{
    struct opened opened = {.dir = dir};
    iw_status status;

    IW_TRY(iwi_folder_ensure(log, dir, IWI_FOLDER_MADE_WITH_PARENTS));
    IW_TRY(iwi_folder_check_owner(log, dir, inputs->study));
    IW_TRY(iwi_claims_open(log, dir, &opened.claims));
    status = run_claiming(log, inputs, &opened, opts, tasks, outcome);
    iwi_claims_close(&opened.claims);
    return status;
}

iw_status iw_study_run(const iw_log *log, const iw_study *study, const char *dir, const iw_study_opts *given,
                       iw_study_outcome *outcome_p)
{
    iw_study_opts known = IW_STUDY_OPTS_INIT;
    const iw_study_opts *opts = &known;
    const double begin_s = iwi_now_s();
    iw_study_outcome outcome = {.folder = dir};
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_STUDY_OPTS_INIT", given, &known));
    if (opts->threads > MOST_THREADS) {
        return iwi_fail(log, IW_ERR_USAGE, "%u threads: at most %d are possible", opts->threads,
                        MOST_THREADS);
    }
    IW_TRY(iwi_inputs_init(log, study, &inputs));
    status = iwi_tasks_init(log, &inputs, opts->shard, opts->shards, &tasks);
    if (status == IW_OK) {
        status = run_in_folder(log, &inputs, dir, opts, &tasks, &outcome);
        iwi_tasks_release(&tasks);
    }
    iwi_inputs_release(&inputs);
    outcome.shard = opts->shard + 1;
    outcome.shards = opts->shards;
    outcome.seconds = iwi_now_s() - begin_s;
    if (status == IW_OK) {
        *outcome_p = outcome;
    }
    return status;
}

/* ======== estimating ======== */

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
    const double begin_s = iwi_process_cpu_s(); /* starting and reading, which a run does too */
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    iw_status status;

    IW_TRY(iwi_inputs_init(log, study, &inputs));
    status = iwi_tasks_init(log, &inputs, opts->shard, opts->shards, &tasks);
    if (status == IW_OK) {
        status = dir != NULL ? iwi_tasks_find(log, study, dir, &tasks) : IW_OK;
        if (status == IW_OK) {
            status = iwi_tasks_price(log, &inputs, true, &tasks);
        }
        if (status == IW_OK) {
            fill(&tasks, opts, estimate);
            estimate->core_seconds += estimate->core_seconds > 0.0 ? begin_s * estimate->processes : 0.0;
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
    estimate->threads = study_threads(&opts);
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
