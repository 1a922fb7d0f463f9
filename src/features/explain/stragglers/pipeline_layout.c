/* Events of a job laid out by step, worker and operation, and checked on the way.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/stragglers/pipeline.h"

/* ---- who there is ---- */

/* Sorts, and drops what is there twice; how many are left. */
static uint32_t sort_unique(uint32_t *numbers, size_t count)
{
    uint32_t kept = 0;

    iwi_sort(numbers, count, iwi_compare_u32);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || numbers[i] != numbers[kept - 1]) {
            numbers[kept++] = numbers[i];
        }
    }
    return kept;
}

static uint32_t place_of(const uint32_t *sorted, uint32_t count, uint32_t number)
{
    const uint32_t *found = iwi_find(&number, sorted, count, iwi_compare_u32);

    return found != NULL ? (uint32_t)(found - sorted) : UINT32_MAX;
}

static iw_status find_numbers(struct iw_straggler_job *job)
{
    job->step_numbers = iwi_new_array(job->log, job->event_count, sizeof(uint32_t));
    job->replica_numbers = iwi_new_array(job->log, job->event_count, sizeof(uint32_t));
    if (job->step_numbers == NULL || job->replica_numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < job->event_count; i++) {
        const struct iwi_pipe_event *event = &job->events[i];

        job->step_numbers[i] = event->step;
        job->replica_numbers[i] = event->replica;
        if (event->op == IWI_PIPE_FORWARD && event->sequence >= job->microbatches) {
            job->microbatches = event->sequence < job->event_count ? event->sequence + 1 : UINT32_MAX;
        }
    }
    job->step_count = sort_unique(job->step_numbers, job->event_count);
    job->replica_count = sort_unique(job->replica_numbers, job->event_count);
    return IW_OK;
}

struct member {
    uint32_t replica, rank;
};

IWI_COMPARE(compare_members, struct member, IWI_RISING(replica), IWI_RISING(rank))

/* Stages of a replica are its ranks in ascending order, as Megatron numbers them. */
static iw_status find_stages(struct iw_straggler_job *job, struct member *members)
{
    size_t count = 0;

    for (size_t i = 0; i < job->event_count; i++) {
        members[i] = (struct member){job->events[i].replica, job->events[i].rank};
    }
    iwi_sort(members, job->event_count, compare_members);
    for (size_t i = 0; i < job->event_count; i++) {
        if (count == 0 || compare_members(&members[i], &members[count - 1]) != 0) {
            members[count++] = members[i];
        }
    }
    job->stage_count = (uint32_t)(count / job->replica_count);
    for (size_t i = 0; i < count; i++) {
        if (count % job->replica_count != 0 ||
            members[i].replica != job->replica_numbers[i / job->stage_count]) {
            return iwi_fail(job->log, IW_ERR_FORMAT,
                            "'%s': replicas have different numbers of stages (%zu ranks in %" PRIu32
                            " replicas)",
                            job->name, count, job->replica_count);
        }
    }
    job->ranks = iwi_new_array(job->log, count, sizeof job->ranks[0]);
    if (job->ranks == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        job->ranks[i] = members[i].rank;
    }
    return IW_OK;
}

/* ---- lengths by place ---- */

static iw_status place_event(struct iw_straggler_job *job, const struct iwi_pipe_event *event)
{
    const uint32_t replica = place_of(job->replica_numbers, job->replica_count, event->replica);
    const uint32_t step = place_of(job->step_numbers, job->step_count, event->step);
    const uint32_t stage =
        place_of(&job->ranks[(size_t)replica * job->stage_count], job->stage_count, event->rank);
    iw_time *length_ps;

    if (event->sequence >= (event->op < IWI_PIPE_MICROBATCH_OPS ? job->microbatches : 1)) {
        return iwi_fail(job->log, IW_ERR_FORMAT,
                        "'%s': step %" PRIu32 ", rank %" PRIu32 ": %s number %" PRIu32
                        ", but there are %" PRIu32,
                        job->name, event->step, event->rank, iwi_pipe_op_name(event->op), event->sequence,
                        event->op < IWI_PIPE_MICROBATCH_OPS ? job->microbatches : 1);
    }
    if (!iwi_pipe_has(job, event->op, stage)) {
        return IW_OK; /* profilers note messages to nobody, too */
    }
    length_ps = &job->lengths_ps[iwi_pipe_worker(job, step, replica, stage) +
                                 iwi_pipe_slot(job, event->op, event->sequence)];
    if (*length_ps != IWI_PIPE_ABSENT) {
        return iwi_fail(job->log, IW_ERR_FORMAT,
                        "'%s': step %" PRIu32 ", rank %" PRIu32 ": %s %" PRIu32 " is there twice", job->name,
                        event->step, event->rank, iwi_pipe_op_name(event->op), event->sequence);
    }
    *length_ps = event->length_ps;
    job->step_begins_ps[step] = iwi_min(job->step_begins_ps[step], event->begin_ps);
    job->step_ends_ps[step] = iwi_max(job->step_ends_ps[step], event->begin_ps + event->length_ps);
    return IW_OK;
}

static iw_status new_lengths(struct iw_straggler_job *job)
{
    const double count = (double)job->step_count * job->replica_count * job->stage_count *
                         (IWI_PIPE_MICROBATCH_OPS * (double)job->microbatches + IWI_PIPE_OPS);

    if (count > 10.0 * (double)job->event_count + 1000.0) {
        return iwi_fail(job->log, IW_ERR_FORMAT,
                        "'%s': most operations are missing: %zu events of %" PRIu32 " steps, %" PRIu32
                        " replicas, %" PRIu32 " stages, %" PRIu32 " micro-batches",
                        job->name, job->event_count, job->step_count, job->replica_count, job->stage_count,
                        job->microbatches);
    }
    /* no path through a step has more operations than a replica and one worker */
    job->limit_ps = INT64_MAX / 4 / (iw_time)(iwi_pipe_worker_width(job) * (job->stage_count + (size_t)1));
    if (job->longest_ps > job->limit_ps) {
        return iwi_fail(job->log, IW_ERR_RANGE, "'%s': a step may take more than 26 days", job->name);
    }
    job->lengths_ps = iwi_new_array(job->log, iwi_pipe_length_count(job), sizeof job->lengths_ps[0]);
    job->step_begins_ps = iwi_new_array(job->log, job->step_count, sizeof job->step_begins_ps[0]);
    job->step_ends_ps = iwi_new_array(job->log, job->step_count, sizeof job->step_ends_ps[0]);
    if (job->lengths_ps == NULL || job->step_begins_ps == NULL || job->step_ends_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < iwi_pipe_length_count(job); i++) {
        job->lengths_ps[i] = IWI_PIPE_ABSENT;
    }
    for (uint32_t i = 0; i < job->step_count; i++) {
        job->step_begins_ps[i] = INT64_MAX;
        job->step_ends_ps[i] = INT64_MIN;
    }
    return IW_OK;
}

/* What there is at all is there for everybody who has it. */
static iw_status check_op(const struct iw_straggler_job *job, unsigned op)
{
    const uint32_t each = op < IWI_PIPE_MICROBATCH_OPS ? job->microbatches : 1;
    const size_t workers = (size_t)job->step_count * job->replica_count * job->stage_count;
    size_t there = 0, missing = 0, first = 0;

    for (size_t i = 0; i < workers; i++) {
        for (uint32_t k = 0; k < each && iwi_pipe_has(job, op, (uint32_t)(i % job->stage_count)); k++) {
            const bool is_there =
                job->lengths_ps[i * iwi_pipe_worker_width(job) + iwi_pipe_slot(job, op, k)] !=
                IWI_PIPE_ABSENT;

            first = !is_there && missing == 0 ? i : first;
            there += is_there;
            missing += !is_there;
        }
    }
    if (missing > 0 && (there > 0 || op < IWI_PIPE_MICROBATCH_OPS)) {
        return iwi_fail(job->log, IW_ERR_FORMAT,
                        "'%s': step %" PRIu32 ", rank %" PRIu32 " has not all of its %s (%zu are missing)",
                        job->name, job->step_numbers[first / ((size_t)job->replica_count * job->stage_count)],
                        job->ranks[first % ((size_t)job->replica_count * job->stage_count)],
                        iwi_pipe_op_name(op), missing);
    }
    return IW_OK;
}

/* ---- the order of computations ---- */

struct computation {
    iw_time begin_ps;
    struct iwi_pipe_turn turn;
};

IWI_COMPARE(compare_computations, struct computation, IWI_RISING(turn.stage), IWI_RISING(begin_ps),
            IWI_RISING(turn.op), IWI_RISING(turn.microbatch))

/* Of the first replica in the first step: all have one schedule. */
static iw_status find_turns(struct iw_straggler_job *job)
{
    const size_t count = (size_t)job->stage_count * 2 * job->microbatches;
    struct computation *computations = iwi_new_array(job->log, count, sizeof computations[0]);
    struct iwi_pipe_turn *turns = iwi_new_array(job->log, count, sizeof turns[0]);
    iw_status status = computations != NULL && turns != NULL ? IW_OK : IW_ERR_NOMEM;
    size_t found = 0;

    for (size_t i = 0; i < job->event_count && status == IW_OK; i++) {
        const struct iwi_pipe_event *event = &job->events[i];

        if (event->op <= IWI_PIPE_BACKWARD && event->step == job->step_numbers[0] &&
            event->replica == job->replica_numbers[0]) {
            computations[found++] = (struct computation){
                event->begin_ps,
                {place_of(job->ranks, job->stage_count, event->rank), event->sequence, event->op}};
        }
    }
    if (status == IW_OK) {
        iwi_sort(computations, found, compare_computations);
        for (size_t i = 0; i < found; i++) {
            turns[i] = computations[i].turn;
        }
        status = iwi_pipe_order_turns(job, turns);
    }
    free(computations);
    free(turns);
    return status;
}

static iw_status check_stages(struct iw_straggler_job *job)
{
    struct member *members = iwi_new_array(job->log, job->event_count, sizeof members[0]);
    const iw_status status = members != NULL ? find_stages(job, members) : IW_ERR_NOMEM;

    free(members);
    return status;
}

iw_status iwi_pipe_lay_out(struct iw_straggler_job *job)
{
    IW_TRY(find_numbers(job));
    if (job->microbatches == 0 || job->microbatches > job->event_count) {
        return iwi_fail(job->log, IW_ERR_FORMAT, "'%s': no forward-compute, or most are missing", job->name);
    }
    IW_TRY(check_stages(job));
    IW_TRY(new_lengths(job));
    for (size_t i = 0; i < job->event_count; i++) {
        IW_TRY(place_event(job, &job->events[i]));
    }
    for (unsigned op = 0; op < IWI_PIPE_OPS; op++) {
        IW_TRY(check_op(job, op));
    }
    return find_turns(job);
}
