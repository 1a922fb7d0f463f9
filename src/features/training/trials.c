/* Runs trials over threads; finds the rate of GPUs that a step time asks for, and what of a plan is bubble.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/trials.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/available.h"
#include "core/base/base.h"

struct pool {
    const iw_log *log;
    const struct iwi_trials *trials;
    atomic_uint_fast64_t next, done;
    atomic_bool is_stopped;
    pthread_mutex_t lock; /* of progress */
    iw_status status;     /* under the lock: the first failure */
};

iw_status iwi_noiseless_step(const iw_log *log, const iw_training *spec, const struct iwi_train_plan *plan,
                             iw_time *step_ps_p)
{
    struct iwi_train_run *run;
    iw_time before = 0, end = 0;

    IW_TRY(iwi_train_run_new(log, spec, plan, NULL, &run));
    for (uint32_t i = 0; i < plan->prefetch + 3; i++) {
        before = end;
        end = iwi_train_step(run);
    }
    iwi_train_run_free(run);
    *step_ps_p = end - before;
    return IW_OK;
}

/* The step before the first one that counts lets the loader and the parameters get into their stride. */
static iw_status run_job(const iw_log *log, const struct iwi_trials *trials, struct iwi_train_run *run,
                         uint64_t job)
{
    const uint64_t trial = job % trials->opts->trials;
    const struct iwi_train_variant *variant = &trials->variants[job / trials->opts->trials];
    const bool is_program = variant == &trials->variants[0];
    const double batch = (double)variant->plan->batch / (double)variant->plan->usual_batch;
    iw_time before, start;

    IW_TRY(iwi_train_begin(log, run, trial, variant->change));
    start = before = iwi_train_step(run);
    iwi_train_watch_begin(run, is_program && trials->taken != NULL);
    for (uint64_t i = 0; i < variant->steps; i++) {
        const iw_time end = iwi_train_step(run);

        if (is_program) {
            trials->step_ns[trial * variant->steps + i] = (double)(end - before) / 1e3;
            iwi_train_watch_step(run, before, end, trials->taken != NULL ? &trials->taken[trial] : NULL);
        }
        before = end;
    }
    trials->mean_ns[job] = (double)(before - start) / 1e3 / (double)variant->steps / batch;
    return IW_OK;
}

/* Jobs come variant by variant, so that most find a run of theirs. */
static iw_status take_run(const iw_log *log, const struct iwi_trials *trials, uint64_t job,
                          const struct iwi_train_variant **last, struct iwi_train_run **run)
{
    const struct iwi_train_variant *variant = &trials->variants[job / trials->opts->trials];

    if (*last == NULL || (*last)->plan != variant->plan) {
        iwi_train_run_free(*run);
        *run = NULL;
        IW_TRY(iwi_train_run_new(log, variant->spec, variant->plan, variant->jitter, run));
        if (variant == &trials->variants[0] && trials->taken != NULL) {
            IW_TRY(iwi_train_watch(log, *run));
        }
    }
    *last = variant;
    return IW_OK;
}

static void tell(struct pool *pool, uint64_t total)
{
    const iw_progress *progress = &pool->trials->opts->progress;
    const uint64_t done = atomic_fetch_add(&pool->done, 1) + 1;
    const iw_progress_now now = {(double)done / (double)total, done, total};

    if (progress->step != NULL) {
        (void)pthread_mutex_lock(&pool->lock);
        if (!progress->step(progress->arg, &now)) {
            atomic_store(&pool->is_stopped, true);
        }
        (void)pthread_mutex_unlock(&pool->lock);
    }
}

static void fail(struct pool *pool, iw_status status)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->status = pool->status != IW_OK ? pool->status : status;
    (void)pthread_mutex_unlock(&pool->lock);
    atomic_store(&pool->is_stopped, true);
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    const struct iwi_trials *trials = pool->trials;
    const uint64_t total = trials->opts->trials * trials->count;
    const struct iwi_train_variant *last = NULL;
    struct iwi_train_run *run = NULL;

    while (!atomic_load(&pool->is_stopped)) {
        const uint64_t job = atomic_fetch_add(&pool->next, 1);
        iw_status status;

        if (job >= total) {
            break;
        }
        status = take_run(pool->log, trials, job, &last, &run);
        status = status == IW_OK ? run_job(pool->log, trials, run, job) : status;
        if (status != IW_OK) {
            fail(pool, status);
            break;
        }
        tell(pool, total);
    }
    iwi_train_run_free(run);
    return NULL;
}

iw_status iwi_trials_run(const iw_log *log, const struct iwi_trials *trials)
{
    const uint64_t total = trials->opts->trials * trials->count;
    const uint64_t wanted = trials->opts->threads > 0 ? trials->opts->threads : iwi_available_cpus();
    const uint64_t count = wanted < total ? wanted : total;
    pthread_t *threads = iwi_new_array(log, (size_t)count, sizeof *threads);
    struct pool pool = {.log = log, .trials = trials, .lock = PTHREAD_MUTEX_INITIALIZER};
    uint64_t started = 0;

    if (threads == NULL) {
        return IW_ERR_NOMEM;
    }
    while (started + 1 < count && pthread_create(&threads[started], NULL, work, &pool) == 0) {
        started++;
    }
    (void)work(&pool);
    for (uint64_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    free(threads);
    if (pool.status != IW_OK) {
        return pool.status;
    }
    return atomic_load(&pool.is_stopped) ? IW_ERR_CANCELLED : IW_OK;
}

static iw_status step_at(const iw_log *log, iw_training *spec, double rate, double *seconds_p)
{
    struct iwi_train_plan *plan;
    iw_time step_ps = 0;
    iw_status status;

    spec->rate = rate;
    IW_TRY(iwi_train_plan_new(log, spec, &plan));
    status = iwi_noiseless_step(log, spec, plan, &step_ps);
    iwi_train_plan_free(plan);
    *seconds_p = (double)step_ps * 1e-12;
    return status;
}

/* A step takes longer the more time a FLOP takes, piece by piece along straight lines: false position, with
 * the older end weighed down (Illinois). */
static iw_status find_rate(const iw_log *log, iw_training *spec, double target_s)
{
    double high = 1.0 / spec->step_rate, low = high / 64.0, high_s, low_s, now_s = INFINITY;

    IW_TRY(step_at(log, spec, 1.0 / high, &high_s));
    IW_TRY(step_at(log, spec, 1.0 / low, &low_s));
    if (low_s > target_s || high_s < target_s) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "no rate of the GPUs gives a step of %.6g s: parts that do not compute take %.6g s",
                        target_s, low_s);
    }
    low_s -= target_s;
    high_s -= target_s;
    for (int i = 0; i < 60 && fabs(now_s) > 1e-12; i++) {
        const double x = high_s > low_s ? low - low_s * (high - low) / (high_s - low_s) : high;

        IW_TRY(step_at(log, spec, 1.0 / x, &now_s));
        now_s -= target_s;
        if (now_s > 0) {
            high = x;
            high_s = now_s;
            low_s /= 2.0;
        } else {
            low = x;
            low_s = now_s;
            high_s /= 2.0;
        }
    }
    return IW_OK;
}

static iw_time lane_work(const struct iwi_train_stage *stage)
{
    iw_time sum = 0;

    for (uint32_t i = 0; i < stage->count; i++) {
        sum +=
            stage->ops[i].lane == IWI_LANE_COMPUTE ? stage->ops[i].work_ps + stage->ops[i].collective_ps : 0;
    }
    return sum;
}

double iwi_plan_bubble(const struct iwi_train_plan *plan, iw_time step_ps)
{
    double busy = 0;

    for (uint32_t s = 0; s < plan->pp; s++) {
        busy += (double)(lane_work(&plan->stages[s]) + plan->optimizer_ps) / plan->pp;
    }
    return step_ps > 0 ? 1.0 - busy / (double)step_ps : 0.0;
}

iw_status iwi_training_settle(const iw_log *log, iw_training *spec)
{
    iw_training_sizes sizes;

    IW_TRY(iw_training_measure(log, spec, &sizes));
    return spec->step_rate > 0 && !iwi_training_is_measured(spec)
               ? find_rate(log, spec, sizes.step_flop / (double)sizes.gpus / spec->step_rate)
               : IW_OK;
}
