/* What stragglers cost: a job replayed as it was, with usual times, and with some of both.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/explain/stragglers/pipeline.h"

/* Who and what an operation is. */
struct pipe_place {
    uint32_t step, replica, stage, microbatch;
    uint8_t op;
};

/* What may be made alike, all else as traced. */
enum pipe_cause {
    PIPE_WORKERS,      /* a worker computes as the median worker of its stage does */
    PIPE_STAGES,       /* a stage computes as the mean of all stages does */
    PIPE_MICROBATCHES, /* by as much as a micro-batch is longer or shorter on all stages */
    PIPE_COMMUNICATION,
    PIPE_CAUSES
};

struct alike {
    const struct iw_straggler_job *job;
    iw_time usual_ps[IWI_PIPE_OPS]; /* the mean of what is computed, the median of what is transferred */
    uint64_t counts[IWI_PIPE_OPS];
    double *worker_ps; /* [op][replica][stage] of forward and backward: the mean of a worker */
    double *stage_ps;  /* [op][stage]: the median of its workers */
    double all_ps[2];  /* the mean of stages */
};

/* Lengths in which operations for which `is_usual` says so take the usual time of their kind. */
typedef bool (*iwi_pipe_choice)(const struct pipe_place *place, const void *arg);

/* ---- times that operations usually take, and jobs in which some take these ---- */

/* The length of a computation d is thought of as all * (stage / all) * (worker / stage) * (d / worker), where
 * `worker` is the mean of that worker, `stage` the median of its stage's workers (one slow worker does not
 * make the stage slow), `all` the mean of stages. To make something alike is to divide by its factor.
 */

/* ---- going through all operations ---- */

typedef iw_time (*change_fn)(const struct alike *alike, const struct pipe_place *place, iw_time length_ps,
                             const void *arg);

static void change_worker(const struct alike *alike, const struct pipe_place *at, change_fn change,
                          const void *arg, iw_time *lengths_ps)
{
    const struct iw_straggler_job *job = alike->job;
    const size_t worker = iwi_pipe_worker(job, at->step, at->replica, at->stage);
    struct pipe_place place = *at;

    for (place.op = 0; place.op < IWI_PIPE_OPS; place.op++) {
        const uint32_t each = place.op < IWI_PIPE_MICROBATCH_OPS ? job->microbatches : 1;

        for (place.microbatch = 0; place.microbatch < each; place.microbatch++) {
            const size_t i = worker + iwi_pipe_slot(job, place.op, place.microbatch);

            lengths_ps[i] = job->lengths_ps[i] != IWI_PIPE_ABSENT
                                ? change(alike, &place, job->lengths_ps[i], arg)
                                : IWI_PIPE_ABSENT;
        }
    }
}

static void change_all(const struct alike *alike, change_fn change, const void *arg, iw_time *lengths_ps)
{
    struct pipe_place at = {0};

    for (at.step = 0; at.step < alike->job->step_count; at.step++) {
        for (at.replica = 0; at.replica < alike->job->replica_count; at.replica++) {
            for (at.stage = 0; at.stage < alike->job->stage_count; at.stage++) {
                change_worker(alike, &at, change, arg, lengths_ps);
            }
        }
    }
}

/* ---- what is usual ---- */

static size_t take_lengths(const struct iw_straggler_job *job, unsigned op, double *values)
{
    const size_t width = iwi_pipe_worker_width(job), first = iwi_pipe_slot(job, op, 0);
    const uint32_t each = op < IWI_PIPE_MICROBATCH_OPS ? job->microbatches : 1;
    size_t count = 0;

    for (size_t worker = 0; worker < iwi_pipe_length_count(job); worker += width) {
        for (uint32_t i = 0; i < each; i++) {
            if (job->lengths_ps[worker + first + i] != IWI_PIPE_ABSENT) {
                values[count++] = (double)job->lengths_ps[worker + first + i];
            }
        }
    }
    return count;
}

static iw_status find_usual(struct alike *alike)
{
    const struct iw_straggler_job *job = alike->job;
    double *values = iwi_new_array(
        job->log, (size_t)job->step_count * job->replica_count * job->stage_count * job->microbatches,
        sizeof values[0]);

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    for (unsigned op = 0; op < IWI_PIPE_OPS; op++) {
        const size_t count = alike->counts[op] = take_lengths(job, op, values);

        if (count > 0) {
            alike->usual_ps[op] =
                llround(iwi_pipe_op_computes(op) ? iwi_mean(values, count) : iwi_median(values, count));
        }
    }
    free(values);
    return IW_OK;
}

static double mean_of_worker(const struct iw_straggler_job *job, unsigned op, uint32_t replica,
                             uint32_t stage)
{
    double sum = 0;

    for (uint32_t step = 0; step < job->step_count; step++) {
        const size_t first = iwi_pipe_worker(job, step, replica, stage) + iwi_pipe_slot(job, op, 0);

        for (uint32_t i = 0; i < job->microbatches; i++) {
            sum += (double)job->lengths_ps[first + i];
        }
    }
    return sum / ((double)job->step_count * job->microbatches);
}

static double *worker_at(const struct alike *alike, unsigned op, uint32_t replica, uint32_t stage)
{
    return &alike->worker_ps[((size_t)op * alike->job->replica_count + replica) * alike->job->stage_count +
                             stage];
}

static double *stage_at(const struct alike *alike, unsigned op, uint32_t stage)
{
    return &alike->stage_ps[(size_t)op * alike->job->stage_count + stage];
}

static iw_status find_levels(struct alike *alike)
{
    const struct iw_straggler_job *job = alike->job;
    double *replicas = iwi_new_array(job->log, job->replica_count, sizeof replicas[0]);

    if (replicas == NULL) {
        return IW_ERR_NOMEM;
    }
    for (unsigned op = IWI_PIPE_FORWARD; op <= IWI_PIPE_BACKWARD; op++) {
        for (uint32_t stage = 0; stage < job->stage_count; stage++) {
            for (uint32_t replica = 0; replica < job->replica_count; replica++) {
                *worker_at(alike, op, replica, stage) = replicas[replica] =
                    mean_of_worker(job, op, replica, stage);
            }
            *stage_at(alike, op, stage) = iwi_median(replicas, job->replica_count);
        }
        alike->all_ps[op] = iwi_mean(stage_at(alike, op, 0), job->stage_count);
    }
    free(replicas);
    return IW_OK;
}

static void alike_release(struct alike *alike);

static iw_status alike_init(struct alike *alike, const struct iw_straggler_job *job)
{
    iw_status status;

    *alike = (struct alike){.job = job};
    alike->worker_ps = iwi_new_array(job->log, (size_t)2 * job->replica_count * job->stage_count,
                                     sizeof alike->worker_ps[0]);
    alike->stage_ps = iwi_new_array(job->log, (size_t)2 * job->stage_count, sizeof alike->stage_ps[0]);
    status = alike->worker_ps != NULL && alike->stage_ps != NULL ? find_usual(alike) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = find_levels(alike);
    }
    if (status != IW_OK) {
        alike_release(alike);
    }
    return status;
}

static void alike_release(struct alike *alike)
{
    free(alike->worker_ps);
    free(alike->stage_ps);
    *alike = (struct alike){0};
}

/* ---- usual times for some ---- */

struct choosing {
    iwi_pipe_choice is_usual;
    const void *arg;
};

static iw_time choose(const struct alike *alike, const struct pipe_place *place, iw_time length_ps,
                      const void *arg)
{
    const struct choosing *choosing = arg;

    return choosing->is_usual(place, choosing->arg) ? alike->usual_ps[place->op] : length_ps;
}

static void alike_usual(const struct alike *alike, iwi_pipe_choice is_usual, const void *arg,
                        iw_time *lengths_ps)
{
    change_all(alike, choose, &(struct choosing){is_usual, arg}, lengths_ps);
}

/* ---- without a cause ---- */

/* By how much a micro-batch differs on all stages: the least of their factors, 1 if some are longer and some
 * shorter. Only what stages share comes from the micro-batch. */
static double microbatch_factor(const struct alike *alike, const struct pipe_place *place)
{
    const struct iw_straggler_job *job = alike->job;
    double low = INFINITY, high = 0;

    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        const double factor =
            (double)job->lengths_ps[iwi_pipe_worker(job, place->step, place->replica, stage) +
                                    iwi_pipe_slot(job, place->op, place->microbatch)] /
            *worker_at(alike, place->op, place->replica, stage);

        low = fmin(low, factor);
        high = fmax(high, factor);
    }
    return low > 1 ? low : (high < 1 ? high : 1);
}

static double factor_of(const struct alike *alike, const struct pipe_place *place, enum pipe_cause cause)
{
    const double stage_ps = *stage_at(alike, place->op, place->stage);

    switch (cause) {
    case PIPE_WORKERS: return *worker_at(alike, place->op, place->replica, place->stage) / stage_ps;
    case PIPE_STAGES: return stage_ps / alike->all_ps[place->op];
    default: return microbatch_factor(alike, place);
    }
}

static iw_time leave_out(const struct alike *alike, const struct pipe_place *place, iw_time length_ps,
                         const void *arg)
{
    const enum pipe_cause cause = *(const enum pipe_cause *)arg;
    double changed_ps;

    if (cause == PIPE_COMMUNICATION) {
        return iwi_pipe_op_computes(place->op) ? length_ps : alike->usual_ps[place->op];
    }
    if (place->op > IWI_PIPE_BACKWARD) {
        return length_ps;
    }
    changed_ps = (double)length_ps / factor_of(alike, place, cause);
    return changed_ps >= 0 && changed_ps <= (double)alike->job->limit_ps ? llround(changed_ps) : length_ps;
}

/* Lengths without this cause. */
static void alike_without(const struct alike *alike, enum pipe_cause cause, iw_time *lengths_ps)
{
    change_all(alike, leave_out, &cause, lengths_ps);
}

/* ---- what stragglers cost ---- */

/* Workers that are slow for their place: so many of a hundred, at least one. */
enum { SLOW_PERCENT = 3 };

struct questions {
    const struct iw_straggler_job *job;
    struct alike alike;
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
    alike_usual(&ask->alike, is_usual, arg, ask->lengths_ps);
    return replay(ask, mean_ns_p);
}

/* ---- choices ---- */

static bool all(const struct pipe_place *place, const void *arg)
{
    (void)place;
    (void)arg;
    return true;
}

static bool none(const struct pipe_place *place, const void *arg)
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

static bool not_kind(const struct pipe_place *place, const void *arg)
{
    return kind_of(place->op) != *(const unsigned *)arg;
}

static bool not_stage(const struct pipe_place *place, const void *arg)
{
    return place->stage != *(const uint32_t *)arg;
}

static bool is_stage(const struct pipe_place *place, const void *arg)
{
    return !not_stage(place, arg);
}

static bool not_replica(const struct pipe_place *place, const void *arg)
{
    return place->replica != *(const uint32_t *)arg;
}

struct marked {
    const bool *workers;
    uint32_t stage_count;
};

static bool is_marked(const struct pipe_place *place, const void *arg)
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
    static const char *const names[PIPE_CAUSES] = {
        [PIPE_WORKERS] = "workers",
        [PIPE_STAGES] = "stages",
        [PIPE_MICROBATCHES] = "micro-batches",
        [PIPE_COMMUNICATION] = "communication",
    };

    _Static_assert((int)PIPE_CAUSES == (int)IW_STRAGGLER_CAUSES, "all have a place");
    for (unsigned i = 0; i < PIPE_CAUSES; i++) {
        iw_straggler_cause *cause = &result->causes[i];

        alike_without(&ask->alike, (enum pipe_cause)i, ask->lengths_ps);
        IW_TRY(replay(ask, &cause->without_ns));
        (void)snprintf(cause->name, sizeof cause->name, "%s", names[i]);
        cause->share = share_saved(ask, cause->without_ns);
    }
    result->cause_count = PIPE_CAUSES;
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
    iw_status status = result != NULL ? alike_init(&ask.alike, job) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        ask.lengths_ps = iwi_new_array(log, iwi_pipe_length_count(job), sizeof ask.lengths_ps[0]);
        ask.step_ps = iwi_new_array(log, job->step_count, sizeof ask.step_ps[0]);
        status = ask.lengths_ps != NULL && ask.step_ps != NULL ? answer(&ask, result) : IW_ERR_NOMEM;
    }
    free(ask.lengths_ps);
    free(ask.step_ps);
    alike_release(&ask.alike);
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
