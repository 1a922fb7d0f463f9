/* Runs a study: the folder, what it holds already, the rest over threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/available.h"
#include "base/base.h"
#include "format/study_line.h"
#include "study/pool.h"

enum { MOST_THREADS = 1024, NOTE_SIZE = 256 };

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note_other_study(const iw_log *log, const char *dir, const struct iwi_tasks *tasks)
{
    char text[NOTE_SIZE];

    if (log != NULL && log->write != NULL) {
        snprintf(text, sizeof text,
                 "'%.120s' held another version of the study: %zu of %zu cells are the same and are kept",
                 dir, tasks->found, tasks->count);
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
    const int fd =
        path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666) : -1;

    free(path);
    return fd;
}

static iw_status run_tasks(const iw_log *log, struct iwi_inputs *inputs, const char *dir,
                           const iw_study_opts *opts, struct iwi_tasks *tasks, struct iwi_results_file *file,
                           iw_study_outcome *outcome)
{
    struct iwi_pool_job job = {
        .inputs = inputs,
        .tasks = tasks,
        .opts = opts,
        .threads = opts->threads != 0 ? opts->threads : iwi_available_cpus(),
        .results = file,
    };
    iw_status status;

    IW_TRY(iwi_tasks_price(log, inputs, tasks));
    job.budget_bytes = iwi_study_budget_bytes();
    job.timings_fd = open_timings(log, dir);
    status = iwi_pool_run(log, &job, &outcome->run, &outcome->is_stopped);
    if (job.timings_fd >= 0) {
        (void)close(job.timings_fd);
    }
    return status;
}

/* The results file is locked. */
static iw_status run_rest(const iw_log *log, struct iwi_inputs *inputs, const char *dir,
                          const iw_study_opts *opts, struct iwi_tasks *tasks, struct iwi_results_file *file,
                          iw_study_outcome *outcome)
{
    IW_TRY(iwi_tasks_find(log, inputs->study, dir, tasks));
    IW_TRY(describe_folder(log, inputs->study, dir, opts, tasks));
    outcome->cells = tasks->count;
    outcome->found = tasks->found;
    return run_tasks(log, inputs, dir, opts, tasks, file, outcome);
}

static iw_status run_in_folder(const iw_log *log, struct iwi_inputs *inputs, const char *dir,
                               const iw_study_opts *opts, struct iwi_tasks *tasks, iw_study_outcome *outcome)
{
    struct iwi_results_file file;
    char name[64];
    iw_status status;

    IW_TRY(iwi_folder_make(log, dir));
    IW_TRY(iwi_folder_check_owner(log, dir, inputs->study));
    iwi_results_file_name(opts->shard, opts->shards, name);
    IW_TRY(iwi_results_file_open(log, dir, name, &file));
    status = run_rest(log, inputs, dir, opts, tasks, &file, outcome);
    iwi_results_file_close(&file);
    return status;
}

iw_status iw_study_run(const iw_log *log, const iw_study *study, const char *dir, const iw_study_opts *opts,
                       iw_study_outcome *outcome_p)
{
    const double begin_s = now_s();
    iw_study_outcome outcome = {.cells = 0};
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    iw_status status;

    if (opts->threads > MOST_THREADS) {
        return iwi_fail(log, IW_ERR_USAGE, "%u threads are not possible: at most %d are", opts->threads,
                        MOST_THREADS);
    }
    IW_TRY(iwi_inputs_init(log, study, &inputs));
    status = iwi_tasks_init(log, &inputs, opts->shard, opts->shards, &tasks);
    if (status == IW_OK) {
        status = run_in_folder(log, &inputs, dir, opts, &tasks, &outcome);
        iwi_tasks_release(&tasks);
    }
    iwi_inputs_release(&inputs);
    outcome.seconds = now_s() - begin_s;
    if (status == IW_OK) {
        *outcome_p = outcome;
    }
    return status;
}
