/* Threads that run tasks, and the calling thread, which watches them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A task counts as begun from the moment a thread takes it; nothing is begun after a failure or a stop. Which
 * thread runs which task, and with how many threads of its own, never changes a line.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "features/study/cell_run.h"
#include "features/study/pool_state.h"

enum { MOST_RETRIES = 16 }; /* claims tried anew at a time: many processes may wait for few cells */

/* Others are looked after that often while they matter, by how long this lasts already. */
static const double LEAST_LOOK_S = 0.1, MOST_LOOK_S = 1.0, LOOK_SHARE = 0.05;

static bool note_progress(void *arg, const iw_progress_now *now)
{
    struct iwi_tracked_cell *tracked = arg;

    atomic_store(&tracked->permill, (uint_fast32_t)(1000.0 * now->share));
    return true;
}

/* ---- running ---- */

/* Nobody's result depends on it: that it cannot be written is not worth a word. */
static void write_timing(int fd, const char *id, double seconds, uint64_t bytes)
{
    char line[160];
    const int length =
        snprintf(line, sizeof line, "{\"id\": \"%s\", \"seconds\": %.6f, \"bytes\": %" PRIu64 "}\n", id,
                 seconds, bytes);

    if (fd >= 0) {
        (void)!write(fd, line, (size_t)length);
    }
}

static iw_status write_line(struct iwi_pool *pool, const struct iwi_tracked_cell *tracked, const char *line,
                            double seconds)
{
    const iw_cell *cell = iwi_pool_cell(pool, tracked);
    struct iwi_task_messages messages;
    iw_status status;

    iwi_task_messages_init(pool, &messages);
    (void)pthread_mutex_lock(&pool->file_lock);
    status = iwi_results_file_append(&messages.log, pool->job->results, line);
    if (status == IW_OK) {
        write_timing(pool->job->timings_fd, cell->id, seconds, tracked->task->bytes);
    }
    (void)pthread_mutex_unlock(&pool->file_lock);
    return status;
}

/* Where locks do not reach all nodes, another process may have run it meanwhile. */
static bool is_found(struct iwi_pool *pool, const struct iwi_tracked_cell *tracked)
{
    bool found;

    (void)pthread_mutex_lock(&pool->lock);
    found = tracked->is_found;
    (void)pthread_mutex_unlock(&pool->lock);
    return found;
}

static iw_status run_task(struct iwi_pool *pool, struct iwi_tracked_cell *tracked)
{
    const iw_cell *cell = iwi_pool_cell(pool, tracked);
    const iw_progress progress = {note_progress, tracked};
    struct iwi_task_messages messages;
    const double begin_s = iwi_now_s();
    char *line = NULL;
    iw_status status;

    iwi_task_messages_init(pool, &messages);
    iwi_task_name(pool->job->inputs->study, tracked->task, messages.name);
    status = iwi_cell_run(&messages.log, pool->job->inputs, cell, tracked->threads, progress, &line);
    if (status == IW_OK && !is_found(pool, tracked)) {
        status = write_line(pool, tracked, line, (iwi_now_s() - begin_s) * tracked->threads);
    }
    free(line);
    return status;
}

static void *work(void *arg)
{
    struct iwi_pool *pool = arg;
    struct iwi_tracked_cell *tracked;

    (void)pthread_mutex_lock(&pool->lock);
    while ((tracked = iwi_pool_take(pool)) != NULL) {
        iw_status status;

        (void)pthread_mutex_unlock(&pool->lock);
        status = run_task(pool, tracked);
        (void)pthread_mutex_lock(&pool->lock);
        iwi_pool_end(pool, tracked, status);
    }
    pool->workers--;
    (void)pthread_cond_broadcast(&pool->changed);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- the calling thread ---- */

/* False: nothing more is to be begun. */
static bool report(struct iwi_pool *pool)
{
    const iw_progress *progress = &pool->job->opts->progress;
    const size_t *in = pool->cells.in;
    const double all_seconds = pool->cells.all_seconds;
    iw_progress_now now = {.share = 1.0, .total = pool->job->tasks->count};

    if (progress->step == NULL) {
        return true;
    }
    (void)pthread_mutex_lock(&pool->lock);
    now.done = pool->job->tasks->found + in[IWI_ENDED] + in[IWI_FOUND];
    (void)pthread_mutex_unlock(&pool->lock);
    if (all_seconds > 0.0) {
        now.share = fmin(iwi_cell_states_work_done(&pool->cells) / all_seconds, 1.0);
    }
    return progress->step(progress->arg, &now);
}

/* Sees what other processes have done, and whether claims of theirs have become free. */
static void look_around(struct iwi_pool *pool)
{
    const double now = iwi_now_s(), pause_s = LOOK_SHARE * (now - pool->begin_s);
    bool is_wanted;
    iw_status status;

    if (now < pool->look_s || pool->job->claims->fault != 0) {
        return;
    }
    pool->look_s = now + fmin(fmax(pause_s, LEAST_LOOK_S), MOST_LOOK_S);
    (void)pthread_mutex_lock(&pool->lock);
    is_wanted = pool->cells.in[IWI_HELD] > 0 || pool->job->opts->progress.step != NULL;
    (void)pthread_mutex_unlock(&pool->lock);
    status = is_wanted ? iwi_pool_read_peers(pool) : IW_OK;
    (void)pthread_mutex_lock(&pool->lock);
    pool->status = pool->status == IW_OK ? status : pool->status;
    /* without a worker nobody would try them: they stay what the outcome counts, held elsewhere */
    if (pool->workers > 0 && pool->cells.in[IWI_WAITING] == 0 && pool->cells.in[IWI_CLAIMING] == 0) {
        iwi_pool_give_failed_back(pool);
        iwi_cell_states_retry_held(&pool->cells, MOST_RETRIES);
    }
    (void)pthread_cond_broadcast(&pool->changed);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* Sleeps until something changes, at most a tenth of a second. */
static void wait_a_little(struct iwi_pool *pool)
{
    const long ns_per_s = 1000000000;
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ns_per_s / 10;
    if (until.tv_nsec >= ns_per_s) {
        until.tv_nsec -= ns_per_s;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
}

static void watch(const iw_log *log, struct iwi_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->workers > 0) {
        bool is_stopped;

        (void)pthread_mutex_unlock(&pool->lock);
        iwi_messages_hand_on(&pool->messages, log);
        look_around(pool);
        is_stopped = !report(pool);
        (void)pthread_mutex_lock(&pool->lock);
        pool->is_stopping |= is_stopped;
        if (is_stopped) {
            (void)pthread_cond_broadcast(&pool->changed);
        }
        if (pool->workers > 0) {
            wait_a_little(pool);
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    (void)report(pool);
    iwi_messages_hand_on(&pool->messages, log);
}

/* Signals stay with the calling thread. Fewer threads than wanted will do. */
static uint32_t start(struct iwi_pool *pool, pthread_t *threads, uint32_t wanted)
{
    sigset_t all, before;
    uint32_t started = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_mutex_lock(&pool->lock);
    while (started < wanted && pthread_create(&threads[started], NULL, work, pool) == 0) {
        started++;
    }
    pool->workers = started;
    (void)pthread_mutex_unlock(&pool->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static iw_status run_threads(const iw_log *log, struct iwi_pool *pool)
{
    const uint32_t threads = pool->job->threads;
    const uint32_t wanted = pool->cells.count < threads ? (uint32_t)pool->cells.count : threads;
    pthread_t *handles = iwi_new_array(log, wanted, sizeof *handles);
    uint32_t started;

    if (handles == NULL) {
        return IW_ERR_NOMEM;
    }
    started = start(pool, handles, wanted);
    if (started == 0 && wanted > 0) {
        free(handles);
        return iwi_fail(log, IW_ERR_NOMEM, "cannot start a thread");
    }
    watch(log, pool);
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(handles[i], NULL);
    }
    free(handles);
    return pool->status != IW_OK ? pool->status : pool->failure;
}

static void fill_outcome(const struct iwi_pool *pool, iw_study_outcome *outcome)
{
    const size_t *in = pool->cells.in;

    outcome->run = in[IWI_ENDED];
    outcome->others = in[IWI_FOUND];
    outcome->elsewhere = in[IWI_HELD];
    outcome->is_stopped = pool->is_stopping && in[IWI_WAITING] + in[IWI_HELD] > 0;
}

iw_status iwi_pool_run(const iw_log *log, const struct iwi_pool_job *job, iw_study_outcome *outcome)
{
    struct iwi_pool pool = {.job = job, .free_threads = job->threads, .begin_s = iwi_now_s()};
    pthread_condattr_t monotonic;
    iw_status status;

    IW_TRY(iwi_cell_states_init(log, job->inputs->study, job->tasks, &pool.cells));
    iwi_messages_init(&pool.messages);
    (void)pthread_mutex_init(&pool.lock, NULL);
    (void)pthread_mutex_init(&pool.file_lock, NULL);
    (void)pthread_mutex_init(&pool.others_lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pool.changed, &monotonic);
    status = run_threads(log, &pool);
    fill_outcome(&pool, outcome);
    (void)pthread_cond_destroy(&pool.changed);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_destroy(&pool.lock);
    (void)pthread_mutex_destroy(&pool.file_lock);
    (void)pthread_mutex_destroy(&pool.others_lock);
    iwi_messages_release(&pool.messages);
    iwi_cell_states_release(&pool.cells);
    return status;
}
