/* Runs a study: the folder, what it holds already, the rest over threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/monotonic.h"
#include "core/base/opts.h"
#include "core/base/output.h"
#include "features/study/files/study_line.h"
#include "features/study/pool.h"
#include "features/study/share.h"
#include "kit/files/io/paths.h"

enum { MOST_THREADS = 1024, NOTE_SIZE = 256 };

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
        .threads = iwi_study_threads(opts),
        .claims = &opened->claims,
        .others = &opened->others,
        .results = &opened->results,
    };
    iw_status status;

    IW_TRY(iwi_tasks_price(log, inputs, tasks));
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
                        "the file system of '%s' has no locks (%s), so processes cannot share the cells, and "
                        "it is not known how many there are: give each its part (`shard`)",
                        opened->dir, why);
    }
    if (processes == 1) {
        iwi_warn(log,
                 "the file system of '%s' has no locks (%s): make sure that no other process writes there",
                 opened->dir, why);
        return IW_OK;
    }
    iwi_warn(
        log,
        "the file system of '%s' has no locks (%s): cells are dealt to the processes beforehand, and those "
        "of a process that is lost are left to the next run",
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
    outcome.shard = opts->shard + 1;
    outcome.shards = opts->shards;
    outcome.seconds = iwi_now_s() - begin_s;
    if (status == IW_OK) {
        *outcome_p = outcome;
    }
    return status;
}
