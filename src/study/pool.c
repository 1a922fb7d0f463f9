/* Threads that take tasks, largest first, as far as CPUs and memory go.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A task counts as begun from the moment a thread takes it; nothing is begun after a failure or a stop. Which
 * thread runs which task, and with how many threads of its own, never changes a line.
 */
#include "study/pool.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "study/cell_run.h"
#include "study/messages.h"

enum state { WAITING, RUNNING, ENDED };

struct slot {
    const struct iwi_task *task;
    enum state state;
    uint32_t threads;             /* while running */
    atomic_uint_fast32_t permill; /* of its work done, while running */
};

struct pool {
    const struct iwi_pool_job *job;
    struct iwi_messages messages;
    struct slot *slots; /* largest first */
    size_t slot_count;
    double all_seconds;
    pthread_mutex_t file_lock; /* of the results file */
    /* under `lock`: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t workers, waiting, running, cells_ended;
    size_t first_waiting; /* no slot before it waits */
    uint32_t free_threads;
    uint64_t used_bytes;
    iw_status status; /* the first failure */
    bool is_stopping;
};

/* What a task writes to while it runs. */
struct task_log {
    iw_log log;
    struct iwi_messages *messages;
    char name[IWI_TASK_NAME_SIZE];
};

static void keep_message(void *arg, iw_log_level level, const char *text)
{
    struct task_log *task_log = arg;

    iwi_messages_add(task_log->messages, level, task_log->name, text);
}

static void note_progress(void *arg, uint64_t done, uint64_t total)
{
    struct slot *slot = arg;

    atomic_store(&slot->permill, total > 0 ? (uint_fast32_t)(1000.0 * (double)done / (double)total) : 0);
}

uint32_t iwi_pool_threads(double task_seconds, double all_seconds, uint32_t threads)
{
    const double fair = all_seconds > 0.0 ? round(task_seconds * threads / all_seconds) : 1.0;

    return fair <= 1.0 ? 1 : (fair >= threads ? threads : (uint32_t)fair);
}

/* ---- taking ---- */

/* As many threads as it should get, are free, and have room for their state; 0: it has to wait. */
static uint32_t threads_for(const struct pool *pool, const struct iwi_task *task)
{
    const uint64_t budget = pool->job->budget_bytes;
    uint32_t threads = iwi_pool_threads(task->seconds, pool->all_seconds, pool->job->threads);

    threads = threads < pool->free_threads ? threads : pool->free_threads;
    while (threads > 1 && pool->used_bytes + task->bytes * threads > budget) {
        threads--;
    }
    if (pool->running > 0 && pool->used_bytes + task->bytes > budget) {
        return 0;
    }
    return threads;
}

/* NULL: none can begin now. */
static struct slot *find_slot(struct pool *pool)
{
    while (pool->first_waiting < pool->slot_count && pool->slots[pool->first_waiting].state != WAITING) {
        pool->first_waiting++;
    }
    for (size_t i = pool->first_waiting; i < pool->slot_count && pool->free_threads > 0; i++) {
        struct slot *slot = &pool->slots[i];

        if (slot->state == WAITING) {
            slot->threads = threads_for(pool, slot->task);
            if (slot->threads > 0) {
                return slot;
            }
        }
    }
    return NULL;
}

static bool is_over(const struct pool *pool)
{
    return pool->waiting == 0 || pool->is_stopping || pool->status != IW_OK;
}

/* Waits until a task can begin; NULL: there is nothing more to do. `lock` is held. */
static struct slot *take(struct pool *pool)
{
    struct slot *slot = NULL;

    while (!is_over(pool) && (slot = find_slot(pool)) == NULL) {
        (void)pthread_cond_wait(&pool->changed, &pool->lock);
    }
    if (slot != NULL) {
        slot->state = RUNNING;
        pool->waiting--;
        pool->running++;
        pool->free_threads -= slot->threads;
        pool->used_bytes += slot->task->bytes * slot->threads;
    }
    return slot;
}

static void give_back(struct pool *pool, struct slot *slot, iw_status status)
{
    slot->state = ENDED;
    pool->running--;
    pool->free_threads += slot->threads;
    pool->used_bytes -= slot->task->bytes * slot->threads;
    if (status == IW_OK) {
        pool->cells_ended++;
    } else if (pool->status == IW_OK) {
        pool->status = status;
    }
    (void)pthread_cond_broadcast(&pool->changed);
}

/* ---- running ---- */

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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

static iw_status write_line(struct pool *pool, const struct slot *slot, const char *line, double seconds)
{
    const iw_cell *cell = &pool->job->inputs->study->cells[slot->task->cell];
    struct task_log file_log = {{keep_message, &file_log}, &pool->messages, ""};
    iw_status status;

    (void)pthread_mutex_lock(&pool->file_lock);
    status = iwi_results_file_append(&file_log.log, pool->job->results, line);
    if (status == IW_OK) {
        write_timing(pool->job->timings_fd, cell->id, seconds, slot->task->bytes);
    }
    (void)pthread_mutex_unlock(&pool->file_lock);
    return status;
}

static iw_status run_task(struct pool *pool, struct slot *slot)
{
    const iw_study *study = pool->job->inputs->study;
    const iw_cell *cell = &study->cells[slot->task->cell];
    const iw_progress progress = {note_progress, slot};
    struct task_log task_log = {{keep_message, &task_log}, &pool->messages, ""};
    const double begin_s = now_s();
    char *line = NULL;
    iw_status status;

    iwi_task_name(study, slot->task, task_log.name);
    status = iwi_cell_run(&task_log.log, pool->job->inputs, cell, slot->threads, progress, &line);
    if (status == IW_OK) {
        status = write_line(pool, slot, line, (now_s() - begin_s) * slot->threads);
    }
    if (status == IW_OK) {
        atomic_store(&slot->permill, 1000);
    }
    free(line);
    return status;
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    struct slot *slot;

    (void)pthread_mutex_lock(&pool->lock);
    while ((slot = take(pool)) != NULL) {
        iw_status status;

        (void)pthread_mutex_unlock(&pool->lock);
        status = run_task(pool, slot);
        (void)pthread_mutex_lock(&pool->lock);
        give_back(pool, slot, status);
    }
    pool->workers--;
    (void)pthread_cond_broadcast(&pool->changed);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- the calling thread ---- */

static void report(const struct pool *pool, size_t cells_ended)
{
    const iw_study_opts *opts = pool->job->opts;
    iw_study_progress now = {.cells_done = pool->job->tasks->found + cells_ended,
                             .cells_total = pool->job->tasks->count,
                             .work_total = pool->all_seconds};

    if (opts->progress == NULL) {
        return;
    }
    for (size_t i = 0; i < pool->slot_count; i++) {
        now.work_done += pool->slots[i].task->seconds * 1e-3 * (double)atomic_load(&pool->slots[i].permill);
    }
    opts->progress(opts->arg, &now);
}

/* Sleeps until something changes, at most a tenth of a second. */
static void wait_a_little(struct pool *pool)
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

static void watch(const iw_log *log, struct pool *pool)
{
    const iw_study_opts *opts = pool->job->opts;

    (void)pthread_mutex_lock(&pool->lock);
    while (pool->workers > 0) {
        const size_t cells_ended = pool->cells_ended;
        bool is_stopped;

        (void)pthread_mutex_unlock(&pool->lock);
        iwi_messages_hand_on(&pool->messages, log);
        report(pool, cells_ended);
        is_stopped = opts->is_stopped != NULL && opts->is_stopped(opts->arg);
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
    report(pool, pool->cells_ended);
    iwi_messages_hand_on(&pool->messages, log);
}

/* Signals stay with the calling thread. Fewer threads than wanted will do. */
static uint32_t start(struct pool *pool, pthread_t *threads, uint32_t wanted)
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

static iw_status run_threads(const iw_log *log, struct pool *pool)
{
    const uint32_t threads = pool->job->threads;
    const uint32_t wanted = pool->slot_count < threads ? (uint32_t)pool->slot_count : threads;
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
    return pool->status;
}

static iw_status fill_slots(const iw_log *log, struct pool *pool)
{
    const struct iwi_tasks *tasks = pool->job->tasks;

    pool->slots = iwi_new_array(log, tasks->count, sizeof *pool->slots);
    if (pool->slots == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (!tasks->items[i].is_found) {
            pool->slots[pool->slot_count++].task = &tasks->items[i];
            pool->all_seconds += tasks->items[i].seconds;
        }
    }
    pool->waiting = pool->slot_count;
    return IW_OK;
}

iw_status iwi_pool_run(const iw_log *log, const struct iwi_pool_job *job, size_t *run_p, bool *is_stopped_p)
{
    struct pool pool = {.job = job, .free_threads = job->threads};
    pthread_condattr_t monotonic;
    iw_status status;

    IW_TRY(fill_slots(log, &pool));
    iwi_messages_init(&pool.messages);
    (void)pthread_mutex_init(&pool.lock, NULL);
    (void)pthread_mutex_init(&pool.file_lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pool.changed, &monotonic);
    status = run_threads(log, &pool);
    *run_p += pool.cells_ended;
    *is_stopped_p = pool.is_stopping && pool.waiting > 0;
    (void)pthread_cond_destroy(&pool.changed);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_destroy(&pool.lock);
    (void)pthread_mutex_destroy(&pool.file_lock);
    iwi_messages_release(&pool.messages);
    free(pool.slots);
    return status;
}
