/* The flow engine's arrays: made once for a thread, restarted for each batch of trials.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/flow_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "sim/flow_step.h"

enum { HUGE_PAGE = 2 << 20 };

/* Large arrays get huge pages where the kernel gives them: streaming over them is what this engine does. */
static void *new_times(const iw_log *log, size_t count, size_t element_size)
{
    const size_t bytes = count * element_size;
    void *memory;

    if (bytes < 4 * (size_t)HUGE_PAGE || count > SIZE_MAX / element_size) {
        return iwi_new_array(log, count, element_size);
    }
    memory = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (memory == NULL) {
        (void)iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu bytes", bytes);
        return NULL;
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a hint: without it all is slower, nothing is wrong */
    return memory;
}

static iw_status allocate(struct iwi_flow *flow)
{
    iw_time **times[] = {&flow->cpu, &flow->send_gap, &flow->recv_gap, &flow->next_detour};

    for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
        *times[k] = new_times(flow->log, flow->count, sizeof(iw_time));
        if (*times[k] == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    flow->noise_words = new_times(flow->log, flow->count * flow->words, sizeof(int64_t));
    if (flow->noise_words == NULL) {
        return IW_ERR_NOMEM;
    }
    if (flow->job->split != NULL) {
        iw_split **splits[] = {&flow->cpu_split, &flow->send_gap_split, &flow->recv_gap_split};

        for (size_t k = 0; k < sizeof splits / sizeof splits[0]; k++) {
            *splits[k] = new_times(flow->log, flow->count, sizeof(iw_split));
            if (*splits[k] == NULL) {
                return IW_ERR_NOMEM;
            }
        }
    }
    return IW_OK;
}

iw_status iwi_flow_new(const iw_log *log, const struct iwi_job *job, struct iwi_flow **flow_p)
{
    struct iwi_flow *flow = iwi_new_array(log, 1, sizeof *flow);

    if (flow == NULL) {
        return IW_ERR_NOMEM;
    }
    flow->log = log;
    flow->job = job;
    flow->ranks = job->program->ranks;
    flow->lanes = job->lanes;
    while ((1U << flow->lane_shift) < flow->lanes) {
        flow->lane_shift++;
    }
    flow->count = (size_t)flow->ranks << flow->lane_shift;
    flow->words = job->noise == NULL ? 0 : iwi_noise_words(job->noise);
    flow->cost_bytes = UINT64_MAX;
    if (allocate(flow) != IW_OK) {
        iwi_flow_free(flow);
        return IW_ERR_NOMEM;
    }
    *flow_p = flow;
    return IW_OK;
}

void iwi_flow_free(struct iwi_flow *flow)
{
    if (flow == NULL) {
        return;
    }
    free(flow->cpu);
    free(flow->send_gap);
    free(flow->recv_gap);
    free(flow->next_detour);
    free(flow->sent);
    free(flow->sent_other);
    free(flow->slots);
    free(flow->posted);
    free(flow->noise_words);
    free(flow->cpu_split);
    free(flow->send_gap_split);
    free(flow->recv_gap_split);
    free(flow->slot_split);
    free(flow->posted_split);
    free(flow->sends);
    free(flow->recvs);
    free(flow->arrivals);
    free(flow);
}

void iwi_flow_restart(struct iwi_flow *flow, const struct iwi_job *job)
{
    const size_t bytes = flow->count * sizeof(iw_time);

    flow->job = job;
    flow->is_too_late = false;
    memset(flow->cpu, 0, bytes);
    memset(flow->send_gap, 0, bytes);
    memset(flow->recv_gap, 0, bytes);
    if (job->split != NULL) {
        memset(flow->cpu_split, 0, flow->count * sizeof(iw_split));
        memset(flow->send_gap_split, 0, flow->count * sizeof(iw_split));
        memset(flow->recv_gap_split, 0, flow->count * sizeof(iw_split));
    }
    if (job->noise != NULL) {
        iwi_noise_begin_all(job->noise, (struct iwi_stream_id){job->seed, job->first_trial, 0}, flow->ranks,
                            flow->lanes, flow->noise_words, flow->next_detour);
    }
    for (size_t i = 0; i < flow->count; i++) {
        flow->next_detour[i] = job->noise == NULL ? IWI_LATEST : iwi_min(flow->next_detour[i], IWI_LATEST);
    }
}

iw_status iwi_flow_reserve_stream(struct iwi_flow *flow)
{
    if (flow->sent == NULL) {
        flow->sent = new_times(flow->log, flow->count, sizeof(iw_time));
    }
    if (flow->sent_other == NULL) {
        flow->sent_other = new_times(flow->log, flow->count, sizeof(iw_time));
    }
    return flow->sent == NULL || flow->sent_other == NULL ? IW_ERR_NOMEM : IW_OK;
}

static iw_status reserve_slots(struct iwi_flow *flow, size_t slots)
{
    const bool is_explaining = flow->job->split != NULL;

    free(flow->slots);
    free(flow->slot_split);
    flow->slots = new_times(flow->log, flow->count * slots, sizeof(iw_time));
    flow->slot_split = is_explaining ? new_times(flow->log, flow->count * slots, sizeof(iw_split)) : NULL;
    flow->slot_count = slots;
    return flow->slots == NULL || (is_explaining && flow->slot_split == NULL) ? IW_ERR_NOMEM : IW_OK;
}

static iw_status reserve_posted(struct iwi_flow *flow)
{
    flow->posted = new_times(flow->log, flow->count, sizeof(iw_time));
    if (flow->posted != NULL && flow->job->split != NULL) {
        flow->posted_split = new_times(flow->log, flow->count, sizeof(iw_split));
    }
    return flow->posted == NULL || (flow->job->split != NULL && flow->posted_split == NULL) ? IW_ERR_NOMEM
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

iw_status iwi_flow_reserve(struct iwi_flow *flow, uint32_t fan, bool has_rendezvous)
{
    if (fan > flow->slot_count) {
        IW_TRY(reserve_slots(flow, fan));
    }
    IW_TRY(iwi_flow_reserve_scratch(flow, fan));
    return has_rendezvous && flow->posted == NULL ? reserve_posted(flow) : IW_OK;
}

iw_time iwi_flow_work_slow(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d,
                           iw_time *by_source)
{
    const struct iwi_job *job = flow->job;
    const struct iwi_stream_id id = {job->seed, job->first_trial + (i & (flow->lanes - 1)), rank};

    iw_time end = IWI_LATEST;

    if (t + d <= IWI_LATEST) {
        end = iwi_finish(job->noise, id, flow->noise_words + i * flow->words, &flow->next_detour[i], t, d,
                         by_source);
        flow->next_detour[i] = iwi_min(flow->next_detour[i], IWI_LATEST);
    }
    flow->is_too_late |= end >= IWI_LATEST;
    return end;
}

void iwi_flow_phase(struct iwi_flow *flow, uint32_t rank, uint64_t phase, iw_time work)
{
    const struct iwi_job *job = flow->job;
    const iw_time delay = job->has_delays ? iwi_program_delay(job->program, rank, phase + 1) : 0;
    const bool has_phase_noise = job->noise != NULL && iwi_noise_has_phases(job->noise);

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        const size_t i = ((size_t)rank << flow->lane_shift) + lane;
        const struct iwi_stream_id id = {job->seed, job->first_trial + lane, rank};
        iw_split *split = flow->cpu_split == NULL ? NULL : &flow->cpu_split[i];
        iw_time *by_source = split == NULL ? NULL : &split->part_ps[IW_PART_NOISE];
        iw_time extra = 0;

        if (has_phase_noise) {
            extra = iwi_noise_phase(job->noise, id, flow->noise_words + i * flow->words,
                                    &flow->next_detour[i], phase, flow->cpu[i], work, by_source);
        }
        flow->cpu[i] = step_work(flow, rank, i, flow->cpu[i], work + extra + delay, split, split != NULL);
        if (split != NULL) {
            split->part_ps[IW_PART_COMPUTE] += work;
            split->part_ps[IW_PART_DELAY] += delay;
        }
    }
}
