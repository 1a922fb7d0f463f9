/* What stragglers cost: a job replayed as it was, with usual times, and with some of both.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/stragglers/alike.h"

/* Workers that are slow for their place: so many of a hundred, at least one. */
enum { SLOW_PERCENT = 3 };

struct questions {
    const struct iw_straggler_job *job;
    struct iwi_alike alike;
    iw_time *lengths_ps, *step_ps;
    double ideal_ns, replayed_ns;
};

/* Of what was lost, the share that is not if a step takes so long; NaN: nothing was. */
static double share_saved(const struct questions *ask, double step_ns)
{
    const double lost_ns = ask->replayed_ns - ask->ideal_ns;

    return lost_ns > 0 ? (ask->replayed_ns - step_ns) / lost_ns : NAN;
}

/* The mean step with the lengths that were made last. */
static iw_status replay(struct questions *ask, double *mean_ns_p)
{
    double sum_ps = 0;

    IW_TRY(iwi_pipe_replay(ask->job, ask->lengths_ps, ask->step_ps));
    for (uint32_t i = 0; i < ask->job->step_count; i++) {
        sum_ps += (double)ask->step_ps[i];
    }
    *mean_ns_p = sum_ps / ask->job->step_count / 1e3;
    return IW_OK;
}

/* The mean step if what is chosen takes usual times. */
static iw_status try_usual(struct questions *ask, iwi_pipe_choice is_usual, const void *arg,
                           double *mean_ns_p)
{
    iwi_alike_usual(&ask->alike, is_usual, arg, ask->lengths_ps);
    return replay(ask, mean_ns_p);
}

/* ---- choices ---- */

static bool all(const struct iwi_pipe_place *place, const void *arg)
{
    (void)place;
    (void)arg;
    return true;
}

static bool none(const struct iwi_pipe_place *place, const void *arg)
{
    (void)place;
    (void)arg;
    return false;
}

/* Sends and receives are two sides of one thing. */
static unsigned kind_of(unsigned op)
{
    return op == IWI_PIPE_FORWARD_RECV ? IWI_PIPE_FORWARD_SEND
                                       : (op == IWI_PIPE_BACKWARD_RECV ? IWI_PIPE_BACKWARD_SEND : op);
}

static bool not_kind(const struct iwi_pipe_place *place, const void *arg)
{
    return kind_of(place->op) != *(const unsigned *)arg;
}

static bool not_stage(const struct iwi_pipe_place *place, const void *arg)
{
    return place->stage != *(const uint32_t *)arg;
}

static bool is_stage(const struct iwi_pipe_place *place, const void *arg)
{
    return !not_stage(place, arg);
}

static bool not_replica(const struct iwi_pipe_place *place, const void *arg)
{
    return place->replica != *(const uint32_t *)arg;
}

struct marked {
    const bool *workers;
    uint32_t stage_count;
};

static bool is_marked(const struct iwi_pipe_place *place, const void *arg)
{
    const struct marked *marked = arg;

    return marked->workers[(size_t)place->replica * marked->stage_count + place->stage];
}

/* ---- kinds, stages, replicas ---- */

IWI_COMPARE(compare_kinds, iw_straggler_kind, IWI_FALLING(factor), IWI_TEXT(name))

static const char *kind_name(unsigned op)
{
    return op == IWI_PIPE_FORWARD_SEND
               ? "forward-send and -recv"
               : (op == IWI_PIPE_BACKWARD_SEND ? "backward-send and -recv" : iwi_pipe_op_name(op));
}

static iw_status ask_kinds(struct questions *ask, iw_stragglers *result)
{
    for (unsigned op = 0; op < IWI_PIPE_OPS; op++) {
        iw_straggler_kind *kind = &result->kinds[result->kind_count];
        double step_ns;

        if (kind_of(op) != op || ask->alike.counts[op] == 0) {
            continue;
        }
        IW_TRY(try_usual(ask, not_kind, &op, &step_ns));
        (void)snprintf(kind->name, sizeof kind->name, "%s", kind_name(op));
        kind->count = ask->alike.counts[op];
        kind->usual_ns = (double)ask->alike.usual_ps[op] / 1e3;
        kind->factor = step_ns / ask->ideal_ns;
        result->kind_count++;
    }
    iwi_sort(result->kinds, result->kind_count, compare_kinds);
    return IW_OK;
}

static iw_status ask_places(struct questions *ask, iwi_pipe_choice is_usual, iw_straggler_place *places,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        double step_ns;

        IW_TRY(try_usual(ask, is_usual, &i, &step_ns));
        places[i].factor = step_ns / ask->ideal_ns;
    }
    return IW_OK;
}

/* ---- workers ---- */

IWI_COMPARE(compare_workers, iw_straggler_worker, IWI_FALLING(factor), IWI_RISING(rank))

static uint32_t index_of(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    uint32_t i = 0;

    while (i + 1 < count && numbers[i] != number) {
        i++;
    }
    return i;
}

static void list_workers(const struct iw_straggler_job *job, iw_stragglers *result)
{
    for (uint32_t i = 0; i < result->worker_count; i++) {
        const uint32_t replica = i / job->stage_count, stage = i % job->stage_count;
        const double by_replica = result->by_replica[replica].factor;
        const double by_stage = result->by_stage[stage].factor;

        result->workers[i] = (iw_straggler_worker){
            .rank = job->ranks[i],
            .replica = job->replica_numbers[replica],
            .stage = stage,
            .factor = by_replica < by_stage ? by_replica : by_stage,
        };
    }
    iwi_sort(result->workers, result->worker_count, compare_workers);
}

static iw_status ask_slow_workers(struct questions *ask, iw_stragglers *result)
{
    const struct iw_straggler_job *job = ask->job;
    bool *marks = iwi_new_array(job->log, result->worker_count, sizeof marks[0]);
    double step_ns;
    iw_status status;

    if (marks == NULL) {
        return IW_ERR_NOMEM;
    }
    result->slow_workers = (uint32_t)((result->worker_count * SLOW_PERCENT + 99) / 100);
    for (uint32_t i = 0; i < result->slow_workers; i++) {
        const iw_straggler_worker *worker = &result->workers[i];

        marks[(size_t)index_of(job->replica_numbers, job->replica_count, worker->replica) * job->stage_count +
              worker->stage] = true;
    }
    status = try_usual(ask, is_marked, &(struct marked){marks, job->stage_count}, &step_ns);
    if (status == IW_OK) {
        result->slow_workers_share = share_saved(ask, step_ns);
    }
    free(marks);
    return status;
}

/* ---- causes ---- */

static int compare_causes(const void *a, const void *b)
{
    const iw_straggler_cause *left = a, *right = b;

    return left->share != right->share && !isnan(left->share) ? (left->share < right->share ? 1 : -1)
                                                              : strcmp(left->name, right->name);
}

static iw_status ask_causes(struct questions *ask, iw_stragglers *result)
{
    static const char *const names[IWI_PIPE_CAUSES] = {
        [IWI_PIPE_WORKERS] = "workers",
        [IWI_PIPE_STAGES] = "stages",
        [IWI_PIPE_MICROBATCHES] = "micro-batches",
        [IWI_PIPE_COMMUNICATION] = "communication",
    };

    _Static_assert((int)IWI_PIPE_CAUSES == (int)IW_STRAGGLER_CAUSES, "all have a place");
    for (unsigned i = 0; i < IWI_PIPE_CAUSES; i++) {
        iw_straggler_cause *cause = &result->causes[i];

        iwi_alike_without(&ask->alike, (enum iwi_pipe_cause)i, ask->lengths_ps);
        IW_TRY(replay(ask, &cause->without_ns));
        (void)snprintf(cause->name, sizeof cause->name, "%s", names[i]);
        cause->share = share_saved(ask, cause->without_ns);
    }
    result->cause_count = IWI_PIPE_CAUSES;
    iwi_sort(result->causes, result->cause_count, compare_causes);
    return IW_OK;
}

/* ---- all of it ---- */

static iw_status ask_whole(struct questions *ask, iw_stragglers *result)
{
    const struct iw_straggler_job *job = ask->job;

    IW_TRY(try_usual(ask, all, NULL, &ask->ideal_ns));
    IW_TRY(try_usual(ask, none, NULL, &ask->replayed_ns));
    for (uint32_t i = 0; i < job->step_count; i++) {
        result->steps[i] = (iw_straggler_step){
            .number = job->step_numbers[i],
            .traced_ns = (double)(job->step_ends_ps[i] - job->step_begins_ps[i]) / 1e3,
            .replayed_ns = (double)ask->step_ps[i] / 1e3,
        };
        result->traced_ns += result->steps[i].traced_ns / job->step_count;
    }
    if (!(ask->ideal_ns > 0)) {
        return iwi_fail(job->log, IW_ERR_FORMAT, "'%s': steps take no time", job->name);
    }
    result->ideal_ns = ask->ideal_ns;
    result->replayed_ns = ask->replayed_ns;
    result->factor = ask->replayed_ns / ask->ideal_ns;
    return IW_OK;
}

static iw_status ask_last_stage(struct questions *ask, iw_stragglers *result)
{
    const uint32_t last = ask->job->stage_count - 1;
    double step_ns;

    IW_TRY(try_usual(ask, is_stage, &last, &step_ns));
    result->last_stage_share = share_saved(ask, step_ns);
    return IW_OK;
}

static iw_status answer(struct questions *ask, iw_stragglers *result)
{
    IW_TRY(ask_whole(ask, result));
    IW_TRY(ask_kinds(ask, result));
    IW_TRY(ask_places(ask, not_stage, result->by_stage, ask->job->stage_count));
    IW_TRY(ask_places(ask, not_replica, result->by_replica, ask->job->replica_count));
    list_workers(ask->job, result);
    IW_TRY(ask_slow_workers(ask, result));
    IW_TRY(ask_last_stage(ask, result));
    return ask_causes(ask, result);
}

static iw_stragglers *new_result(const struct iw_straggler_job *job)
{
    iw_stragglers *result = iwi_new_array(job->log, 1, sizeof *result);

    if (result == NULL) {
        return NULL;
    }
    (void)snprintf(result->name, sizeof result->name, "%s", job->name);
    result->replicas = job->replica_count;
    result->stages = job->stage_count;
    result->microbatches = job->microbatches;
    result->gpus = job->gpus;
    result->stage_count = job->stage_count;
    result->replica_count = job->replica_count;
    result->worker_count = (size_t)job->stage_count * job->replica_count;
    result->step_count = job->step_count;
    result->by_stage = iwi_new_array(job->log, result->stage_count, sizeof result->by_stage[0]);
    result->by_replica = iwi_new_array(job->log, result->replica_count, sizeof result->by_replica[0]);
    result->workers = iwi_new_array(job->log, result->worker_count, sizeof result->workers[0]);
    result->steps = iwi_new_array(job->log, result->step_count, sizeof result->steps[0]);
    if (result->by_stage == NULL || result->by_replica == NULL || result->workers == NULL ||
        result->steps == NULL) {
        iw_stragglers_free(result);
        return NULL;
    }
    for (uint32_t i = 0; i < job->stage_count; i++) {
        result->by_stage[i].number = i;
    }
    for (uint32_t i = 0; i < job->replica_count; i++) {
        result->by_replica[i].number = job->replica_numbers[i];
    }
    return result;
}

iw_status iw_straggler_run(const iw_log *log, const iw_straggler_job *job, iw_stragglers **result_p)
{
    struct questions ask = {.job = job};
    iw_stragglers *result = new_result(job);
    iw_status status = result != NULL ? iwi_alike_init(&ask.alike, job) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        ask.lengths_ps = iwi_new_array(log, iwi_pipe_length_count(job), sizeof ask.lengths_ps[0]);
        ask.step_ps = iwi_new_array(log, job->step_count, sizeof ask.step_ps[0]);
        status = ask.lengths_ps != NULL && ask.step_ps != NULL ? answer(&ask, result) : IW_ERR_NOMEM;
    }
    free(ask.lengths_ps);
    free(ask.step_ps);
    iwi_alike_release(&ask.alike);
    if (status == IW_OK) {
        *result_p = result;
    } else {
        iw_stragglers_free(result);
    }
    return status;
}

void iw_stragglers_free(iw_stragglers *result)
{
    if (result != NULL) {
        free(result->by_stage);
        free(result->by_replica);
        free(result->workers);
        free(result->steps);
        free(result);
    }
}
