/* The flow engine's streaming rounds: every rank does the same with a partner given by its number.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the elements (ranks x lanes) serves the receive of a round and the send of the next. A plain
 * pass streams all arrays through the cache. Where there are more elements than the cache holds, several
 * passes are made at once over parts that it does hold. Which way is taken never changes a result.
 */
#include "core/sim/flow/flow_stream.h"

#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/rank_array.h"

static void swap(iw_time **a, iw_time **b)
{
    iw_time *kept = *a;

    *a = *b;
    *b = kept;
}

/* Every rank has sent a message, and the network, which has no levels, delays it: the lanes of a rank are
 * drawn together. */
static void delay_all(struct iwi_flow *flow)
{
    const struct iwi_job *job = flow->job;

    for (size_t i = 0; i < flow->count;) {
        const uint64_t trial = job->first_trial + (i & (flow->lanes - 1));
        const uint32_t rank = (uint32_t)(i >> flow->lane_shift), number = flow->sends_before[i];
        const struct iwi_draw_block bits =
            iwi_net_noise_bits(job->seed, trial, rank, number, IWI_CARRIED_DATA);
        const size_t end = ((size_t)rank + 1) << flow->lane_shift;

        for (size_t k = trial % IWI_DRAW_TRIALS; k < IWI_DRAW_TRIALS && i < end; k++, i++) {
            flow->left[i] = flow->cpu[i] + iwi_delay_of(job->net_noise, bits.v[k]);
            flow->sends_before[i] = number + 1;
        }
    }
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
        iwi_pass_closed(flow, &all, pass, flow->cpu, flow->left != NULL ? flow->left : flow->cpu,
                        flow->other);
    }
    if (pass->is_rendezvous) {
        swap(&flow->posted, &flow->posted_other);
    }
    swap(&flow->cpu, &flow->other);
    if (flow->left != NULL && pass->has_send) {
        delay_all(flow);
    }
    return IW_OK;
}

static iw_status reserve(struct iwi_flow *flow, bool is_rendezvous)
{
    if (is_rendezvous && flow->posted == NULL) {
        flow->posted = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
    }
    if (is_rendezvous && flow->posted_other == NULL) {
        flow->posted_other = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->pass_levels == NULL && flow->job->levels.count > 0) {
        flow->pass_levels = iwi_new_array(flow->log, IWI_PASS_LEVELS, sizeof *flow->pass_levels);
        if (flow->pass_levels == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    if (flow->left == NULL && flow->sends_before != NULL) {
        flow->left = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
        if (flow->left == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    if (flow->other == NULL) {
        flow->other = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
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
    if (least_elements(flow) > IWI_WINDOW && flow->left == NULL) {
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

static iw_time busy_time(const struct iwi_pass *pass, const struct iwi_cost *in, const struct iwi_cost *out)
{
    return (pass->has_receive ? in->recv_cpu + pass->reduce : 0) + (pass->has_send ? out->send_cpu : 0);
}

/* What a pass costs every rank, for its steps. */
static void watch_pass(const struct iwi_run *run, const struct iwi_span *all, const struct iwi_pass *pass)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_level_run level = {.count = 0};

    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        const struct iwi_cost *in = &pass->in, *out = &pass->out;

        if (pass->levels != NULL) {
            level = iwi_level_run_at(flow, all, pass, rank, flow->count);
            in = &pass->levels->in[level.in];
            out = &pass->levels->out[level.out];
        }
        iwi_step_busy(&flow->watch, rank, busy_time(pass, in, out));
    }
}

/* Detours that hit a rank are not told from waiting: only runs with more steps than can be looked at one by
 * one come here, one lane at a time. */
static void watch_passes(const struct iwi_run *run)
{
    const struct iwi_span all = {.count = run->flow->count, .width_shift = 63};

    for (uint64_t number = 0; number <= run->last_pass && run->flow->watch.open != NULL; number++) {
        const struct iwi_pass pass = iwi_run_pass(run, number);

        watch_pass(run, &all, &pass);
    }
}

iw_status iwi_flow_stream(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t first, uint64_t end)
{
    struct iwi_run run = {flow, op, first, end - first, false};
    uint64_t number = flow->start.pass;

    flow->start.pass = 0;
    run.is_rendezvous = iwi_run_pass(&run, 0).is_rendezvous;
    IW_TRY(reserve(flow, run.is_rendezvous));
    while (number <= run.last_pass) {
        size_t count;

        IW_TRY(make_passes(&run, number, &count));
        IW_TRY(iwi_tick(flow->job->ticker, count - (number == 0 ? 1 : 0)));
        number += count;
        if (number <= run.last_pass) {
            IW_TRY(iwi_flow_visit(flow, first, number));
        }
    }
    watch_passes(&run);
    return flow->partition != NULL ? iwi_exchange_finish_pass(flow) : IW_OK;
}
