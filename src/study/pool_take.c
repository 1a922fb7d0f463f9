/* Takes tasks, largest first, as far as CPUs and memory go and no other process has them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study/pool_state.h"

#include <math.h>

#include "base/base.h"

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

const iw_cell *iwi_pool_cell(const struct iwi_pool *pool, const struct iwi_slot *slot)
{
    return &pool->job->inputs->study->cells[slot->task->cell];
}

static void give_claims_back(const struct iwi_pool *pool, struct iwi_slot *slot)
{
    if (slot->has_node) {
        iwi_claims_give_back(pool->job->claims, iwi_claim_of_node());
    }
    if (slot->has_claim) {
        iwi_claims_give_back(pool->job->claims, iwi_claim_of_cell(iwi_pool_cell(pool, slot)));
    }
    slot->has_claim = slot->has_node = false;
}

static void note_found(void *arg, const char *id)
{
    struct iwi_pool *pool = arg;

    (void)pthread_mutex_lock(&pool->lock);
    iwi_slots_note_found(&pool->slots, id);
    (void)pthread_mutex_unlock(&pool->lock);
}

iw_status iwi_pool_read_others(struct iwi_pool *pool)
{
    struct iwi_task_messages messages;
    iw_status status;

    iwi_task_messages_init(pool, &messages);
    (void)pthread_mutex_lock(&pool->others_lock);
    status = iwi_others_read(&messages.log, pool->job->others, note_found, pool);
    (void)pthread_mutex_unlock(&pool->others_lock);
    return status;
}

/* What others have finished before they gave the claim back is seen before it counts. A task beyond this
 * process's share of the memory needs the node too: one of them at a time. */
static iw_status claim(struct iwi_pool *pool, struct iwi_slot *slot)
{
    const struct iwi_claims *claims = pool->job->claims;
    struct iwi_task_messages messages;
    const bool is_large = slot->task->bytes * slot->threads > pool->job->budget_bytes;

    iwi_task_messages_init(pool, &messages);
    IW_TRY(iwi_claims_take(&messages.log, claims, iwi_claim_of_cell(iwi_pool_cell(pool, slot)),
                           &slot->has_claim));
    if (slot->has_claim && is_large) {
        IW_TRY(iwi_claims_take(&messages.log, claims, iwi_claim_of_node(), &slot->has_node));
        if (!slot->has_node) {
            give_claims_back(pool, slot);
        }
    }
    return slot->has_claim && claims->fault == 0 ? iwi_pool_read_others(pool) : IW_OK;
}

/* ---- taking: `lock` is held ---- */

/* As many threads as it should get, are free, and have room for their state; 0: it has to wait. */
static uint32_t threads_for(const struct iwi_pool *pool, const struct iwi_task *task)
{
    const uint64_t budget = pool->job->budget_bytes;
    const uint32_t processes = pool->job->opts->processes > 1 ? pool->job->opts->processes : 1;
    const bool is_alone = pool->slots.in[IWI_RUNNING] + pool->slots.in[IWI_CLAIMING] == 0;
    uint32_t threads =
        iwi_pool_threads(task->seconds, pool->slots.all_seconds / processes, pool->job->threads);

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
static struct iwi_slot *find_slot(struct iwi_pool *pool)
{
    struct iwi_slots *slots = &pool->slots;

    while (slots->first_waiting < slots->count && slots->items[slots->first_waiting].state != IWI_WAITING) {
        slots->first_waiting++;
    }
    for (size_t i = slots->first_waiting; i < slots->count && pool->free_threads > 0; i++) {
        struct iwi_slot *slot = &slots->items[i];

        if (slot->state == IWI_WAITING) {
            slot->threads = threads_for(pool, slot->task);
            if (slot->threads > 0) {
                return slot;
            }
        }
    }
    return NULL;
}

static bool is_over(const struct iwi_pool *pool)
{
    const size_t *in = pool->slots.in;

    return pool->is_stopping || pool->status != IW_OK ||
           (in[IWI_WAITING] == 0 && in[IWI_CLAIMING] == 0 && (in[IWI_HELD] == 0 || pool->job->opts->leaves));
}

static void set_aside(struct iwi_pool *pool, struct iwi_slot *slot, enum iwi_slot_state state)
{
    iwi_slot_set(&pool->slots, slot, state);
    pool->free_threads += slot->threads;
    pool->used_bytes -= slot->task->bytes * slot->threads;
    (void)pthread_cond_broadcast(&pool->changed);
}

/* False: another process has it. Lets go of `lock` for a while. */
static bool begin(struct iwi_pool *pool, struct iwi_slot *slot)
{
    iw_status status;

    iwi_slot_set(&pool->slots, slot, IWI_CLAIMING);
    pool->free_threads -= slot->threads;
    pool->used_bytes += slot->task->bytes * slot->threads;
    (void)pthread_mutex_unlock(&pool->lock);
    status = claim(pool, slot);
    (void)pthread_mutex_lock(&pool->lock);
    if (status == IW_OK && slot->has_claim && !slot->is_found) {
        iwi_slot_set(&pool->slots, slot, IWI_RUNNING);
        return true;
    }
    give_claims_back(pool, slot);
    pool->status = pool->status == IW_OK ? status : pool->status;
    set_aside(pool, slot, slot->is_found ? IWI_FOUND : IWI_HELD);
    return false;
}

/* Waits until a task can begin; NULL: there is nothing more to do. */
struct iwi_slot *iwi_pool_take(struct iwi_pool *pool)
{
    while (!is_over(pool)) {
        struct iwi_slot *slot = find_slot(pool);

        if (slot == NULL) {
            (void)pthread_cond_wait(&pool->changed, &pool->lock);
        } else if (begin(pool, slot)) {
            return slot;
        }
    }
    return NULL;
}

/* A task that failed stays claimed for now: other processes have better things to do first. */
void iwi_pool_end(struct iwi_pool *pool, struct iwi_slot *slot, iw_status status)
{
    const bool goes_on = pool->job->opts->processes > 1 && status != IW_ERR_IO;

    if (status == IW_OK) {
        give_claims_back(pool, slot);
        set_aside(pool, slot, slot->is_found ? IWI_FOUND : IWI_ENDED);
        return;
    }
    pool->failure = pool->failure == IW_OK ? status : pool->failure;
    pool->status = pool->status == IW_OK && !goes_on ? status : pool->status;
    set_aside(pool, slot, IWI_FAILED);
}

void iwi_pool_give_failed_back(struct iwi_pool *pool)
{
    for (size_t i = 0; i < pool->slots.count && pool->slots.in[IWI_FAILED] > 0; i++) {
        if (pool->slots.items[i].state == IWI_FAILED) {
            give_claims_back(pool, &pool->slots.items[i]);
        }
    }
}
