/* Times that operations usually take, and jobs in which some take these.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The length of a computation d is thought of as all * (stage / all) * (worker / stage) * (d / worker), where
 * `worker` is the mean of that worker, `stage` the median of its stage's workers (one slow worker does not
 * make the stage slow), `all` the mean of stages. To make something alike is to divide by its factor.
 */
#include "features/explain/stragglers/alike.h"

#include <math.h>
#include <stdlib.h>

#include "core/numeric/numeric.h"

/* ---- going through all operations ---- */

typedef iw_time (*change_fn)(const struct iwi_alike *alike, const struct iwi_pipe_place *place,
                             iw_time length_ps, const void *arg);

static void change_worker(const struct iwi_alike *alike, const struct iwi_pipe_place *at, change_fn change,
                          const void *arg, iw_time *lengths_ps)
{
    const struct iw_straggler_job *job = alike->job;
    const size_t worker = iwi_pipe_worker(job, at->step, at->replica, at->stage);
    struct iwi_pipe_place place = *at;

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

static void change_all(const struct iwi_alike *alike, change_fn change, const void *arg, iw_time *lengths_ps)
{
    struct iwi_pipe_place at = {0};

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

static iw_status find_usual(struct iwi_alike *alike)
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

static double *worker_at(const struct iwi_alike *alike, unsigned op, uint32_t replica, uint32_t stage)
{
    return &alike->worker_ps[((size_t)op * alike->job->replica_count + replica) * alike->job->stage_count +
                             stage];
}

static double *stage_at(const struct iwi_alike *alike, unsigned op, uint32_t stage)
{
    return &alike->stage_ps[(size_t)op * alike->job->stage_count + stage];
}

static iw_status find_levels(struct iwi_alike *alike)
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

iw_status iwi_alike_init(struct iwi_alike *alike, const struct iw_straggler_job *job)
{
    iw_status status;

    *alike = (struct iwi_alike){.job = job};
    alike->worker_ps = iwi_new_array(job->log, (size_t)2 * job->replica_count * job->stage_count,
                                     sizeof alike->worker_ps[0]);
    alike->stage_ps = iwi_new_array(job->log, (size_t)2 * job->stage_count, sizeof alike->stage_ps[0]);
    status = alike->worker_ps != NULL && alike->stage_ps != NULL ? find_usual(alike) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = find_levels(alike);
    }
    if (status != IW_OK) {
        iwi_alike_release(alike);
    }
    return status;
}

void iwi_alike_release(struct iwi_alike *alike)
{
    free(alike->worker_ps);
    free(alike->stage_ps);
    *alike = (struct iwi_alike){0};
}

/* ---- usual times for some ---- */

struct choosing {
    iwi_pipe_choice is_usual;
    const void *arg;
};

static iw_time choose(const struct iwi_alike *alike, const struct iwi_pipe_place *place, iw_time length_ps,
                      const void *arg)
{
    const struct choosing *choosing = arg;

    return choosing->is_usual(place, choosing->arg) ? alike->usual_ps[place->op] : length_ps;
}

void iwi_alike_usual(const struct iwi_alike *alike, iwi_pipe_choice is_usual, const void *arg,
                     iw_time *lengths_ps)
{
    change_all(alike, choose, &(struct choosing){is_usual, arg}, lengths_ps);
}

/* ---- without a cause ---- */

/* By how much a micro-batch differs on all stages: the least of their factors, 1 if some are longer and some
 * shorter. Only what stages share comes from the micro-batch. */
static double microbatch_factor(const struct iwi_alike *alike, const struct iwi_pipe_place *place)
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

static double factor_of(const struct iwi_alike *alike, const struct iwi_pipe_place *place,
                        enum iwi_pipe_cause cause)
{
    const double stage_ps = *stage_at(alike, place->op, place->stage);

    switch (cause) {
    case IWI_PIPE_WORKERS: return *worker_at(alike, place->op, place->replica, place->stage) / stage_ps;
    case IWI_PIPE_STAGES: return stage_ps / alike->all_ps[place->op];
    default: return microbatch_factor(alike, place);
    }
}

static iw_time leave_out(const struct iwi_alike *alike, const struct iwi_pipe_place *place, iw_time length_ps,
                         const void *arg)
{
    const enum iwi_pipe_cause cause = *(const enum iwi_pipe_cause *)arg;
    double changed_ps;

    if (cause == IWI_PIPE_COMMUNICATION) {
        return iwi_pipe_op_computes(place->op) ? length_ps : alike->usual_ps[place->op];
    }
    if (place->op > IWI_PIPE_BACKWARD) {
        return length_ps;
    }
    changed_ps = (double)length_ps / factor_of(alike, place, cause);
    return changed_ps >= 0 && changed_ps <= (double)alike->job->limit_ps ? llround(changed_ps) : length_ps;
}

void iwi_alike_without(const struct iwi_alike *alike, enum iwi_pipe_cause cause, iw_time *lengths_ps)
{
    change_all(alike, leave_out, &cause, lengths_ps);
}
