/* Judges a fleet: all places, columns on threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/fleet_judge.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_share.h"

/* Places are the node as a whole and each CPU number that most nodes have: CPU 0 of a node is compared with
 * CPU 0 of the others, since interrupts and daemons have their habits. The stated rate of false alarms is for
 * all comparisons together (Bonferroni).
 */

/* A source has its place if on so many of the nodes that have it one CPU number has most of it. */
static const double LEAST_PLACED = 0.9;

/* Of all processes. */
static size_t fleet_node_count(const iw_fleet *fleet)
{
    return fleet->cells->share != NULL ? fleet->cells->share->node_count : fleet->node_count;
}

/* CPU numbers that at least half of the nodes have are places. */
static bool fleet_is_place(const iw_fleet *fleet, uint32_t cpu)
{
    return 2 * (size_t)fleet->cells->nodes_with[cpu] >= fleet_node_count(fleet);
}

static size_t count_cpu_places(const iw_fleet *fleet)
{
    size_t count = 0;

    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        count += fleet_is_place(fleet, cpu);
    }
    return count > 1 ? count : 0; /* one CPU is the node */
}

/* The most frequent of sorted numbers comes so often. */
static size_t most_frequent(const uint32_t *sorted, size_t count)
{
    size_t largest = 0, same;

    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count && sorted[i + same] == sorted[i]; same++) {
        }
        largest = same > largest ? same : largest;
    }
    return largest;
}

/* Where a source goes anywhere, no place is wrong. The place is the node as a whole. `top`: room by node. */
static bool is_placed(const struct iwi_fleet_trial *judge, uint32_t family, uint32_t *top)
{
    const size_t begin = judge->first_entry[family], having = judge->first_entry[family + 1] - begin;

    for (size_t i = 0; i < having; i++) {
        top[i] = judge->fleet->cells->cells[judge->sorted[begin + i]].top_cpu;
    }
    iwi_sort(top, having, iwi_compare_u32);
    return (double)most_frequent(top, having) >= LEAST_PLACED * (double)having;
}

static iw_status find_placed(struct iwi_fleet_trial *judge)
{
    const size_t family_count = judge->fleet->cells->family_count;
    uint32_t *top = iwi_new_array(judge->log, judge->node_count, sizeof *top);

    judge->is_placed = iwi_new_array(judge->log, family_count, sizeof *judge->is_placed);
    for (uint32_t family = 0; top != NULL && judge->is_placed != NULL && family < family_count; family++) {
        judge->is_placed[family] = is_placed(judge, family, top);
    }
    free(top);
    return top != NULL && judge->is_placed != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* ---- judging ---- */

/* All families at one place: a CPU's column, or NULL: all CPUs, which comes first. */
static iw_status fleet_test_place(struct iwi_fleet_trial *judge, const struct iwi_fleet_column *column)
{
    IW_TRY(iwi_fleet_go_to(judge, column));
    if (column == NULL) {
        IW_TRY(find_placed(judge));
    }
    for (uint32_t family = 0; family < judge->fleet->cells->family_count; family++) {
        if (judge->first_entry[family] < judge->first_entry[family + 1]) {
            iwi_fleet_gather(judge, family);
            IW_TRY(iwi_fleet_test(judge, family));
        }
    }
    return IW_OK;
}

/* ======== columns ======== */

/* A column is tested by itself, so threads share nothing that changes but the number of the next one. Alarms
 * are put in order afterwards (fleet_findings.c): who raised them does not matter.
 */

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

/* Room for all nodes; to be released also if it fails. IW_ERR_NOMEM. */
static iw_status fleet_trial_init(const iw_log *log, iw_fleet *fleet, struct iwi_fleet_trial *trial)
{
    const size_t node_count = fleet_node_count(fleet);

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

static void fleet_trial_release(struct iwi_fleet_trial *trial)
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
        if (fleet_is_place(pool->fleet, cells->columns[number].cpu)) {
            IW_TRY(fleet_test_place(trial, &cells->columns[number]));
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
        if (fleet_trial_init(NULL, judge->fleet, &worker->trial) != IW_OK) {
            fleet_trial_release(&worker->trial);
            break;
        }
        worker->trial.p = judge->p;
        worker->trial.is_placed = judge->is_placed;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            fleet_trial_release(&worker->trial);
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

/* All columns that there are, on threads. */
static iw_status fleet_test_columns(struct iwi_fleet_trial *judge)
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
        fleet_trial_release(&workers[i].trial);
    }
    free(workers);
    return status;
}

/* ======== the fleet ======== */

/* The first process knows. */
static iw_status tell_placed(struct iwi_fleet_trial *judge)
{
    const size_t family_count = judge->fleet->cells->family_count;
    struct iwi_fleet_share *share = judge->fleet->cells->share;
    struct iwi_parcel placed = {.at = 0};
    iw_status status = IW_OK;

    if (share == NULL) {
        return IW_OK;
    }
    if (share->member.number == 0) {
        status =
            iwi_parcel_put(judge->log, &placed, judge->is_placed, family_count * sizeof *judge->is_placed);
    } else {
        judge->is_placed = iwi_new_array(judge->log, family_count, sizeof *judge->is_placed);
        status = judge->is_placed != NULL ? IW_OK : IW_ERR_NOMEM;
    }
    status = status == IW_OK ? iwi_share_spread(share, &placed) : status;
    if (status == IW_OK && share->member.number != 0) {
        status =
            iwi_parcel_take(judge->log, &placed, judge->is_placed, family_count * sizeof *judge->is_placed);
    }
    iwi_bytes_release(&placed.bytes);
    return status;
}

static iw_status add_alarms(struct iwi_fleet_trial *judge, struct iwi_parcel *alarms)
{
    while (!iwi_parcel_is_empty(alarms)) {
        IW_TRY(iwi_grow(judge->log, (void **)&judge->alarms, &judge->alarm_capacity, judge->alarm_count + 1,
                        sizeof *judge->alarms));
        IW_TRY(
            iwi_parcel_take(judge->log, alarms, &judge->alarms[judge->alarm_count], sizeof *judge->alarms));
        judge->alarm_count++;
    }
    return IW_OK;
}

/* Alarms of all processes on the first one. */
static iw_status bring_alarms(struct iwi_fleet_trial *judge)
{
    struct iwi_fleet_share *share = judge->fleet->cells->share;
    struct iwi_parcel alarms = {.at = 0};
    iw_status status;

    if (share == NULL) {
        return IW_OK;
    }
    status = iwi_parcel_put(judge->log, &alarms, judge->alarms,
                            (share->member.number > 0 ? judge->alarm_count : 0) * sizeof *judge->alarms);
    status = status == IW_OK ? iwi_share_gather(share, &alarms) : status;
    if (status == IW_OK && share->member.number == 0) {
        status = add_alarms(judge, &alarms);
    }
    iwi_bytes_release(&alarms.bytes);
    return status;
}

/* CPU by CPU; each process those that it has. */
static iw_status test_cpus(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    IW_TRY(tell_placed(judge));
    IW_TRY(fleet_test_columns(judge));
    while (fleet->cells->end_cpu < IW_CPU_SET_MOST) {
        IW_TRY(iwi_fleet_read_columns(judge->log, fleet, fleet->cells->end_cpu));
        IW_TRY(fleet_test_columns(judge));
    }
    return bring_alarms(judge);
}

static iw_status test_places(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    const bool is_few = judge->node_count < IW_FLEET_LEAST_NODES;
    const size_t cpu_places = is_few ? 0 : count_cpu_places(fleet);

    /* values, and among many nodes how often it came */
    const uint64_t metrics = is_few ? IW_FLEET_METRICS : IW_FLEET_METRICS + 1;

    fleet->tests = (uint64_t)judge->node_count * fleet->cells->family_count * (1 + cpu_places) * metrics;
    judge->p = fleet->opts.false_alarms / (double)fleet->tests;
    fleet->few_factor = is_few && judge->node_count >= IW_FLEET_FEW_NODES ? iwi_fleet_few_factor(judge) : NAN;
    if (iwi_fleet_is_first(fleet)) {
        IW_TRY(fleet_test_place(judge, NULL));
    }
    return cpu_places > 0 ? test_cpus(judge, fleet) : IW_OK;
}

IWI_COMPARE(noisiest_first, iw_fleet_node, IWI_ORDER(right->finding_count > 0, left->finding_count > 0),
            IWI_FALLING(value[IW_FLEET_SHARE]), IWI_TEXT(name))

static iw_status conclude(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    if (!iwi_fleet_is_first(fleet)) {
        return iwi_fleet_help_to_conclude(judge);
    }
    IW_TRY(iwi_fleet_conclude(judge, fleet));
    IW_TRY(iwi_fleet_find_groups(judge->log, fleet));
    iwi_sort(fleet->nodes, fleet->node_count, noisiest_first);
    return IW_OK;
}

void iwi_busy_nodes_add(struct iwi_busy_nodes *busy, const char *node)
{
    if (busy->count++ < 3 && busy->used < sizeof busy->names) {
        busy->used += (size_t)snprintf(busy->names + busy->used, sizeof busy->names - busy->used, "%s%s",
                                       busy->used > 0 ? ", " : "", node);
    }
}

static void find_caveats(iw_fleet *fleet)
{
    struct iwi_busy_nodes busy = {.count = 0};

    for (size_t i = 0; i < fleet->node_count; i++) {
        if (fleet->nodes[i].is_busy) {
            iwi_busy_nodes_add(&busy, fleet->nodes[i].name);
        }
    }
    fleet->caveats = (iw_caveats){.count = 0};
    iw_caveats_of_nodes(fleet->name, busy.count, fleet->node_count, busy.names, &fleet->caveats);
}

iw_status iw_fleet_judge(const iw_log *log, iw_fleet *fleet, const iw_fleet_opts *given)
{
    iw_fleet_opts known = IW_FLEET_OPTS_INIT;
    const iw_fleet_opts *opts = &known;
    struct iwi_fleet_trial judge;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_FLEET_OPTS_INIT", given, &known));
    if (fleet_node_count(fleet) == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "no node to judge");
    }
    if (!(opts->false_alarms > 0.0 && opts->false_alarms <= 0.5)) {
        return iwi_fail(log, IW_ERR_RANGE, "the rate of false alarms must be above 0 and at most 50 %%");
    }
    if (!(opts->matters >= 0.0 && opts->matters <= 1.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "the share that matters must be between 0 and 100 %%");
    }
    fleet->opts = *opts;
    status = fleet_trial_init(log, fleet, &judge);
    status = status == IW_OK ? test_places(&judge, fleet) : status;
    status = status == IW_OK ? conclude(&judge, fleet) : status;
    find_caveats(fleet);
    free(judge.is_placed);
    fleet_trial_release(&judge);
    return status;
}
