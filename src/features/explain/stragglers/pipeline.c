/* The table of a job: events collected, checked, laid out by step, worker and operation, and replayed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/stragglers/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"

/* Transfers may begin before the last one had come, as clocks have it: by no more than this. */
#define CLOCK_ERROR_PS (10 * IW_PS_PER_MS)

static const struct {
    const char *name;
    bool computes;
} ops[IWI_PIPE_OPS] = {
    [IWI_PIPE_FORWARD] = {"forward-compute", true},
    [IWI_PIPE_BACKWARD] = {"backward-compute", true},
    [IWI_PIPE_FORWARD_SEND] = {"forward-send", false},
    [IWI_PIPE_BACKWARD_SEND] = {"backward-send", false},
    [IWI_PIPE_FORWARD_RECV] = {"forward-recv", false},
    [IWI_PIPE_BACKWARD_RECV] = {"backward-recv", false},
    [IWI_PIPE_GATHER] = {"params-all-gather", false},
    [IWI_PIPE_COLLECT] = {"gc", true},
    [IWI_PIPE_LAYERNORM] = {"layernorm-grads-all-reduce", false},
    [IWI_PIPE_EMBEDDING] = {"embedding-grads-all-reduce", false},
    [IWI_PIPE_SCATTER] = {"grads-reduce-scatter", false},
    [IWI_PIPE_CLIP] = {"optimizer-clip-main-grad", false},
    [IWI_PIPE_OPTIMIZER] = {"optimizer", true},
};

const char *iwi_pipe_op_name(unsigned op)
{
    return op < IWI_PIPE_OPS ? ops[op].name : NULL;
}

bool iwi_pipe_op_computes(unsigned op)
{
    return ops[op].computes;
}

/* Whether a worker of this stage has such an operation: nothing is sent beyond the ends of the pipeline. */
static bool pipe_has(const struct iw_straggler_job *job, unsigned op, uint32_t stage)
{
    const bool is_first = stage == 0, is_last = stage + 1 == job->stage_count;

    switch (op) {
    case IWI_PIPE_FORWARD_SEND:
    case IWI_PIPE_BACKWARD_RECV: return !is_last;
    case IWI_PIPE_FORWARD_RECV:
    case IWI_PIPE_BACKWARD_SEND: return !is_first;
    case IWI_PIPE_EMBEDDING: return is_first || is_last;
    default: return true;
    }
}

struct iw_straggler_job *iwi_pipe_new(const iw_log *log, const char *name)
{
    struct iw_straggler_job *job = iwi_new_array(log, 1, sizeof *job);

    if (job != NULL) {
        job->log = log;
        (void)snprintf(job->name, sizeof job->name, "%s", name);
    }
    return job;
}

void iw_straggler_job_free(struct iw_straggler_job *job)
{
    if (job == NULL) {
        return;
    }
    free(job->events);
    free(job->left_out);
    free(job->step_numbers);
    free(job->replica_numbers);
    free(job->ranks);
    free(job->lengths_ps);
    free(job->step_begins_ps);
    free(job->step_ends_ps);
    free(job->turns);
    free(job->leads);
    free(job);
}

/* ---- steps left out ---- */

struct iwi_pipe_span {
    uint32_t first, last;
    bool was_seen;
};

static bool read_number(const char **text_p, uint32_t *number_p)
{
    char *end;
    unsigned long long value;

    if (**text_p < '0' || **text_p > '9') {
        return false;
    }
    value = strtoull(*text_p, &end, 10);
    *text_p = end;
    *number_p = (uint32_t)value;
    return value <= UINT32_MAX;
}

static bool read_span(const char **text_p, struct iwi_pipe_span *span)
{
    *span = (struct iwi_pipe_span){0};
    if (!read_number(text_p, &span->first)) {
        return false;
    }
    span->last = span->first;
    if (**text_p == '-') {
        (*text_p)++;
        if (!read_number(text_p, &span->last) || span->last < span->first) {
            return false;
        }
    }
    return true;
}

iw_status iwi_pipe_leave_out(struct iw_straggler_job *job, const char *text)
{
    const char *at = text;

    do {
        struct iwi_pipe_span span;

        at += at != text; /* the comma */
        if (!read_span(&at, &span) || (*at != ',' && *at != '\0')) {
            return iwi_fail(job->log, IW_ERR_USAGE,
                            "steps to leave out: '%s' is not a list of numbers, such as 31,32 or 0-15", text);
        }
        IW_TRY(iwi_grow(job->log, (void **)&job->left_out, &job->left_out_capacity, job->left_out_count + 1,
                        sizeof job->left_out[0]));
        job->left_out[job->left_out_count++] = span;
    } while (*at == ',');
    return IW_OK;
}

static bool is_left_out(struct iw_straggler_job *job, uint32_t step)
{
    bool is_out = false;

    for (size_t i = 0; i < job->left_out_count; i++) {
        if (step >= job->left_out[i].first && step <= job->left_out[i].last) {
            is_out = job->left_out[i].was_seen = true;
        }
    }
    return is_out;
}

iw_status iwi_pipe_add(struct iw_straggler_job *job, const struct iwi_pipe_event *event)
{
    if (is_left_out(job, event->step)) {
        return IW_OK;
    }
    if (event->length_ps < -CLOCK_ERROR_PS || event->length_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(job->log, IW_ERR_RANGE,
                        "'%s': step %" PRIu32 ", rank %" PRIu32 ": %s takes %" PRId64
                        " ps: less than -10 ms or more than ten days",
                        job->name, event->step, event->rank, iwi_pipe_op_name(event->op), event->length_ps);
    }
    IW_TRY(iwi_grow(job->log, (void **)&job->events, &job->event_capacity, job->event_count + 1,
                    sizeof job->events[0]));
    job->events[job->event_count++] = *event;
    job->longest_ps = iwi_max(job->longest_ps, event->length_ps);
    return IW_OK;
}

/* ---- the whole ---- */

static iw_status check_left_out(const struct iw_straggler_job *job)
{
    for (size_t i = 0; i < job->left_out_count; i++) {
        if (!job->left_out[i].was_seen) {
            return iwi_fail(job->log, IW_ERR_USAGE, "'%s' has no step %" PRIu32 " to leave out", job->name,
                            job->left_out[i].first);
        }
    }
    return IW_OK;
}

static iw_status pipe_lay_out(struct iw_straggler_job *job);

iw_status iwi_pipe_finish(struct iw_straggler_job *job)
{
    iw_status status;

    IW_TRY(check_left_out(job));
    if (job->event_count == 0) {
        return iwi_fail(job->log, IW_ERR_FORMAT, "'%s' has no training events, such as 'forward-compute'",
                        job->name);
    }
    status = pipe_lay_out(job);
    free(job->events);
    job->events = NULL;
    job->event_count = job->event_capacity = 0;
    return status;
}

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
    if (!pipe_has(job, event->op, stage)) {
        return IW_OK; /* profilers note messages to nobody, too */
    }
    length_ps = &job->lengths_ps[iwi_pipe_worker(job, step, replica, stage) +
                                 iwi_pipe_slot(job, event->op, event->sequence)];
    if (*length_ps != IWI_PIPE_ABSENT) {
        return iwi_fail(job->log, IW_ERR_FORMAT,
                        "'%s': step %" PRIu32 ", rank %" PRIu32 ": %s %" PRIu32 " occurs twice", job->name,
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
        for (uint32_t k = 0; k < each && pipe_has(job, op, (uint32_t)(i % job->stage_count)); k++) {
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
                        "'%s': step %" PRIu32 ", rank %" PRIu32 " lacks some of its %s (%zu are missing)",
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

static iw_status pipe_order_turns(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage);

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
        status = pipe_order_turns(job, turns);
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

/* The part of iwi_pipe_finish() that fills what is there once finished. */
static iw_status pipe_lay_out(struct iw_straggler_job *job)
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

/* ---- the job again, with other lengths ---- */

/* Of a stage, by micro-batch q, in the order of its computations:
 *   a message begins when both sides are ready: the sender has computed q and sent q - 1, the receiver has
 *     computed q - 1 and received q - 1; the first gradient also when the receiver has computed its last
 *     forward but one before its first backward. Each side is done its own transfer time later.
 *   a computation begins when the one before it has ended and its message is there, the first forward not
 *     before the parameters are.
 * Then, one behind the other: garbage collection; layer norms; embeddings, begun by the first and the last
 * stage together; gradients, begun by all replicas together; the clip of gradients, begun by all workers
 * together; the optimizer.
 */

static bool is_forward(unsigned op)
{
    return op == IWI_PIPE_FORWARD;
}

/* The stage that the input of a computation comes from; UINT32_MAX: it has it. */
static uint32_t giver(const struct iw_straggler_job *job, const struct iwi_pipe_turn *turn)
{
    if (is_forward(turn->op)) {
        return turn->stage > 0 ? turn->stage - 1 : UINT32_MAX;
    }
    return turn->stage + 1 < job->stage_count ? turn->stage + 1 : UINT32_MAX;
}

/* ---- an order in which everything is computed behind what it waits for ---- */

/* done[stage * 2 + op]: how many of this kind the stage has computed. */
static bool is_ready(const struct iw_straggler_job *job, const struct iwi_pipe_turn *turn,
                     const uint32_t *done)
{
    const uint32_t from = giver(job, turn);

    return from == UINT32_MAX || done[(size_t)from * 2 + turn->op] > turn->microbatch;
}

static iw_status check_numbering(const struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage)
{
    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        uint32_t next[2] = {0};

        for (uint32_t i = 0; i < 2 * job->microbatches; i++) {
            const struct iwi_pipe_turn *turn = &by_stage[(size_t)stage * 2 * job->microbatches + i];

            if (turn->microbatch != next[turn->op]++) {
                return iwi_fail(
                    job->log, IW_ERR_FORMAT,
                    "'%s': stage %" PRIu32
                    ": computations are not numbered in the order in which they begin: %s %" PRIu32,
                    job->name, stage, iwi_pipe_op_name(turn->op), turn->microbatch);
            }
        }
    }
    return IW_OK;
}

static void find_leads(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage)
{
    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        const struct iwi_pipe_turn *turns = &by_stage[(size_t)stage * 2 * job->microbatches];
        uint32_t forwards = 0;

        while (is_forward(turns[forwards].op)) { /* a backward is there */
            forwards++;
        }
        job->leads[stage] = forwards >= 2 ? forwards - 2 : IWI_PIPE_NO_LEAD;
    }
}

/* Round and round over the stages, each as far as it gets. */
static iw_status order(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage, uint32_t *done)
{
    const size_t all = (size_t)job->stage_count * 2 * job->microbatches;
    size_t count = 0, before;

    do {
        before = count;
        for (uint32_t stage = 0; stage < job->stage_count; stage++) {
            const struct iwi_pipe_turn *turns = &by_stage[(size_t)stage * 2 * job->microbatches];
            uint32_t *own = &done[(size_t)stage * 2];

            while (own[0] + own[1] < 2 * job->microbatches && is_ready(job, &turns[own[0] + own[1]], done)) {
                job->turns[count] = turns[own[0] + own[1]];
                own[job->turns[count++].op]++;
            }
        }
    } while (count > before);
    return count == all
               ? IW_OK
               : iwi_fail(
                     job->log, IW_ERR_FORMAT,
                     "'%s': stages wait for each other: this order of computations is not that of a pipeline",
                     job->name);
}

/* Orders the computations of a replica, from those of its stages. IW_ERR_FORMAT: they wait for each other. */
static iw_status pipe_order_turns(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage)
{
    uint32_t *done = iwi_new_array(job->log, (size_t)job->stage_count * 2, sizeof done[0]);
    iw_status status = IW_ERR_NOMEM;

    job->turns =
        iwi_new_array(job->log, (size_t)job->stage_count * 2 * job->microbatches, sizeof job->turns[0]);
    job->leads = iwi_new_array(job->log, job->stage_count, sizeof job->leads[0]);
    if (done != NULL && job->turns != NULL && job->leads != NULL) {
        status = check_numbering(job, by_stage);
    }
    if (status == IW_OK) {
        find_leads(job, by_stage);
        status = order(job, by_stage, done);
    }
    free(done);
    return status;
}

/* ---- the replay ---- */

struct replay {
    const struct iw_straggler_job *job;
    const iw_time *lengths_ps;
    iw_time *ends_ps;  /* of one replica: [stage][op][micro-batch], of what there is for each micro-batch */
    iw_time *stage_ps; /* of one replica: where each stage has got to */
    iw_time *tails_ps; /* [replica][stage] */
};

static iw_time *end_of(const struct replay *replay, uint32_t stage, unsigned op, uint32_t microbatch)
{
    return &replay->ends_ps[((size_t)stage * IWI_PIPE_MICROBATCH_OPS + op) * replay->job->microbatches +
                            microbatch];
}

static iw_time length_of(const struct replay *replay, size_t worker, unsigned op, uint32_t microbatch)
{
    const iw_time length_ps = replay->lengths_ps[worker + iwi_pipe_slot(replay->job, op, microbatch)];

    return length_ps != IWI_PIPE_ABSENT ? length_ps : 0;
}

static iw_time receiver_ready(const struct replay *replay, const struct iwi_pipe_turn *turn, unsigned receive)
{
    const uint32_t lead = replay->job->leads[turn->stage];

    if (turn->microbatch > 0) {
        return iwi_max(*end_of(replay, turn->stage, turn->op, turn->microbatch - 1),
                       *end_of(replay, turn->stage, receive, turn->microbatch - 1));
    }
    return is_forward(turn->op) || lead == IWI_PIPE_NO_LEAD
               ? 0
               : *end_of(replay, turn->stage, IWI_PIPE_FORWARD, lead);
}

/* When the input of a computation is there. */
static iw_time receive(const struct replay *replay, const struct iwi_pipe_turn *turn, size_t first_worker)
{
    const uint32_t from = giver(replay->job, turn), q = turn->microbatch;
    const size_t width = iwi_pipe_worker_width(replay->job);
    const unsigned sends = is_forward(turn->op) ? IWI_PIPE_FORWARD_SEND : IWI_PIPE_BACKWARD_SEND;
    const unsigned receives = is_forward(turn->op) ? IWI_PIPE_FORWARD_RECV : IWI_PIPE_BACKWARD_RECV;
    iw_time begin_ps;

    if (from == UINT32_MAX) {
        return 0;
    }
    begin_ps = iwi_max(*end_of(replay, from, turn->op, q), receiver_ready(replay, turn, receives));
    if (q > 0) {
        begin_ps = iwi_max(begin_ps, *end_of(replay, from, sends, q - 1));
    }
    *end_of(replay, from, sends, q) = begin_ps + length_of(replay, first_worker + from * width, sends, q);
    return *end_of(replay, turn->stage, receives, q) =
               begin_ps + length_of(replay, first_worker + turn->stage * width, receives, q);
}

static void run_pipeline(const struct replay *replay, uint32_t step, uint32_t replica)
{
    const struct iw_straggler_job *job = replay->job;
    const size_t first = iwi_pipe_worker(job, step, replica, 0), width = iwi_pipe_worker_width(job);

    memset(replay->stage_ps, 0, job->stage_count * sizeof replay->stage_ps[0]);
    for (size_t i = 0; i < (size_t)job->stage_count * 2 * job->microbatches; i++) {
        const struct iwi_pipe_turn *turn = &job->turns[i];
        const size_t worker = first + turn->stage * width;
        iw_time begin_ps = iwi_max(replay->stage_ps[turn->stage], receive(replay, turn, first));

        if (is_forward(turn->op) && turn->microbatch == 0) {
            begin_ps = iwi_max(begin_ps, length_of(replay, worker, IWI_PIPE_GATHER, 0));
        }
        replay->stage_ps[turn->stage] = *end_of(replay, turn->stage, turn->op, turn->microbatch) =
            begin_ps + length_of(replay, worker, turn->op, turn->microbatch);
    }
}

/* Up to the embeddings: what one replica does by itself. */
static void end_replica(const struct replay *replay, uint32_t step, uint32_t replica)
{
    const struct iw_straggler_job *job = replay->job;
    const size_t first = iwi_pipe_worker(job, step, replica, 0), width = iwi_pipe_worker_width(job);
    iw_time *tails_ps = &replay->tails_ps[(size_t)replica * job->stage_count];
    iw_time both_ps;

    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        tails_ps[stage] = replay->stage_ps[stage] +
                          length_of(replay, first + stage * width, IWI_PIPE_COLLECT, 0) +
                          length_of(replay, first + stage * width, IWI_PIPE_LAYERNORM, 0);
    }
    both_ps = iwi_max(tails_ps[0], tails_ps[job->stage_count - 1]);
    tails_ps[0] = both_ps + length_of(replay, first, IWI_PIPE_EMBEDDING, 0);
    if (job->stage_count > 1) {
        tails_ps[job->stage_count - 1] =
            both_ps + length_of(replay, first + (job->stage_count - 1) * width, IWI_PIPE_EMBEDDING, 0);
    }
}

/* What replicas do together; when the step ends. */
static iw_time end_step(const struct replay *replay, uint32_t step)
{
    const struct iw_straggler_job *job = replay->job;
    const size_t first = iwi_pipe_worker(job, step, 0, 0), width = iwi_pipe_worker_width(job);
    const size_t workers = (size_t)job->replica_count * job->stage_count;
    iw_time clip_ps = 0, end_ps = 0;

    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        iw_time begin_ps = 0;

        for (size_t i = stage; i < workers; i += job->stage_count) {
            begin_ps = iwi_max(begin_ps, replay->tails_ps[i]);
        }
        for (size_t i = stage; i < workers; i += job->stage_count) {
            clip_ps = iwi_max(clip_ps, begin_ps + length_of(replay, first + i * width, IWI_PIPE_SCATTER, 0));
        }
    }
    for (size_t i = 0; i < workers; i++) {
        end_ps = iwi_max(end_ps, clip_ps + length_of(replay, first + i * width, IWI_PIPE_CLIP, 0) +
                                     length_of(replay, first + i * width, IWI_PIPE_OPTIMIZER, 0));
    }
    return end_ps;
}

iw_status iwi_pipe_replay(const struct iw_straggler_job *job, const iw_time *lengths_ps, iw_time *step_ps)
{
    struct replay replay = {.job = job, .lengths_ps = lengths_ps};
    iw_status status = IW_ERR_NOMEM;

    replay.ends_ps =
        iwi_new_array(job->log, (size_t)job->stage_count * IWI_PIPE_MICROBATCH_OPS * job->microbatches,
                      sizeof replay.ends_ps[0]);
    replay.stage_ps = iwi_new_array(job->log, job->stage_count, sizeof replay.stage_ps[0]);
    replay.tails_ps =
        iwi_new_array(job->log, (size_t)job->replica_count * job->stage_count, sizeof replay.tails_ps[0]);
    if (replay.ends_ps != NULL && replay.stage_ps != NULL && replay.tails_ps != NULL) {
        for (uint32_t step = 0; step < job->step_count; step++) {
            for (uint32_t replica = 0; replica < job->replica_count; replica++) {
                run_pipeline(&replay, step, replica);
                end_replica(&replay, step, replica);
            }
            step_ps[step] = end_step(&replay, step);
        }
        status = IW_OK;
    }
    free(replay.ends_ps);
    free(replay.stage_ps);
    free(replay.tails_ps);
    return status;
}
