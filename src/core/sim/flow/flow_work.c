/* What all rounds of the flow engine use: work under noise, compute phases, room for messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_step.h"

/* Passing an id costs more than the closed form of most sources: it is written in parts and read as a whole.
 */
static iw_time finish_by_id(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time *next, iw_time t,
                            iw_time d, const struct iwi_lost *lost)
{
    const struct iwi_job *job = flow->job;
    const struct iwi_stream_id id = {job->seed, job->first_trial + (i & (flow->lanes - 1)),
                                     rank * flow->cores};

    return iwi_finish(job->noise, id, flow->noise_words + i * flow->words, next, t, d, lost);
}

/* The same by the closed form, which does not tell detours apart: that is put off. */
static iw_time finish_and_keep(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time *next, iw_time t,
                               iw_time d, uint32_t *path)
{
    int64_t *const words = flow->noise_words + i * flow->words;
    struct iwi_path_work work = {.begin = t, .d = d, .next = *next, .rank = rank};
    iw_time end;

    memcpy(work.words, words, flow->words * sizeof *words);
    end = iwi_noise_finish_closed(flow->job->noise, words, next, t, d);
    *path = end > t + d ? iwi_path_then_work(flow->paths, *path, &work) : *path;
    return end;
}

/* The same, and `path` goes on with what noise takes. */
static iw_time finish_and_tell(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time *next, iw_time t,
                               iw_time d, uint32_t *path)
{
    struct iwi_path_noise noise = {.worst = {{0}}};
    iw_time end;

    if (flow->has_closed_form && flow->words <= IWI_WORK_WORDS) {
        return finish_and_keep(flow, rank, i, next, t, d, path);
    }
    end = finish_by_id(flow, rank, i, next, t, d, &(struct iwi_lost){noise.by_source, noise.worst, IW_HITS});
    *path = end > t + d ? iwi_path_then_noise(flow->paths, *path, &noise) : *path;
    return end;
}

iw_time iwi_flow_work_slow(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time *next, iw_time t,
                           iw_time d, uint32_t *path)
{
    iw_time end = IWI_LATEST;

    if (t + d <= IWI_LATEST && d > 0) {
        if (path != NULL) {
            end = finish_and_tell(flow, rank, i, next, t, d, path);
        } else {
            end = flow->has_closed_form
                      ? iwi_noise_finish_closed(flow->job->noise, flow->noise_words + i * flow->words, next,
                                                t, d)
                      : finish_by_id(flow, rank, i, next, t, d, NULL);
        }
        *next = iwi_min(*next, IWI_LATEST);
    } else if (d == 0) {
        end = iwi_min(t, IWI_LATEST);
    }
    flow->is_too_late |= end >= IWI_LATEST;
    return end;
}

static struct iwi_stream_row row_at(const struct iwi_flow *flow, size_t i)
{
    const struct iwi_job *job = flow->job;

    return (struct iwi_stream_row){
        .id = {job->seed, job->first_trial,
               (flow->first_rank + (uint32_t)(i >> flow->lane_shift)) * flow->cores},
        .lane_shift = flow->lane_shift,
        .lane = (uint32_t)(i & (flow->lanes - 1)),
        .cores = flow->cores,
        .state = flow->noise_words + i * flow->words};
}

void iwi_flow_seek(struct iwi_flow *flow, size_t i, iw_time *nexts, const iw_time *ts, size_t count)
{
    const struct iwi_stream_row row = row_at(flow, i);

    if (flow->job->noise != NULL) {
        iwi_noise_seek_all(flow->job->noise, &row, nexts, ts, count);
    }
}

void iwi_flow_fetch(struct iwi_flow *flow, size_t i, iw_time later, size_t count)
{
    const struct iwi_stream_row row = row_at(flow, i);

    if (flow->words > 0) {
        iwi_noise_fetch_all(flow->job->noise, &row, flow->next_detour + i, flow->cpu + i, later, count);
    }
}

iw_time iwi_flow_delay(struct iwi_flow *flow, uint32_t rank, uint32_t peer, size_t i,
                       const struct iwi_cost *cost)
{
    const struct iwi_job *job = flow->job;
    const uint64_t trial = job->first_trial + (i & (flow->lanes - 1));
    const uint32_t number = flow->sends_before[i]++;
    struct iwi_drawn_delays *drawn = &flow->drawn;

    if (cost->inner < job->noisy_level || rank == peer) {
        return 0;
    }
    if (job->net_noise->series != NULL) {
        return iwi_job_delay(job, trial, cost->inner,
                             &(struct iwi_leaving){flow->cpu[i], number, rank, peer, IWI_CARRIED_DATA});
    }
    if (drawn->rank != rank || drawn->number != number || drawn->trials != trial / IWI_DRAW_TRIALS) {
        drawn->rank = rank;
        drawn->number = number;
        drawn->trials = trial / IWI_DRAW_TRIALS;
        drawn->bits = iwi_net_noise_bits(job->seed, trial, rank, number, IWI_CARRIED_DATA);
    }
    return iwi_delay_of(job->net_noise, drawn->bits.v[trial % IWI_DRAW_TRIALS]);
}

iw_time iwi_flow_work_hit(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                          uint32_t *path)
{
    const iw_time end = iwi_flow_work_slow(flow, rank, i, &flow->next_detour[i], t, d, path);

    if (flow->watch.open != NULL) {
        iwi_step_lost(&flow->watch, rank, end - t - d);
    }
    return end;
}

struct iwi_cores iwi_flow_cores(const struct iwi_flow *flow, uint32_t rank, size_t i)
{
    const struct iwi_job *job = flow->job;
    const size_t others = i * (flow->cores - 1);

    return (struct iwi_cores){
        .noise = job->noise,
        .id = {job->seed, job->first_trial + (i & (flow->lanes - 1)), rank * flow->cores},
        .words = flow->noise_words + i * flow->words,
        .next = &flow->next_detour[i],
        .other_words = flow->other_words + others * flow->words,
        .other_next = flow->other_next + others};
}

/* What a phase adds to its path. */
static void tell_phase(struct iwi_flow *flow, uint32_t *path, iw_time cpu_work, iw_time memory, iw_time delay)
{
    *path = iwi_path_then_amount(flow->paths, *path, IW_PART_COMPUTE, cpu_work);
    *path = iwi_path_then_amount(flow->paths, *path, IW_PART_MEMORY, memory);
    *path = iwi_path_then_amount(flow->paths, *path, IW_PART_DELAY, delay);
}

/* A phase on several cores. */
static void phase_on_cores(struct iwi_flow *flow, uint32_t rank, uint64_t phase, iw_time work, iw_time delay)
{
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        const size_t i = iwi_flow_at(flow, rank) + lane;
        const struct iwi_cores cores = iwi_flow_cores(flow, rank, i);
        uint32_t *path = iwi_flow_cpu_path(flow, i);
        struct iwi_path_noise noise = {.worst = {{0}}};
        const struct iwi_lost lost = {noise.by_source, noise.worst, IW_HITS};
        const iw_time begin = flow->cpu[i];

        flow->cpu[i] = iwi_cores_phase(&cores, phase, begin, work, delay, path == NULL ? NULL : &lost);
        flow->next_detour[i] = iwi_min(flow->next_detour[i], IWI_LATEST);
        if (flow->watch.open != NULL && !flow->is_too_late) {
            iwi_step_phase(&flow->watch, rank, begin, delay, work, flow->cpu[i] - begin - work - delay);
        }
        flow->is_too_late |= flow->cpu[i] >= IWI_LATEST;
        if (path != NULL) {
            *path = iwi_path_then_noise(flow->paths, *path, &noise);
            tell_phase(flow, path, work, 0, delay);
        }
    }
}

/* What sources that act on phases add to one. */
static iw_time phase_noise(struct iwi_flow *flow, uint32_t rank, size_t i, uint64_t phase, iw_time work,
                           uint32_t *path)
{
    const struct iwi_job *job = flow->job;
    const struct iwi_stream_id id = {job->seed, job->first_trial + (i & (flow->lanes - 1)), rank};
    struct iwi_path_noise noise = {.worst = {{0}}};
    const struct iwi_lost lost = {noise.by_source, noise.worst, IW_HITS};
    const iw_time extra =
        iwi_noise_phase(job->noise, id, flow->noise_words + i * flow->words, &flow->next_detour[i], phase,
                        flow->cpu[i], work, path == NULL ? NULL : &lost);

    if (path != NULL) {
        *path = iwi_path_then_noise(flow->paths, *path, &noise);
    }
    return extra;
}

void iwi_flow_phase(struct iwi_flow *flow, uint32_t rank, uint64_t phase, iw_time amount)
{
    const struct iwi_job *job = flow->job;
    const iw_time cpu_work = iwi_job_work(job, rank, amount);
    const iw_time work = iwi_max(cpu_work, job->memory_ps); /* nobody waits for others' use of memory here */
    const iw_time delay = job->has_delays ? iwi_program_delay(job->program, rank, phase + 1) : 0;
    const bool has_phase_noise = job->noise != NULL && iwi_noise_has_phases(job->noise);

    if (flow->cores > 1) {
        phase_on_cores(flow, rank, phase, work, delay);
        return;
    }
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        const size_t i = iwi_flow_at(flow, rank) + lane;
        uint32_t *path = iwi_flow_cpu_path(flow, i);
        const iw_time extra = has_phase_noise ? phase_noise(flow, rank, i, phase, work, path) : 0;

        if (flow->watch.open != NULL && !flow->is_too_late) {
            iwi_step_phase(&flow->watch, rank, flow->cpu[i], delay, work, extra);
        }
        flow->cpu[i] = step_finish(flow, rank, i, flow->cpu[i], work + extra + delay, path, path != NULL);
        if (path != NULL) {
            tell_phase(flow, path, cpu_work, work - cpu_work, delay);
        }
    }
}

static iw_status reserve_slots(struct iwi_flow *flow, size_t slots)
{
    const bool is_explaining = flow->job->split != NULL;

    free(flow->slots);
    free(flow->slot_path);
    flow->slots = iwi_rank_array_new(flow->log, slots << flow->lane_shift, sizeof(iw_time));
    flow->slot_path =
        is_explaining ? iwi_rank_array_new(flow->log, slots << flow->lane_shift, sizeof(uint32_t)) : NULL;
    flow->slot_count = slots;
    return flow->slots == NULL || (is_explaining && flow->slot_path == NULL) ? IW_ERR_NOMEM : IW_OK;
}

static iw_status reserve_posted(struct iwi_flow *flow)
{
    flow->posted = iwi_rank_array_new(flow->log, flow->count, sizeof(iw_time));
    if (flow->posted != NULL && flow->job->split != NULL) {
        flow->posted_path = iwi_rank_array_new(flow->log, flow->count, sizeof(uint32_t));
    }
    return flow->posted == NULL || (flow->job->split != NULL && flow->posted_path == NULL) ? IW_ERR_NOMEM
                                                                                           : IW_OK;
}

iw_status iwi_flow_reserve_scratch(struct iwi_flow *flow, uint32_t fan)
{
    if (fan <= flow->fan) {
        return IW_OK;
    }
    free(flow->sends);
    free(flow->recvs);
    free(flow->arrivals);
    flow->sends = iwi_new_array(flow->log, fan, sizeof *flow->sends);
    flow->recvs = iwi_new_array(flow->log, fan, sizeof *flow->recvs);
    flow->arrivals = iwi_new_array(flow->log, fan, sizeof *flow->arrivals);
    flow->fan = fan;
    return flow->sends == NULL || flow->recvs == NULL || flow->arrivals == NULL ? IW_ERR_NOMEM : IW_OK;
}

iw_status iwi_flow_reserve(struct iwi_flow *flow, uint32_t ranks, uint32_t fan, bool has_rendezvous)
{
    const size_t slots = (size_t)fan * ranks;

    if (slots > flow->slot_count) {
        IW_TRY(reserve_slots(flow, slots));
    }
    IW_TRY(iwi_flow_reserve_scratch(flow, fan));
    return has_rendezvous && flow->posted == NULL ? reserve_posted(flow) : IW_OK;
}
