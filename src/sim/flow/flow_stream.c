/* The flow engine's streaming rounds: every rank does the same with a partner given by its number.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the elements (ranks x lanes) serves the receive of a round and the send of the next. A plain
 * pass streams all arrays through the cache. Where there are more elements than the cache holds, several
 * passes are made at once over parts that it does hold. Which way is taken never changes a result.
 */
#include "sim/flow/flow_stream.h"

#include <stdlib.h>

#include "base/base.h"
#include "sim/flow/flow_exchange.h"

static struct iwi_pass bare_pass_at(const struct iwi_run *run, uint64_t number)
{
    const struct iwi_flow *flow = run->flow;
    const iw_net *net = flow->job->net;
    struct iwi_pass pass = {.has_receive = number > 0, .has_send = number < run->last_pass};
    struct iwi_round round;

    if (pass.has_receive) {
        run->op->algorithm->round(run->op, run->first + number - 1, &round);
        pass.in = iwi_cost_of(net, round.bytes);
        pass.reduce = iwi_bytes_cost(flow->job->program->reduce, round.reduce_bytes);
        pass.is_flip = round.is_flip;
        pass.shift = flow->is_alike ? 0 : (size_t)round.shift << flow->lane_shift;
        pass.flip = flow->is_alike ? 0 : (size_t)round.flip << flow->lane_shift;
    }
    if (pass.has_send) {
        run->op->algorithm->round(run->op, run->first + number, &round);
        pass.out = iwi_cost_of(net, round.bytes);
    }
    pass.is_rendezvous = pass.has_receive ? pass.in.is_rendezvous : pass.out.is_rendezvous;
    pass.notice = iwi_cost_notice(net, flow->job->rendezvous);
    pass.handshake = iwi_cost_handshake(net, flow->job->rendezvous);
    return pass;
}

/* The gaps that began one pass earlier are over before this pass receives and sends: the CPU was busy
 * longer.
 */
static bool is_free_of_gaps(const struct iwi_pass *before, const struct iwi_pass *pass)
{
    return before->in.gap <= before->in.recv_cpu + before->reduce + before->out.send_cpu &&
           before->out.gap <= before->out.send_cpu + pass->in.recv_cpu + pass->reduce;
}

/* The first two passes meet the gaps of what was before the run, if there was anything; what is after it
 * meets those of the last two. */
static bool has_gaps(const struct iwi_run *run, uint64_t number, const struct iwi_pass *pass)
{
    const bool is_fresh = run->flow->is_first_operation && run->first == 0;
    const struct iwi_pass before = bare_pass_at(run, number - (number > 0)),
                          after = bare_pass_at(run, number + (number < run->last_pass));

    return (number < 2 && !is_fresh) || pass->is_rendezvous ||
           (number + 1 >= run->last_pass && !run->flow->is_last_operation) ||
           (number > 0 && !is_free_of_gaps(&before, pass)) ||
           (number < run->last_pass && !is_free_of_gaps(pass, &after));
}

struct iwi_pass iwi_run_pass(const struct iwi_run *run, uint64_t number)
{
    struct iwi_pass pass = bare_pass_at(run, number);

    pass.has_gaps = has_gaps(run, number, &pass);
    return pass;
}

bool iwi_flow_is_free_of_gaps(const struct iwi_job *job)
{
    const uint64_t most_rounds = 1 << 16; /* more take long to look through */
    const iw_program *program = job->program;
    struct iwi_flow alone = {.job = job, .is_first_operation = true, .is_last_operation = true};
    struct iwi_run run = {.flow = &alone, .op = program->operations};
    struct iwi_round round;
    bool is_free = job->schedule == NULL && program->trace == NULL && program->operation_count == 1 &&
                   program->repeat == 1;

    run.last_pass = is_free ? run.op->algorithm->round_count(run.op) : 0;
    is_free = is_free && run.last_pass <= most_rounds;
    for (uint64_t index = 0; is_free && index < run.last_pass; index++) {
        run.op->algorithm->round(run.op, index, &round);
        is_free = iwi_flow_streams(job, &round);
    }
    for (uint64_t number = 0; is_free && number <= run.last_pass && run.last_pass > 0; number++) {
        is_free = !iwi_run_pass(&run, number).has_gaps;
    }
    return is_free;
}

static void swap(iw_time **a, iw_time **b)
{
    iw_time *kept = *a;

    *a = *b;
    *b = kept;
}

static iw_status plain_pass(struct iwi_flow *flow, const struct iwi_pass *pass)
{
    const struct iwi_span all = {.count = flow->count,
                                 .send_gap = flow->send_gap,
                                 .recv_gap = flow->recv_gap,
                                 .next_detour = flow->next_detour,
                                 .width_shift = 63};

    if (flow->partition != NULL) {
        IW_TRY(iwi_exchange_pass(flow, &all, pass));
    } else if (pass->is_rendezvous) {
        iwi_pass_rendezvous(flow, &all, pass, flow->cpu, flow->posted, flow->other, flow->posted_other);
    } else {
        iwi_pass_closed(flow, &all, pass, flow->cpu, flow->other);
    }
    if (pass->is_rendezvous) {
        swap(&flow->posted, &flow->posted_other);
    }
    swap(&flow->cpu, &flow->other);
    return IW_OK;
}

static iw_status reserve(struct iwi_flow *flow, bool is_rendezvous)
{
    if (is_rendezvous && flow->posted == NULL) {
        flow->posted = iwi_flow_new_array(flow->log, flow->count, sizeof(iw_time));
    }
    if (is_rendezvous && flow->posted_other == NULL) {
        flow->posted_other = iwi_flow_new_array(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->other == NULL) {
        flow->other = iwi_flow_new_array(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->stream == NULL) {
        flow->stream = iwi_new_array(flow->log, 1, sizeof *flow->stream);
        if (flow->stream != NULL && flow->words > 0) {
            flow->stream->kept_words = iwi_new_array(flow->log, IWI_EDGES * flow->words, sizeof(int64_t));
        }
    }
    return flow->other == NULL || flow->stream == NULL ||
                   (flow->words > 0 && flow->stream->kept_words == NULL) ||
                   (is_rendezvous && (flow->posted == NULL || flow->posted_other == NULL))
               ? IW_ERR_NOMEM
               : IW_OK;
}

void iwi_stream_free(struct iwi_stream *stream)
{
    if (stream != NULL) {
        free(stream->kept_words);
        free(stream);
    }
}

/* Elements of the smallest block: all members decide alike. */
static size_t least_elements(const struct iwi_flow *flow)
{
    return flow->partition == NULL ? flow->count : (size_t)flow->partition->smallest << flow->lane_shift;
}

/* Makes the pass `number` and those after it that can be made with it, and tells how many. */
static iw_status make_passes(const struct iwi_run *run, uint64_t number, size_t *count_p)
{
    struct iwi_flow *flow = run->flow;
    const bool is_whole = flow->partition == NULL;

    *count_p = 0;
    if (least_elements(flow) > IWI_WINDOW) {
        if (!run->is_rendezvous) {
            IW_TRY(iwi_pass_tiles(run, number, count_p));
        } else if (is_whole) {
            *count_p = iwi_pass_windows(run, number);
        }
        if (*count_p == 0 && is_whole) {
            *count_p = iwi_pass_columns(run, number);
        } else if (*count_p == 0) {
            IW_TRY(iwi_exchange_columns(run, number, count_p));
        }
    }
    if (*count_p == 0) {
        const struct iwi_pass pass = iwi_run_pass(run, number);

        IW_TRY(plain_pass(flow, &pass));
        *count_p = 1;
    }
    return IW_OK;
}

/* What the passes cost every rank, for its steps. Detours that hit it are not told from waiting: only runs
 * with more steps than can be looked at one by one come here. */
static void watch_passes(const struct iwi_run *run)
{
    struct iwi_step_watch *watch = &run->flow->watch;
    iw_time busy = 0;

    for (uint64_t number = 0; number <= run->last_pass && watch->open != NULL; number++) {
        const struct iwi_pass pass = bare_pass_at(run, number);

        busy +=
            (pass.has_receive ? pass.in.recv_cpu + pass.reduce : 0) + (pass.has_send ? pass.out.send_cpu : 0);
    }
    for (uint32_t rank = 0; rank < run->flow->ranks && watch->open != NULL; rank++) {
        iwi_step_busy(watch, rank, busy);
    }
}

iw_status iwi_flow_stream(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t first, uint64_t end)
{
    struct iwi_run run = {flow, op, first, end - first, false};
    uint64_t number = flow->start.pass;

    flow->start.pass = 0;
    run.is_rendezvous = bare_pass_at(&run, 0).is_rendezvous;
    IW_TRY(reserve(flow, run.is_rendezvous));
    while (number <= run.last_pass) {
        size_t count;

        IW_TRY(make_passes(&run, number, &count));
        iwi_tick(flow->job->ticker, count - (number == 0 ? 1 : 0));
        number += count;
        if (number <= run.last_pass) {
            IW_TRY(iwi_flow_visit(flow, first, number));
        }
    }
    watch_passes(&run);
    return flow->partition != NULL ? iwi_exchange_finish_pass(flow) : IW_OK;
}
