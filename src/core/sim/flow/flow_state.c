/* The flow engine's arrays: made once for a thread, restarted for each batch of trials.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_grid.h"
#include "core/sim/flow/flow_stream.h"
#include "core/sim/flow/flow_trace_share.h"

static iw_status allocate_cores(struct iwi_flow *flow)
{
    const size_t others = flow->count * (flow->cores - 1);

    if (others == 0) {
        return IW_OK;
    }
    flow->other_next = iwi_rank_array_new(flow->log, others, sizeof(iw_time));
    flow->other_words = iwi_rank_array_new(flow->log, others * flow->words, sizeof(int64_t));
    return flow->other_next == NULL || flow->other_words == NULL ? IW_ERR_NOMEM : IW_OK;
}

static iw_status allocate_paths(struct iwi_flow *flow)
{
    IW_TRY(iwi_paths_new(flow->log, &flow->paths));
    flow->cpu_path = iwi_rank_array_new(flow->log, flow->count, sizeof *flow->cpu_path);
    flow->send_gap_path = iwi_rank_array_new(flow->log, flow->count, sizeof *flow->send_gap_path);
    flow->recv_gap_path = iwi_rank_array_new(flow->log, flow->count, sizeof *flow->recv_gap_path);
    return flow->cpu_path == NULL || flow->send_gap_path == NULL || flow->recv_gap_path == NULL ? IW_ERR_NOMEM
                                                                                                : IW_OK;
}

static iw_status allocate(struct iwi_flow *flow)
{
    iw_time **times[] = {&flow->cpu,      &flow->begun[0], &flow->begun[1], &flow->begun[2],
                         &flow->begun[3], &flow->send_gap, &flow->recv_gap};
    const bool has_gaps = !iwi_flow_is_free_of_gaps(flow->job);

    for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
        const bool is_gap = k > IWI_DRAW_TRIALS, is_ahead = k > 1 && !is_gap;

        if ((is_gap && !has_gaps) || (is_ahead && !flow->job->begins_ahead)) {
            continue;
        }
        *times[k] = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
        if (*times[k] == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    if (flow->job->net_noise != NULL) {
        flow->sends_before = iwi_rank_array_new(flow->log, flow->count, sizeof *flow->sends_before);
        if (flow->sends_before == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    flow->noise_words = iwi_rank_array_new(flow->log, flow->count * flow->words, sizeof(int64_t));
    if (flow->noise_words == NULL || allocate_cores(flow) != IW_OK) {
        return IW_ERR_NOMEM;
    }
    return flow->job->split != NULL ? allocate_paths(flow) : IW_OK;
}

/* All ranks do the same at the same time: each round is a shift or a flip, or one of neighbours that
 * everybody has, and no rank is delayed alone. */
static bool is_alike(const struct iwi_job *job)
{
    const uint64_t most_rounds = 1 << 16; /* more take long to look through */
    const iw_program *program = job->program;
    const bool may_touch = job->noise != NULL && iwi_net_may_touch(job->net); /* grids go rank by rank */
    struct iwi_round round;

    if (job->levels.count > 0 || job->schedule != NULL || program->trace != NULL || job->split != NULL ||
        job->steps != NULL || job->node_factors != NULL || job->net_noise != NULL ||
        (job->has_delays && program->delay_count > 0) ||
        (job->noise != NULL && !iwi_noise_is_common(job->noise))) {
        return false;
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_operation *op = &program->operations[k];
        const uint64_t rounds = op->algorithm->round_count(op);

        for (uint64_t index = 0; index < rounds && rounds <= most_rounds; index++) {
            op->algorithm->round(op, index, &round);
            if (!iwi_flow_streams(job, &round) && (may_touch || !iwi_grid_is_alike(op, index, &round))) {
                return false;
            }
        }
        if (rounds > most_rounds) {
            return false;
        }
    }
    return true;
}

iw_status iwi_flow_new(const iw_log *log, const struct iwi_job *job, struct iwi_flow **flow_p)
{
    struct iwi_flow *flow = iwi_new_array(log, 1, sizeof *flow);

    if (flow == NULL) {
        return IW_ERR_NOMEM;
    }
    flow->log = log;
    flow->job = job;
    flow->is_alike = is_alike(job);
    flow->ranks = flow->is_alike ? 1 : job->program->ranks;
    if (job->partition != NULL && job->partition->members > 1 && !flow->is_alike) {
        const uint32_t *first = &job->partition->first[job->member->number];

        flow->partition = job->partition;
        flow->member = job->member;
        flow->first_rank = first[0];
        flow->ranks = first[1] - first[0];
    }
    flow->lanes = job->lanes;
    while ((1U << flow->lane_shift) < flow->lanes) {
        flow->lane_shift++;
    }
    flow->count = (size_t)flow->ranks << flow->lane_shift;
    flow->words = job->noise == NULL ? 0 : iwi_noise_words(job->noise);
    flow->cores = job->noise == NULL ? 1 : iw_noise_cores_per_rank(job->noise);
    flow->has_closed_form = job->noise != NULL && iwi_noise_has_closed_form(job->noise);
    flow->post_touch = iwi_post_touch(job->net);
    flow->may_touch = job->noise != NULL && iwi_net_may_touch(job->net);
    memset(flow->cost_bytes, 0xff, sizeof flow->cost_bytes); /* no size: none is used yet */
    if (allocate(flow) != IW_OK || (flow->partition != NULL && iwi_exchange_new(flow) != IW_OK) ||
        iwi_step_watch_init(log, job->steps, flow->ranks, &flow->watch) != IW_OK) {
        iwi_flow_free(flow);
        return IW_ERR_NOMEM;
    }
    *flow_p = flow;
    return IW_OK;
}

static void free_stream(struct iwi_stream *stream)
{
    if (stream != NULL) {
        free(stream->kept_words);
        free(stream);
    }
}

void iwi_flow_free(struct iwi_flow *flow)
{
    if (flow == NULL) {
        return;
    }
    iwi_exchange_free(flow);
    free(flow->cpu);
    free(flow->send_gap);
    free(flow->recv_gap);
    for (size_t k = 0; k < IWI_DRAW_TRIALS; k++) {
        free(flow->begun[k]);
    }
    free(flow->pass_levels);
    free(flow->left);
    free(flow->other);
    free(flow->posted_other);
    free_stream(flow->stream);
    free(flow->kept_found);
    iwi_replica_shares_free(flow->parts);
    free(flow->slots);
    free(flow->posted);
    free(flow->sends_before);
    free(flow->noise_words);
    free(flow->other_next);
    free(flow->other_words);
    iwi_paths_free(flow->paths);
    free(flow->cpu_path);
    free(flow->send_gap_path);
    free(flow->recv_gap_path);
    free(flow->slot_path);
    free(flow->posted_path);
    free(flow->left_path);
    free(flow->sends);
    free(flow->recvs);
    free(flow->arrivals);
    iwi_step_watch_release(&flow->watch);
    free(flow);
}

/* The noise of neighbouring trials, stretch by stretch of ranks: drawn together, kept apart. */
static void begin_ahead(struct iwi_flow *flow)
{
    enum { STRETCH = 512 };
    const struct iwi_job *job = flow->job;
    iw_time drawn[STRETCH][IWI_DRAW_TRIALS];

    flow->begun_trial = job->first_trial - job->first_trial % IWI_DRAW_TRIALS;
    flow->begun_count = IWI_DRAW_TRIALS;
    for (uint32_t rank = 0; rank < flow->ranks; rank += STRETCH) {
        const struct iwi_stream_id id = {job->seed, flow->begun_trial, flow->first_rank + rank};
        const uint32_t count = flow->ranks - rank < STRETCH ? flow->ranks - rank : STRETCH;

        iwi_noise_begin_all(job->noise, id, count, IWI_DRAW_TRIALS, NULL, drawn[0]);
        for (size_t k = 0; k < IWI_DRAW_TRIALS; k++) {
            for (size_t r = 0; r < count; r++) {
                flow->begun[k][rank + r] = iwi_min(drawn[r][k], IWI_LATEST);
            }
        }
    }
}

static void begin_cores(struct iwi_flow *flow)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct iwi_cores cores =
            iwi_flow_cores(flow, flow->first_rank + (uint32_t)(i >> flow->lane_shift), i);

        iwi_cores_begin(&cores);
    }
}

static void begin_noise(struct iwi_flow *flow)
{
    const struct iwi_job *job = flow->job;

    if (job->begins_ahead) {
        if (job->first_trial - flow->begun_trial >= flow->begun_count) {
            begin_ahead(flow);
        }
        flow->next_detour = flow->begun[job->first_trial % IWI_DRAW_TRIALS];
        return;
    }
    flow->next_detour = flow->begun[0];
    if (flow->cores > 1) {
        begin_cores(flow);
    } else if (job->noise != NULL) {
        iwi_noise_begin_all(job->noise, (struct iwi_stream_id){job->seed, job->first_trial, flow->first_rank},
                            flow->ranks, flow->lanes, flow->noise_words, flow->next_detour);
    }
    for (size_t i = 0; i < flow->count; i++) {
        flow->next_detour[i] = job->noise == NULL ? IWI_LATEST : iwi_min(flow->next_detour[i], IWI_LATEST);
    }
}

void iwi_flow_restart(struct iwi_flow *flow, const struct iwi_job *job)
{
    const size_t bytes = flow->count * sizeof(iw_time);

    flow->job = job;
    flow->is_too_late = false;
    flow->start = (struct iwi_position){0};
    memset(flow->cpu, 0, bytes);
    if (flow->send_gap != NULL) {
        memset(flow->send_gap, 0, bytes);
        memset(flow->recv_gap, 0, bytes);
    }
    if (flow->paths != NULL) {
        iwi_paths_restart(flow->paths);
        memset(flow->cpu_path, 0, flow->count * sizeof *flow->cpu_path);
        memset(flow->send_gap_path, 0, flow->count * sizeof *flow->send_gap_path);
        memset(flow->recv_gap_path, 0, flow->count * sizeof *flow->recv_gap_path);
    }
    if (flow->sends_before != NULL) {
        memset(flow->sends_before, 0, flow->count * sizeof *flow->sends_before);
        flow->drawn.trials = UINT64_MAX; /* none yet */
    }
    iwi_step_watch_restart(&flow->watch);
    begin_noise(flow);
}

void iwi_flow_end_steps(struct iwi_flow *flow)
{
    for (uint32_t rank = 0; rank < flow->ranks && flow->watch.open != NULL; rank++) {
        iwi_step_watch_end(&flow->watch, rank, flow->cpu[rank]);
    }
}

/* A gap that some rank may wait for becomes a path of its own, behind which nothing is added. */
static void close_gaps(struct iwi_flow *flow, struct iwi_path_step *gaps)
{
    for (size_t i = 0; i < flow->count; i++) {
        gaps[i].before = iwi_path_then(flow->paths, gaps[i].before, gaps[i].what);
    }
}

static void reopen_gaps(struct iwi_flow *flow, struct iwi_path_step *gaps)
{
    const uint32_t nothing = iwi_path_term(flow->paths, &(struct iwi_path_term){.count = 0});

    for (size_t i = 0; i < flow->count; i++) {
        gaps[i].what = nothing;
    }
}

/* What rounds hand on inside is not needed any more. */
iw_status iwi_flow_settle_paths(struct iwi_flow *flow)
{
    const struct iwi_path_roots roots[] = {
        {flow->cpu_path, flow->count, sizeof *flow->cpu_path},
        {&flow->send_gap_path->before, flow->count, sizeof *flow->send_gap_path},
        {&flow->recv_gap_path->before, flow->count, sizeof *flow->recv_gap_path},
        flow->kept_paths[0],
        flow->kept_paths[1]};

    close_gaps(flow, flow->send_gap_path);
    close_gaps(flow, flow->recv_gap_path);
    IW_TRY(iwi_paths_settle(flow->paths, flow->job, roots, sizeof roots / sizeof roots[0]));
    reopen_gaps(flow, flow->send_gap_path);
    reopen_gaps(flow, flow->recv_gap_path);
    return flow->paths->has_failed ? IW_ERR_NOMEM : IW_OK;
}

iw_status iwi_flow_take_paths(struct iwi_flow *flow, iw_split *split)
{
    const struct iwi_path_roots ends = {flow->cpu_path, flow->count, sizeof *flow->cpu_path};

    IW_TRY(iwi_paths_settle(flow->paths, flow->job, &ends, 1));
    for (size_t i = 0; i < flow->count; i++) {
        split[i] = flow->paths->settled[flow->cpu_path[i]];
    }
    return IW_OK;
}
