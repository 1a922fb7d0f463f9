/* Tests the CPUs of a fleet, number by number, on several threads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A column is tested by itself, so threads share nothing that changes but the number of the next one. Alarms
 * are put in order afterwards (fleet_findings.c): who raised them does not matter.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "features/fleet/fleet_judge.h"

/* Threads do not pay for themselves where each would have fewer cells. */
static const size_t LEAST_CELLS = 20000;

struct pool {
    const iw_fleet *fleet;
    atomic_size_t next; /* column */
};

struct worker {
    struct pool *pool;
    struct iwi_fleet_trial trial;
    pthread_t thread;
    iw_status status;
};

iw_status iwi_fleet_trial_init(const iw_log *log, iw_fleet *fleet, struct iwi_fleet_trial *trial)
{
    const size_t node_count = iwi_fleet_node_count(fleet);

    *trial = (struct iwi_fleet_trial){.log = log, .fleet = fleet, .node_count = node_count};
    trial->place.units = iwi_new_array(log, node_count, sizeof *trial->place.units);
    trial->having = iwi_new_array(log, node_count, sizeof *trial->having);
    trial->scratch = iwi_new_array(log, node_count, sizeof *trial->scratch);
    trial->first_entry = iwi_new_array(log, fleet->cells->family_count + 2, sizeof *trial->first_entry);
    return trial->place.units != NULL && trial->having != NULL && trial->scratch != NULL &&
                   trial->first_entry != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

void iwi_fleet_trial_release(struct iwi_fleet_trial *trial)
{
    free(trial->place.units);
    free(trial->having);
    free(trial->scratch);
    free(trial->sorted);
    free(trial->first_entry);
    free(trial->alarms);
}

static iw_status test_next(struct pool *pool, struct iwi_fleet_trial *trial)
{
    const struct iwi_fleet_cells *cells = pool->fleet->cells;

    for (;;) {
        const size_t number = atomic_fetch_add(&pool->next, 1);

        if (number >= cells->column_count) {
            return IW_OK;
        }
        if (iwi_fleet_is_place(pool->fleet, cells->columns[number].cpu)) {
            IW_TRY(iwi_fleet_test_place(trial, &cells->columns[number]));
        }
    }
}

static void *work(void *arg)
{
    struct worker *worker = arg;

    worker->status = test_next(worker->pool, &worker->trial);
    return NULL;
}

/* Fewer where there is no memory for more, down to none. */
static size_t start(const struct iwi_fleet_trial *judge, struct pool *pool, struct worker *workers,
                    size_t count)
{
    size_t started = 0;

    while (started < count) {
        struct worker *worker = &workers[started];

        *worker = (struct worker){.pool = pool};
        if (iwi_fleet_trial_init(NULL, judge->fleet, &worker->trial) != IW_OK) {
            iwi_fleet_trial_release(&worker->trial);
            break;
        }
        worker->trial.p = judge->p;
        worker->trial.is_placed = judge->is_placed;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            iwi_fleet_trial_release(&worker->trial);
            break;
        }
        started++;
    }
    return started;
}

static iw_status take_alarms(struct iwi_fleet_trial *judge, const struct iwi_fleet_trial *from)
{
    if (from->alarm_count == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(judge->log, (void **)&judge->alarms, &judge->alarm_capacity,
                    judge->alarm_count + from->alarm_count, sizeof *judge->alarms));
    memcpy(&judge->alarms[judge->alarm_count], from->alarms, from->alarm_count * sizeof *from->alarms);
    judge->alarm_count += from->alarm_count;
    return IW_OK;
}

/* Besides the thread that asks. */
static size_t helpers_of(const iw_fleet *fleet)
{
    const struct iwi_fleet_cells *cells = fleet->cells;
    const size_t wanted = fleet->opts.threads > 0 ? fleet->opts.threads : iwi_available_cpus();
    size_t cell_count = 0, most;

    for (size_t i = 0; i < cells->column_count; i++) {
        cell_count += cells->columns[i].count;
    }
    most = cell_count / LEAST_CELLS + 1;
    most = most < cells->column_count ? most : cells->column_count;
    return (wanted < most ? wanted : most) - (most > 0);
}

iw_status iwi_fleet_test_columns(struct iwi_fleet_trial *judge)
{
    struct pool pool = {.fleet = judge->fleet};
    const size_t count = helpers_of(judge->fleet);
    struct worker *workers = iwi_new_array(judge->log, count + 1, sizeof *workers);
    size_t started;
    iw_status status;

    if (workers == NULL) {
        return IW_ERR_NOMEM;
    }
    started = start(judge, &pool, workers, count);
    status = test_next(&pool, judge);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        if (status == IW_OK && workers[i].status != IW_OK) {
            status = iwi_fail(judge->log, workers[i].status, "out of memory");
        }
        status = status == IW_OK ? take_alarms(judge, &workers[i].trial) : status;
        iwi_fleet_trial_release(&workers[i].trial);
    }
    free(workers);
    return status;
}
