/* Waves for programs: one JSON object, schema "idlewave.wave/1".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <jansson.h>

#include <idlewave/idlewave.h>
#include <idlewave/timeline.h>

#include "base/base.h"
#include "report/kinds/wave_report.h"
#include "schema/json_util.h"

static json_t *ns(iw_time ps)
{
    return iwi_json_number((double)ps / (double)IW_PS_PER_NS);
}

static json_t *estimate_object(const iw_estimate *estimate, double scale)
{
    return json_pack("{s:o, s:[o, o]}", "value", iwi_json_number(estimate->value * scale), "ci95",
                     iwi_json_number(estimate->low * scale), iwi_json_number(estimate->high * scale));
}

const char *iwi_wave_end_key(iw_wave_end end)
{
    static const char *const keys[] = {
        [IW_WAVE_RUNS] = "runs",    [IW_WAVE_BORDER] = "border",   [IW_WAVE_ORIGIN] = "origin",
        [IW_WAVE_MET] = "met",      [IW_WAVE_DECAYED] = "decayed", [IW_WAVE_WINDOW] = "window",
        [IW_WAVE_SYNCED] = "synced"};

    return keys[end];
}

static json_t *fronts_array(const iw_wave *wave)
{
    json_t *array = json_array();

    for (size_t i = 0; i < wave->front_count; i++) {
        const iw_front *front = &wave->fronts[i];

        (void)json_array_append_new(
            array, json_pack("[o, o, o, o, o, o]", iwi_json_count(front->rank),
                             iwi_json_count(front->distance), iwi_json_count(iwi_step_number(front->step)),
                             ns(front->lead_ps), ns(front->trail_ps), ns(front->idle_ps)));
    }
    return array;
}

static json_t *wave_object(const iw_wave *wave)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "origin_rank",
                     iwi_json_count(wave->origin_rank), "origin_step",
                     iwi_json_count(iwi_step_number(wave->origin_step)), "delay_ns", ns(wave->delay_ps),
                     "dimension", iwi_json_count(wave->dimension), "direction", wave->direction,
                     "speed_ranks_per_s", estimate_object(&wave->speed, 1.0), "trail_speed_ranks_per_s",
                     estimate_object(&wave->trail_speed, 1.0), "ranks_per_step",
                     estimate_object(&wave->ranks_per_step, 1.0), "decay_ns_per_rank",
                     estimate_object(&wave->decay_s, 1e9), "end", iwi_wave_end_key(wave->end), "end_rank",
                     iwi_json_count(wave->end_rank), "end_ns", ns(wave->end_ps), "met",
                     wave->met >= 0 ? json_integer(wave->met) : json_null(), "fronts", fronts_array(wave));
}

static json_t *waves_array(const iw_waves *waves)
{
    json_t *array = json_array();

    for (size_t i = 0; i < waves->wave_count; i++) {
        (void)json_array_append_new(array, wave_object(&waves->waves[i]));
    }
    return array;
}

static json_t *desync_array(const iw_waves *waves)
{
    json_t *array = json_array();

    for (size_t i = 0; i < waves->desync_count; i++) {
        const iw_desync *desync = &waves->desync[i];

        (void)json_array_append_new(array,
                                    json_pack("[o, o, o, o]", iwi_json_count(iwi_step_number(desync->step)),
                                              ns(desync->spread_ps), ns(desync->deviation_ps),
                                              iwi_json_number(desync->order)));
    }
    return array;
}

static json_t *timeline_object(const iw_timeline *timeline)
{
    const iw_timeline_about *about = iw_timeline_describe(timeline);
    json_t *dims = json_array();

    for (size_t i = 0; i < IW_TIMELINE_DIMS && about->dims[i] > 0; i++) {
        (void)json_array_append_new(dims, iwi_json_count(about->dims[i]));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:b}", "origin", about->origin, "title",
                     iwi_json_text(about->title), "ranks", iwi_json_count(about->ranks), "dims", dims,
                     "periodic", about->is_periodic, "distance", iwi_json_count(about->distance), "sigma",
                     iwi_json_count(about->sigma), "exact_ranks",
                     iwi_json_count(iw_timeline_exact_ranks(timeline)), "whole",
                     iw_timeline_is_whole(timeline));
}

static json_t *waves_object(const iw_timeline *timeline, const iw_waves *waves)
{
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
        "schema", "idlewave.wave/1", "timeline", timeline_object(timeline), "makespan_ns",
        ns(waves->makespan_ps), "exec_ns", ns(waves->exec_ps), "comm_ns", ns(waves->comm_ps), "period_ns",
        ns(waves->period_ps), "threshold_ns", ns(waves->threshold_ps), "least_delay_ns",
        ns(waves->least_delay_ps), "expected_speed_ranks_per_s",
        waves->expected_speed > 0.0 ? iwi_json_number(waves->expected_speed) : json_null(),
        "silent_period_ns", iwi_json_number(1e9 * waves->silent_period_s), "silent_speed_ranks_per_s",
        iwi_json_number(waves->silent_speed), "noise_ns", iwi_json_number(1e9 * waves->noise_s), "growth",
        iwi_json_number(waves->growth), "expected_decay_ns_per_rank",
        iwi_json_number(1e9 * waves->expected_decay_s), "delays", iwi_json_count(waves->delay_count),
        "quiet_delays", iwi_json_count(waves->quiet_count), "waves", waves_array(waves), "desync",
        desync_array(waves), "version", iw_version());
}

iw_status iw_waves_write_json(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                              FILE *out)
{
    return iwi_json_write(log, waves_object(timeline, waves), out, "the JSON of waves");
}
