/* The tables of idle waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/wave/wave_report.h"

#include <idlewave/wave.h>

static const struct iwi_field about_fields[] = {
    IWI_CHARS(iw_timeline_about, origin),
    IWI_CHARS(iw_timeline_about, title),
    IWI_CHARS(iw_timeline_about, net, .is_optional = true),
    IWI_VALUE(iw_timeline_about, ranks),
    IWI_VALUE_ARRAY(iw_timeline_about, dims),
    IWI_VALUE_AS(iw_timeline_about, is_periodic, "periodic"),
    IWI_VALUE(iw_timeline_about, distance),
    IWI_VALUE(iw_timeline_about, sigma),
};
static const struct iwi_schema about_schema = IWI_SCHEMA(iw_timeline_about, about_fields);

static const struct iwi_field front_fields[] = {
    IWI_VALUE(iw_front, rank),
    IWI_VALUE(iw_front, distance),
    IWI_ORDINAL(iw_front, step),
    IWI_TIME(iw_front, lead_ps, "lead_ns"),
    IWI_TIME(iw_front, trail_ps, "trail_ns"),
    IWI_TIME(iw_front, idle_ps, "idle_ns"),
};
static const struct iwi_schema front_schema = IWI_SCHEMA(iw_front, front_fields);

const char *iwi_wave_end_name(unsigned end)
{
    static const char *const names[] = {
        [IW_WAVE_RUNS] = "runs",    [IW_WAVE_BORDER] = "border",   [IW_WAVE_ORIGIN] = "origin",
        [IW_WAVE_MET] = "met",      [IW_WAVE_DECAYED] = "decayed", [IW_WAVE_WINDOW] = "window",
        [IW_WAVE_SYNCED] = "synced"};

    return end < sizeof names / sizeof names[0] ? names[end] : NULL;
}

static const struct iwi_field wave_fields[] = {
    IWI_VALUE(iw_wave, origin_rank, .is_column = true),
    IWI_ORDINAL(iw_wave, origin_step, .is_column = true),
    IWI_TIME(iw_wave, delay_ps, "delay_ns"),
    IWI_VALUE(iw_wave, dimension, .is_column = true),
    IWI_VALUE(iw_wave, direction, .is_column = true),
    IWI_OBJECT_AS(iw_wave, speed, "speed_ranks_per_s", iwi_estimate_schema),
    IWI_OBJECT_AS(iw_wave, trail_speed, "trail_speed_ranks_per_s", iwi_estimate_schema),
    IWI_ESTIMATE(iw_wave, ranks_per_step),
    IWI_OBJECT_AS(iw_wave, decay_s, "decay_s_per_rank", iwi_estimate_schema),
    IWI_VALUE(iw_wave, speed_points),
    IWI_VALUE(iw_wave, decay_points),
    IWI_ENUM(iw_wave, end, "end", iwi_wave_end_name),
    IWI_VALUE(iw_wave, end_rank),
    IWI_TIME(iw_wave, end_ps, "end_ns"),
    IWI_VALUE(iw_wave, met),
    IWI_OBJECTS(iw_wave, fronts, front_count, front_schema, .is_row = true),
};
static const struct iwi_schema wave_schema = IWI_SCHEMA(iw_wave, wave_fields);

static const struct iwi_field desync_fields[] = {
    IWI_ORDINAL(iw_desync, step),
    IWI_TIME(iw_desync, spread_ps, "spread_ns"),
    IWI_TIME(iw_desync, deviation_ps, "deviation_ns"),
    IWI_VALUE(iw_desync, order),
};
static const struct iwi_schema desync_schema = IWI_SCHEMA(iw_desync, desync_fields);

static bool is_expected(const void *object)
{
    return ((const iw_waves *)object)->expected_speed > 0.0;
}

static const struct iwi_field waves_fields[] = {
    IWI_OBJECT_AS(iw_waves, about, "timeline", about_schema),
    IWI_VALUE(iw_waves, exact_ranks),
    IWI_VALUE(iw_waves, first_exact_rank),
    IWI_VALUE_AS(iw_waves, is_whole, "whole"),
    IWI_TIME(iw_waves, makespan_ps, "makespan_ns"),
    IWI_TIME(iw_waves, exec_ps, "exec_ns"),
    IWI_TIME(iw_waves, comm_ps, "comm_ns"),
    IWI_TIME(iw_waves, period_ps, "period_ns"),
    IWI_TIME(iw_waves, threshold_ps, "threshold_ns"),
    IWI_TIME(iw_waves, least_delay_ps, "least_delay_ns"),
    IWI_TIME(iw_waves, joined_below_ps, "joined_below_ns"),
    IWI_VALUE_AS(iw_waves, expected_speed, "expected_speed_ranks_per_s", .is_there = is_expected),
    IWI_VALUE(iw_waves, silent_period_s),
    IWI_VALUE_AS(iw_waves, silent_speed, "silent_speed_ranks_per_s"),
    IWI_VALUE(iw_waves, noise_s),
    IWI_VALUE(iw_waves, growth),
    IWI_VALUE_AS(iw_waves, expected_decay_s, "expected_decay_s_per_rank"),
    IWI_VALUE_AS(iw_waves, delay_count, "delays"),
    IWI_VALUE_AS(iw_waves, quiet_count, "quiet_delays"),
    IWI_OBJECTS(iw_waves, waves, wave_count, wave_schema, .is_row = true),
    IWI_OBJECTS(iw_waves, desync, desync_count, desync_schema),
};
const struct iwi_schema iwi_waves_schema = IWI_SCHEMA(iw_waves, waves_fields);
