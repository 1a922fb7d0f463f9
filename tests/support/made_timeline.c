/* A made run: P_i(n+1) = max of the neighbours' and the own end of work in step n, plus the message's time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include <idlewave/estimate.h>
#include <idlewave/wave.h>

static void *room_for(size_t count, size_t size)
{
    void *array = calloc(count + 1, size);

    if (array == NULL) {
        abort();
    }
    return array;
}

static void must(iw_status status)
{
    if (status != IW_OK) {
        abort();
    }
}

/* Anything that looks random and never changes. */
static iw_time noise_of(const struct iwt_run *run, uint32_t rank, uint32_t step)
{
    uint64_t hash = ((uint64_t)rank << 32 | step) * UINT64_C(0x9e3779b97f4a7c15);

    hash ^= hash >> 29;
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 32;
    return run->most_noise_ps > 0 ? (iw_time)(hash % (uint64_t)run->most_noise_ps) : 0;
}

static iw_time latest(const iw_time *ready_ps, uint32_t rank, uint32_t ranks)
{
    iw_time time_ps = ready_ps[rank];

    if (rank > 0 && ready_ps[rank - 1] > time_ps) {
        time_ps = ready_ps[rank - 1];
    }
    if (rank + 1 < ranks && ready_ps[rank + 1] > time_ps) {
        time_ps = ready_ps[rank + 1];
    }
    return time_ps;
}

static void run_step(const struct iwt_run *run, uint32_t number, iw_time *begin_ps, iw_time *ready_ps,
                     iw_step_sink sink)
{
    iw_step step = {.begin_ps = 0};

    for (uint32_t rank = 0; rank < run->ranks; rank++) {
        const bool is_late = rank == run->late_rank && number == run->late_step;

        ready_ps[rank] = begin_ps[rank] + (is_late ? run->delay_ps : 0) + IWT_WORK_PS +
                         noise_of(run, rank, number) + IWT_MESSAGES_PS;
    }
    for (uint32_t rank = 0; rank < run->ranks; rank++) {
        step.begin_ps = begin_ps[rank];
        step.state_ps[IW_STATE_DELAY] =
            rank == run->late_rank && number == run->late_step ? run->delay_ps : 0;
        step.state_ps[IW_STATE_COMPUTE] = IWT_WORK_PS;
        step.state_ps[IW_STATE_NOISE] = noise_of(run, rank, number);
        step.state_ps[IW_STATE_COMM] = IWT_MESSAGES_PS;
        step.state_ps[IW_STATE_WAIT] = latest(ready_ps, rank, run->ranks) + IWT_WAIT_PS - ready_ps[rank];
        sink.step(sink.arg, rank, &step);
        begin_ps[rank] = iw_step_end(&step);
    }
}

iw_timeline *iwt_made_timeline(const struct iwt_run *run)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_time *begin_ps = room_for(run->ranks, sizeof *begin_ps),
            *ready_ps = room_for(run->ranks, sizeof *ready_ps);
    iw_timeline *timeline = NULL;
    iw_step_sink sink;

    (void)snprintf(opts.about.title, sizeof opts.about.title, "%s", run->title);
    opts.about.ranks = opts.about.dims[0] = run->ranks;
    opts.about.distance = opts.about.sigma = 1;
    opts.expected_ps = run->steps * (IWT_WORK_PS + IWT_MESSAGES_PS + IWT_WAIT_PS);
    opts.rows = run->rows;
    opts.columns = run->columns;
    opts.max_steps = run->max_steps;
    opts.first_rank = run->first_rank;
    opts.rank_count = run->rank_count;
    must(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    for (uint32_t step = 0; step < run->steps; step++) {
        run_step(run, step, begin_ps, ready_ps, sink);
    }
    must(iw_timeline_finish(NULL, timeline));
    free(begin_ps);
    free(ready_ps);
    return timeline;
}

/* ---- waves ---- */

static iw_estimate estimate(double value)
{
    return (iw_estimate){.value = value, .low = 0.99 * value, .high = 1.01 * value};
}

static void make_wave(const struct iwt_run *run, int direction, iw_wave *wave)
{
    const iw_time period_ps = IWT_WORK_PS + IWT_MESSAGES_PS + IWT_WAIT_PS;
    const uint32_t ranks = direction > 0 ? run->ranks - 1 - run->late_rank : run->late_rank;

    wave->origin_rank = run->late_rank;
    wave->origin_step = run->late_step;
    wave->delay_ps = run->delay_ps;
    wave->direction = direction;
    wave->speed = wave->trail_speed = estimate(1e12 / (double)period_ps);
    wave->ranks_per_step = estimate(1.0);
    wave->decay_s = estimate(2.5e-6);
    wave->met = -1;
    wave->fronts = room_for(ranks, sizeof *wave->fronts);
    for (uint32_t i = 0; i < ranks && run->late_step + i < run->steps; i++) {
        iw_front *front = &wave->fronts[wave->front_count++];

        front->distance = i + 1;
        front->rank = direction > 0 ? run->late_rank + 1 + i : run->late_rank - 1 - i;
        front->step = run->late_step + i;
        front->lead_ps = (iw_time)front->step * period_ps + IWT_WORK_PS + IWT_MESSAGES_PS;
        front->trail_ps = front->lead_ps + IWT_WAIT_PS + run->delay_ps;
        front->idle_ps = run->delay_ps;
        wave->end_rank = front->rank;
        wave->end_ps = front->lead_ps;
    }
    wave->end = wave->front_count < ranks ? IW_WAVE_RUNS : IW_WAVE_BORDER;
}

iw_waves *iwt_made_waves(const struct iwt_run *run)
{
    iw_waves *waves = room_for(1, sizeof *waves);

    waves->waves = room_for(2, sizeof *waves->waves);
    make_wave(run, 1, &waves->waves[0]);
    make_wave(run, -1, &waves->waves[1]);
    waves->wave_count = 2;
    waves->exec_ps = IWT_WORK_PS;
    waves->comm_ps = IWT_MESSAGES_PS + IWT_WAIT_PS;
    waves->period_ps = waves->exec_ps + waves->comm_ps;
    waves->threshold_ps = INT64_C(1000000000);
    waves->expected_speed = 1e12 / (double)waves->period_ps;
    return waves;
}

void iwt_free_waves(iw_waves *waves)
{
    for (size_t i = 0; i < waves->wave_count; i++) {
        free(waves->waves[i].fronts);
    }
    free(waves->waves);
    free(waves);
}
