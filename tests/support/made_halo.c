/* Timelines of halo exchanges by their recursion, without an engine: the truth is in a few lines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_halo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/wave.h>

#include "support/support.h"

#include "core/base/base.h"
#include "core/base/rng.h"

uint32_t iwt_halo_sigma(const struct iwt_halo *halo)
{
    return halo->is_rendezvous && halo->is_bidirectional && halo->is_split ? 2 : 1;
}

static unsigned exchanges(const struct iwt_halo *halo)
{
    return halo->is_bidirectional && halo->is_split ? 2 : 1;
}

iw_time iwt_halo_period(const struct iwt_halo *halo)
{
    return halo->exec_ps + exchanges(halo) * (halo->cpu_ps + halo->latency_ps);
}

/* When the partner `offset` away was ready, or `own_ps` if there is none. */
static iw_time partner(const struct iwt_halo *halo, const iw_time *ready_ps, uint32_t rank, int64_t offset)
{
    int64_t other = (int64_t)rank + offset;

    if (halo->is_periodic) {
        other = (other + halo->ranks) % halo->ranks;
    }
    return other >= 0 && other < halo->ranks ? ready_ps[other] : ready_ps[rank];
}

/* One exchange: who is received from and who is sent to, on which sides. Eager: the messages have arrived.
 * Rendezvous: also the receivers are there. */
static void exchange(const struct iwt_halo *halo, bool gets_below, bool gets_above, const iw_time *ready_ps,
                     iw_time *end_ps)
{
    const bool uses_below = gets_below || halo->is_rendezvous, uses_above = gets_above || halo->is_rendezvous;

    for (uint32_t rank = 0; rank < halo->ranks; rank++) {
        iw_time latest_ps = ready_ps[rank];

        for (int64_t d = 1; d <= halo->distance; d++) {
            latest_ps = uses_below ? iwi_max(latest_ps, partner(halo, ready_ps, rank, -d)) : latest_ps;
            latest_ps = uses_above ? iwi_max(latest_ps, partner(halo, ready_ps, rank, d)) : latest_ps;
        }
        end_ps[rank] = latest_ps + halo->cpu_ps + halo->latency_ps;
    }
}

static void synchronise(const struct iwt_halo *halo, iw_time *end_ps)
{
    iw_time latest_ps = 0;

    for (uint32_t rank = 0; rank < halo->ranks; rank++) {
        latest_ps = iwi_max(latest_ps, end_ps[rank]);
    }
    for (uint32_t rank = 0; rank < halo->ranks; rank++) {
        end_ps[rank] = latest_ps;
    }
}

static void set_own_work(const struct iwt_halo *halo, uint32_t rank, uint64_t number, iw_step *step)
{
    const struct iwi_draw_id id = {halo->seed, 0, IWI_DRAW_TEST, rank, 0};

    memset(step->state_ps, 0, sizeof step->state_ps);
    step->state_ps[IW_STATE_COMPUTE] = halo->exec_ps;
    if (halo->noise > 0.0) {
        step->state_ps[IW_STATE_NOISE] =
            (iw_time)(-halo->noise * (double)halo->exec_ps * log(iwi_draw_unit(id, number)));
    }
    for (size_t i = 0; i < halo->delay_count; i++) {
        if (halo->delays[i].rank == rank && halo->delays[i].step == number) {
            step->state_ps[IW_STATE_DELAY] += halo->delays[i].ps;
        }
    }
    if (halo->is_traced) {
        step->state_ps[IW_STATE_COMPUTE] += step->state_ps[IW_STATE_DELAY] + step->state_ps[IW_STATE_NOISE];
        step->state_ps[IW_STATE_DELAY] = step->state_ps[IW_STATE_NOISE] = 0;
    }
}

/* One step of all ranks; begin_ps becomes that of the next. */
static void make_step(const struct iwt_halo *halo, uint64_t number, iw_time *begin_ps, iw_time *work,
                      iw_step_sink sink)
{
    iw_time *ready_ps = work, *half_ps = work + halo->ranks, *end_ps = work + 2 * (size_t)halo->ranks;
    iw_step *steps = calloc(halo->ranks, sizeof *steps);

    assert_non_null(steps);
    for (uint32_t rank = 0; rank < halo->ranks; rank++) {
        steps[rank].begin_ps = begin_ps[rank];
        set_own_work(halo, rank, number, &steps[rank]);
        ready_ps[rank] = iw_step_end(&steps[rank]);
    }
    if (exchanges(halo) == 2) {
        exchange(halo, true, false, ready_ps, half_ps);
        exchange(halo, false, true, half_ps, end_ps);
    } else {
        exchange(halo, true, halo->is_bidirectional, ready_ps, end_ps);
    }
    if (halo->sync_steps > 0 && (number + 1) % halo->sync_steps == 0) {
        synchronise(halo, end_ps);
    }
    for (uint32_t rank = 0; rank < halo->ranks; rank++) {
        steps[rank].state_ps[IW_STATE_COMM] = exchanges(halo) * halo->cpu_ps;
        steps[rank].state_ps[IW_STATE_WAIT] = end_ps[rank] - iw_step_end(&steps[rank]);
        sink.step(sink.arg, rank, &steps[rank]);
        begin_ps[rank] = end_ps[rank];
    }
    free(steps);
}

iw_timeline *iwt_made_halo(const struct iwt_halo *halo, const iw_timeline_opts *opts)
{
    iw_timeline_opts made = IW_TIMELINE_OPTS_INIT;
    iw_time *times = calloc(4 * (size_t)halo->ranks, sizeof *times);
    iw_timeline *timeline = NULL;
    struct iwt_log log;

    iwt_log_init(&log);
    assert_non_null(times);
    made.rows = made.columns = 64; /* hundreds of timelines: their rasters would take the time */
    if (opts != NULL) {
        made = *opts;
    }
    made.expected_ps = (iw_time)halo->steps * iwt_halo_period(halo);
    (void)snprintf(made.about.origin, sizeof made.about.origin, halo->is_traced ? "traced" : "simulated");
    (void)snprintf(made.about.title, sizeof made.about.title, "halo");
    made.about.ranks = made.about.dims[0] = halo->ranks;
    made.about.is_periodic = halo->is_periodic;
    made.about.distance = halo->is_traced ? 0 : halo->distance;
    made.about.sigma = halo->is_traced ? 0 : iwt_halo_sigma(halo);
    made.about.noiseless_ps = halo->is_traced ? 0 : made.expected_ps;
    assert_ok(iw_timeline_new(&log.log, &made, &timeline));
    for (uint64_t step = 0; step < halo->steps; step++) {
        make_step(halo, step, times, times + halo->ranks, iw_timeline_sink(timeline));
    }
    assert_ok(iw_timeline_finish(&log.log, timeline));
    free(times);
    return timeline;
}

iw_waves *iwt_find_waves(const struct iwt_halo *halo, struct iwt_log *log)
{
    iw_timeline *timeline = iwt_made_halo(halo, NULL);
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    struct iwt_log own;

    log = log != NULL ? log : &own;
    iwt_log_init(log);
    assert_ok(iw_waves_find(&log->log, timeline, &opts, &waves));
    iw_timeline_free(timeline);
    return waves;
}
