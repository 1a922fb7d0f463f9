/* Takes tasks, largest first, as far as CPUs and memory go and no other process has them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/pool_state.h"

#include <math.h>

#include "core/base/base.h"

uint32_t iwi_pool_threads(double task_seconds, double all_seconds, uint32_t threads)
{
    const double fair = all_seconds > 0.0 ? round(task_seconds * threads / all_seconds) : 1.0;

    return fair <= 1.0 ? 1 : (fair >= threads ? threads : (uint32_t)fair);
}

static void keep_message(void *arg, iw_log_level level, const char *text)
{
    struct iwi_task_messages *to = arg;

    iwi_messages_add(to->messages, level, to->name, text);
}

void iwi_task_messages_init(struct iwi_pool *pool, struct iwi_task_messages *messages)
{
    *messages = (struct iwi_task_messages){.log = {keep_message, messages}, .messages = &pool->messages};
}

/* ---- claiming: without `lock` ---- */

const iw_cell *iwi_pool_cell(const struct iwi_pool *pool, const struct iwi_tracked_cell *tracked)
{
    return &pool->job->inputs->study->cells[tracked->task->cell];
}

static void give_claims_back(const struct iwi_pool *pool, struct iwi_tracked_cell *tracked)
{
    if (tracked->has_node) {
        iwi_claims_give_back(pool->job->claims, iwi_claim_of_node());
    }
    if (tracked->has_claim) {
        iwi_claims_give_back(pool->job->claims, iwi_claim_of_cell(iwi_pool_cell(pool, tracked)));
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

iw_status iwi_pool_read_peers(struct iwi_pool *pool)
{
    struct iwi_task_messages messages;
    iw_status status;

    iwi_task_messages_init(pool, &messages);
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
    struct iwi_task_messages messages;
    const bool is_large = tracked->task->bytes * tracked->threads > pool->job->budget_bytes;

    iwi_task_messages_init(pool, &messages);
    IW_TRY(iwi_claims_take(&messages.log, claims, iwi_claim_of_cell(iwi_pool_cell(pool, tracked)),
                           &tracked->has_claim));
    if (tracked->has_claim && is_large) {
        IW_TRY(iwi_claims_take(&messages.log, claims, iwi_claim_of_node(), &tracked->has_node));
        if (!tracked->has_node) {
            give_claims_back(pool, tracked);
        }
    }
    return tracked->has_claim && claims->fault == 0 ? iwi_pool_read_peers(pool) : IW_OK;
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
struct iwi_tracked_cell *iwi_pool_take(struct iwi_pool *pool)
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
void iwi_pool_end(struct iwi_pool *pool, struct iwi_tracked_cell *tracked, iw_status status)
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

void iwi_pool_give_failed_back(struct iwi_pool *pool)
{
    for (size_t i = 0; i < pool->cells.count && pool->cells.in[IWI_FAILED] > 0; i++) {
        if (pool->cells.items[i].state == IWI_FAILED) {
            give_claims_back(pool, &pool->cells.items[i]);
        }
    }
}
