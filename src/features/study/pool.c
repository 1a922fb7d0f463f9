/* Threads that take the largest cell that fits and that no process has; the calling thread watches, reports
 * and hands on what they say.
 * SPDX-License-Identifier: BSD-3-Clause
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
#include "core/base/order.h"
#include "features/study/cells.h"

#include "features/study/pool.h"

/* ======== messages of threads ======== */

struct iwi_message {
    iw_log_level level;
    char *about, *text;
};

struct iwi_messages {
    pthread_mutex_t lock;
    struct iwi_message *items;
    size_t count, capacity, handed_on;
};

static void messages_init(struct iwi_messages *messages)
{
    *messages = (struct iwi_messages){.items = NULL};
    (void)pthread_mutex_init(&messages->lock, NULL);
}

static void messages_release(struct iwi_messages *messages)
{
    for (size_t i = 0; i < messages->count; i++) {
        free(messages->items[i].about);
        free(messages->items[i].text);
    }
    free(messages->items);
    (void)pthread_mutex_destroy(&messages->lock);
}

/* Errors are told of each that has them; anything else once. */
static bool is_said_already(const struct iwi_messages *messages, iw_log_level level, const char *about,
                            const char *text)
{
    bool is_said = false;

    for (size_t i = 0; i < messages->count; i++) {
        const struct iwi_message *said = &messages->items[i];

        is_said |= said->level == level && strcmp(said->text, text) == 0 &&
                   (level != IW_LOG_ERROR || strcmp(said->about, about) == 0);
    }
    return is_said;
}

static void keep(struct iwi_messages *messages, iw_log_level level, const char *about, const char *text)
{
    struct iwi_message message = {.level = level};

    if (iwi_grow(NULL, (void **)&messages->items, &messages->capacity, messages->count + 1,
                 sizeof *messages->items) != IW_OK) {
        return;
    }
    message.about = strdup(about);
    message.text = strdup(text);
    if (message.about == NULL || message.text == NULL) {
        free(message.about);
        free(message.text);
        return;
    }
    messages->items[messages->count++] = message;
}

/* From any thread. `about` goes before the text: "cell 17: ..."; it may be "". */
static void messages_add(struct iwi_messages *messages, iw_log_level level, const char *about,
                         const char *text)
{
    (void)pthread_mutex_lock(&messages->lock);
    if (!is_said_already(messages, level, about, text)) {
        keep(messages, level, about, text);
    }
    (void)pthread_mutex_unlock(&messages->lock);
}

/* Writes what has come since the last time, but of warnings that say the same about several only the first.
 */
static void messages_hand_on(struct iwi_messages *messages, const iw_log *log)
{
    char line[2048];

    (void)pthread_mutex_lock(&messages->lock);
    for (; messages->handed_on < messages->count; messages->handed_on++) {
        const struct iwi_message *message = &messages->items[messages->handed_on];

        if (log != NULL && log->write != NULL) {
            snprintf(line, sizeof line, "%s%s%s", message->about, message->about[0] != '\0' ? ": " : "",
                     message->text);
            log->write(log->arg, message->level, line);
        }
    }
    (void)pthread_mutex_unlock(&messages->lock);
}

/* ======== states of cells ======== */

IWI_COMPARE(compare_named, struct iwi_named_cell, IWI_TEXT(id))

static iw_status sort_by_id(const iw_log *log, struct iwi_cell_states *cells)
{
    cells->by_id = iwi_new_array(log, cells->count, sizeof *cells->by_id);
    if (cells->by_id == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < cells->count; i++) {
        cells->by_id[i] =
            (struct iwi_named_cell){cells->study->cells[cells->items[i].task->cell].id, &cells->items[i]};
    }
    iwi_sort(cells->by_id, cells->count, compare_named);
    return IW_OK;
}

iw_status iwi_cell_states_init(const iw_log *log, const iw_study *study, const struct iwi_tasks *tasks,
                               struct iwi_cell_states *cells)
{
    iw_status status;

    *cells = (struct iwi_cell_states){.study = study};
    cells->items = iwi_new_array(log, tasks->count, sizeof *cells->items);
    if (cells->items == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (!tasks->items[i].is_found) {
            cells->items[cells->count++].task = &tasks->items[i];
            cells->all_seconds += tasks->items[i].seconds;
        }
    }
    cells->in[IWI_WAITING] = cells->count;
    status = sort_by_id(log, cells);
    if (status != IW_OK) {
        iwi_cell_states_release(cells);
    }
    return status;
}

void iwi_cell_states_release(struct iwi_cell_states *cells)
{
    free(cells->items);
    free(cells->by_id);
    *cells = (struct iwi_cell_states){.study = NULL};
}

void iwi_cell_states_set(struct iwi_cell_states *cells, struct iwi_tracked_cell *tracked,
                         enum iwi_cell_state state)
{
    const size_t place = (size_t)(tracked - cells->items);

    cells->in[tracked->state]--;
    cells->in[state]++;
    tracked->state = state;
    if (state == IWI_WAITING && place < cells->first_waiting) {
        cells->first_waiting = place;
    }
    if (state == IWI_ENDED || state == IWI_FOUND) {
        atomic_store(&tracked->permill, 1000);
    }
}

void iwi_cell_states_note_found(struct iwi_cell_states *cells, const char *id)
{
    const struct iwi_named_cell key = {.id = id};
    const struct iwi_named_cell *found = iwi_find(&key, cells->by_id, cells->count, compare_named);
    struct iwi_tracked_cell *tracked;

    if (found == NULL) {
        return; /* of another shard, or of another version of the study */
    }
    tracked = found->tracked;
    tracked->is_found = true;
    if (tracked->state == IWI_WAITING || tracked->state == IWI_HELD || tracked->state == IWI_FAILED) {
        iwi_cell_states_set(cells, tracked, IWI_FOUND);
    }
}

void iwi_cell_states_retry_held(struct iwi_cell_states *cells, size_t most)
{
    for (size_t i = 0; i < cells->count && most > 0 && cells->in[IWI_HELD] > 0; i++) {
        struct iwi_tracked_cell *tracked = &cells->items[cells->next_held];

        cells->next_held = (cells->next_held + 1) % cells->count;
        if (tracked->state == IWI_HELD) {
            iwi_cell_states_set(cells, tracked, IWI_WAITING);
            most--;
        }
    }
}

double iwi_cell_states_work_done(const struct iwi_cell_states *cells)
{
    double done = 0.0;

    for (size_t i = 0; i < cells->count; i++) {
        done += cells->items[i].task->seconds * 1e-3 * (double)atomic_load(&cells->items[i].permill);
    }
    return done;
}

/* ======== taking cells ======== */

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
struct task_messages {
    iw_log log;
    struct iwi_messages *messages;
    char name[IWI_TASK_NAME_SIZE];
};

uint32_t iwi_pool_threads(double task_seconds, double all_seconds, uint32_t threads)
{
    const double fair = all_seconds > 0.0 ? round(task_seconds * threads / all_seconds) : 1.0;

    return fair <= 1.0 ? 1 : (fair >= threads ? threads : (uint32_t)fair);
}

static void keep_message(void *arg, iw_log_level level, const char *text)
{
    struct task_messages *to = arg;

    messages_add(to->messages, level, to->name, text);
}

static void task_messages_init(struct iwi_pool *pool, struct task_messages *messages)
{
    *messages = (struct task_messages){.log = {keep_message, messages}, .messages = &pool->messages};
}

/* ---- claiming: without `lock` ---- */

static const iw_cell *pool_cell(const struct iwi_pool *pool, const struct iwi_tracked_cell *tracked)
{
    return &pool->job->inputs->study->cells[tracked->task->cell];
}

static void give_claims_back(const struct iwi_pool *pool, struct iwi_tracked_cell *tracked)
{
    if (tracked->has_node) {
        iwi_claims_give_back(pool->job->claims, iwi_claim_of_node());
    }
    if (tracked->has_claim) {
        iwi_claims_give_back(pool->job->claims, iwi_claim_of_cell(pool_cell(pool, tracked)));
    }
    tracked->has_claim = tracked->has_node = false;
}

static void note_found(void *arg, const char *id)
{
    struct iwi_pool *pool = arg;

    (void)pthread_mutex_lock(&pool->lock);
    iwi_cell_states_note_found(&pool->cells, id);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* Notes what others have finished. */
static iw_status pool_read_peers(struct iwi_pool *pool)
{
    struct task_messages messages;
    iw_status status;

    task_messages_init(pool, &messages);
    (void)pthread_mutex_lock(&pool->others_lock);
    status = iwi_peer_results_read(&messages.log, pool->job->others, note_found, pool);
    (void)pthread_mutex_unlock(&pool->others_lock);
    return status;
}

/* What others have finished before they gave the claim back is seen before it counts. A task beyond this
 * process's share of the memory needs the node too: one of them at a time. */
static iw_status claim(struct iwi_pool *pool, struct iwi_tracked_cell *tracked)
{
    const struct iwi_claims *claims = pool->job->claims;
    struct task_messages messages;
    const bool is_large = tracked->task->bytes * tracked->threads > pool->job->budget_bytes;

    task_messages_init(pool, &messages);
    IW_TRY(iwi_claims_take(&messages.log, claims, iwi_claim_of_cell(pool_cell(pool, tracked)),
                           &tracked->has_claim));
    if (tracked->has_claim && is_large) {
        IW_TRY(iwi_claims_take(&messages.log, claims, iwi_claim_of_node(), &tracked->has_node));
        if (!tracked->has_node) {
            give_claims_back(pool, tracked);
        }
    }
    return tracked->has_claim && claims->fault == 0 ? pool_read_peers(pool) : IW_OK;
}

/* ---- taking: `lock` is held ---- */

/* As many threads as it should get, are free, and have room for their state; 0: it has to wait. */
static uint32_t threads_for(const struct iwi_pool *pool, const struct iwi_task *task)
{
    const uint64_t budget = pool->job->budget_bytes;
    const uint32_t processes = pool->job->opts->processes > 1 ? pool->job->opts->processes : 1;
    const bool is_alone = pool->cells.in[IWI_RUNNING] + pool->cells.in[IWI_CLAIMING] == 0;
    uint32_t threads =
        iwi_pool_threads(task->seconds, pool->cells.all_seconds / processes, pool->job->threads);

    threads = threads < pool->free_threads ? threads : pool->free_threads;
    while (threads > 1 && pool->used_bytes + task->bytes * threads > budget) {
        threads--;
    }
    if (!is_alone && pool->used_bytes + task->bytes > budget) {
        return 0;
    }
    return threads;
}

/* NULL: none can begin now. */
static struct iwi_tracked_cell *find_slot(struct iwi_pool *pool)
{
    struct iwi_cell_states *cells = &pool->cells;

    while (cells->first_waiting < cells->count && cells->items[cells->first_waiting].state != IWI_WAITING) {
        cells->first_waiting++;
    }
    for (size_t i = cells->first_waiting; i < cells->count && pool->free_threads > 0; i++) {
        struct iwi_tracked_cell *tracked = &cells->items[i];

        if (tracked->state == IWI_WAITING) {
            tracked->threads = threads_for(pool, tracked->task);
            if (tracked->threads > 0) {
                return tracked;
            }
        }
    }
    return NULL;
}

static bool is_over(const struct iwi_pool *pool)
{
    const size_t *in = pool->cells.in;

    return pool->is_stopping || pool->status != IW_OK ||
           (in[IWI_WAITING] == 0 && in[IWI_CLAIMING] == 0 && (in[IWI_HELD] == 0 || pool->job->opts->leaves));
}

static void set_aside(struct iwi_pool *pool, struct iwi_tracked_cell *tracked, enum iwi_cell_state state)
{
    iwi_cell_states_set(&pool->cells, tracked, state);
    pool->free_threads += tracked->threads;
    pool->used_bytes -= tracked->task->bytes * tracked->threads;
    (void)pthread_cond_broadcast(&pool->changed);
}

/* False: another process has it. Lets go of `lock` for a while. */
static bool begin(struct iwi_pool *pool, struct iwi_tracked_cell *tracked)
{
    iw_status status;

    iwi_cell_states_set(&pool->cells, tracked, IWI_CLAIMING);
    pool->free_threads -= tracked->threads;
    pool->used_bytes += tracked->task->bytes * tracked->threads;
    (void)pthread_mutex_unlock(&pool->lock);
    status = claim(pool, tracked);
    (void)pthread_mutex_lock(&pool->lock);
    if (status == IW_OK && tracked->has_claim && !tracked->is_found) {
        iwi_cell_states_set(&pool->cells, tracked, IWI_RUNNING);
        return true;
    }
    give_claims_back(pool, tracked);
    pool->status = pool->status == IW_OK ? status : pool->status;
    set_aside(pool, tracked, tracked->is_found ? IWI_FOUND : IWI_HELD);
    return false;
}

/* Waits until a task can begin; NULL: there is nothing more to do. */
static struct iwi_tracked_cell *pool_take(struct iwi_pool *pool)
{
    while (!is_over(pool)) {
        struct iwi_tracked_cell *tracked = find_slot(pool);

        if (tracked == NULL) {
            (void)pthread_cond_wait(&pool->changed, &pool->lock);
        } else if (begin(pool, tracked)) {
            return tracked;
        }
    }
    return NULL;
}

/* A task that failed stays claimed for now: other processes have better things to do first. */
static void pool_end(struct iwi_pool *pool, struct iwi_tracked_cell *tracked, iw_status status)
{
    const bool goes_on = pool->job->opts->processes > 1 && status != IW_ERR_IO;

    if (status == IW_OK) {
        give_claims_back(pool, tracked);
        set_aside(pool, tracked, tracked->is_found ? IWI_FOUND : IWI_ENDED);
        return;
    }
    pool->failure = pool->failure == IW_OK ? status : pool->failure;
    pool->status = pool->status == IW_OK && !goes_on ? status : pool->status;
    set_aside(pool, tracked, IWI_FAILED);
}

/* Nothing else is left to this process: others may try what failed here. */
static void pool_give_failed_back(struct iwi_pool *pool)
{
    for (size_t i = 0; i < pool->cells.count && pool->cells.in[IWI_FAILED] > 0; i++) {
        if (pool->cells.items[i].state == IWI_FAILED) {
            give_claims_back(pool, &pool->cells.items[i]);
        }
    }
}

/* ======== threads ======== */

/* A task counts as begun from the moment a thread takes it; nothing is begun after a failure or a stop. Which
 * thread runs which task, and with how many threads of its own, never changes a line. */

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
    const iw_cell *cell = pool_cell(pool, tracked);
    struct task_messages messages;
    iw_status status;

    task_messages_init(pool, &messages);
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
    const iw_cell *cell = pool_cell(pool, tracked);
    const iw_progress progress = {note_progress, tracked};
    struct task_messages messages;
    const double begin_s = iwi_now_s();
    char *line = NULL;
    iw_status status;

    task_messages_init(pool, &messages);
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
    while ((tracked = pool_take(pool)) != NULL) {
        iw_status status;

        (void)pthread_mutex_unlock(&pool->lock);
        status = run_task(pool, tracked);
        (void)pthread_mutex_lock(&pool->lock);
        pool_end(pool, tracked, status);
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
    status = is_wanted ? pool_read_peers(pool) : IW_OK;
    (void)pthread_mutex_lock(&pool->lock);
    pool->status = pool->status == IW_OK ? status : pool->status;
    /* without a worker nobody would try them: they stay what the outcome counts, held elsewhere */
    if (pool->workers > 0 && pool->cells.in[IWI_WAITING] == 0 && pool->cells.in[IWI_CLAIMING] == 0) {
        pool_give_failed_back(pool);
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
        messages_hand_on(&pool->messages, log);
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
    messages_hand_on(&pool->messages, log);
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
    messages_init(&pool.messages);
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
    messages_release(&pool.messages);
    iwi_cell_states_release(&pool.cells);
    return status;
}
