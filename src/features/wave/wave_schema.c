/* The tables of idle waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/wave/wave_report.h"

#include <idlewave/wave.h>

static const struct iwi_field about_fields[] = {
    IWI_CHARS(iw_timeline_about, origin),
    IWI_CHARS(iw_timeline_about, title),
    IWI_CHARS(iw_timeline_about, net, .is_optional = true,
              .about = "that was simulated; empty: traced, or not known"),
    IWI_VALUE(iw_timeline_about, ranks),
    IWI_VALUE_ARRAY(iw_timeline_about, dims,
                    .about = "grid of the ranks, the last dimension fastest, 0 behind the last"),
    IWI_VALUE_AS(iw_timeline_about, is_periodic, "periodic"),
    IWI_VALUE(iw_timeline_about, distance, .about = "as the timeline has it; 0: not known"),
    IWI_VALUE(iw_timeline_about, sigma, .about = "as the timeline has it; 0: not known"),
};
static const struct iwi_schema about_schema = IWI_SCHEMA(iw_timeline_about, about_fields);

static const struct iwi_field front_fields[] = {
    IWI_VALUE(iw_front, rank),
    IWI_VALUE(iw_front, distance),
    IWI_ORDINAL(iw_front, step),
    IWI_TIME(iw_front, lead_ps, "lead_ns", .about = "when idle time begins"),
    IWI_TIME(iw_front, trail_ps, "trail_ns", .about = "when it ends"),
    IWI_TIME(iw_front, idle_ps, "idle_ns", .about = "how much of it there is in between"),
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
    IWI_VALUE(iw_wave, origin_rank, .is_column = true, .about = "of the delay that began it"),
    IWI_ORDINAL(iw_wave, origin_step, .is_column = true, .about = "of the delay"),
    IWI_TIME(iw_wave, delay_ps, "delay_ns"),
    IWI_VALUE(iw_wave, dimension, .is_column = true, .about = "of the grid, from 0"),
    IWI_VALUE(iw_wave, direction, .is_column = true,
              .about = "1 towards higher ranks, -1 towards lower ones"),
    IWI_OBJECT_AS(iw_wave, speed, "speed_ranks_per_s", iwi_estimate_schema,
                  .about = "of the leading edge: what this wave did; the interval is for the mean of many "
                           "waves in the same program, network, noise and direction. Null for a wave that "
                           "reached too few ranks; no interval for just two points"),
    IWI_OBJECT_AS(iw_wave, trail_speed, "trail_speed_ranks_per_s", iwi_estimate_schema,
                  .about = "of the trailing edge"),
    IWI_ESTIMATE(iw_wave, ranks_per_step, .about = "speed times period"),
    IWI_OBJECT_AS(iw_wave, decay_s, "decay_s_per_rank", iwi_estimate_schema,
                  .about = "idle time lost per rank"),
    IWI_VALUE(iw_wave, speed_points, .about = "steps that the speed is a mean over"),
    IWI_VALUE(iw_wave, decay_points, .about = "ranks that the decay is a mean over"),
    IWI_ENUM(iw_wave, end, "end", iwi_wave_end_name,
             .about = "`runs`: at the end of the run; `border`: of an open chain; `origin`: came around; "
                      "`met`: another wave that is at least as strong, or a rank that is as late by itself; "
                      "`decayed`: into ordinary waiting; `window`: left what is known exactly; `synced`: "
                      "most ranks waited in one step, as in a collective"),
    IWI_VALUE(iw_wave, end_rank, .about = "last rank that it reached"),
    IWI_TIME(iw_wave, end_ps, "end_ns", .about = "when idle time began there"),
    IWI_VALUE(iw_wave, met, .about = "index in `waves` of the other one, from 0; -1: none"),
    IWI_OBJECTS(iw_wave, fronts, front_count, front_schema, .is_row = true, .about = "one for each rank"),
};
static const struct iwi_schema wave_schema = IWI_SCHEMA(iw_wave, wave_fields);

static const struct iwi_field desync_fields[] = {
    IWI_ORDINAL(iw_desync, step),
    IWI_TIME(iw_desync, spread_ps, "spread_ns", .about = "last minus first begin of the step"),
    IWI_TIME(iw_desync, deviation_ps, "deviation_ns", .about = "standard deviation of the begins"),
    IWI_VALUE(iw_desync, order,
              .about = "length of the mean of exp(2 pi i begin / period): 1 in step, 0 evenly spread"),
};
static const struct iwi_schema desync_schema = IWI_SCHEMA(iw_desync, desync_fields);

static bool is_expected(const void *object)
{
    return ((const iw_waves *)object)->expected_speed > 0.0;
}

static const struct iwi_field waves_fields[] = {
    IWI_OBJECT_AS(iw_waves, about, "timeline", about_schema),
    IWI_VALUE(iw_waves, exact_ranks, .about = "ranks whose steps are known exactly"),
    IWI_VALUE(iw_waves, first_exact_rank, .about = "the first of them"),
    IWI_VALUE_AS(iw_waves, is_whole, "whole", .about = "that is all of the run"),
    IWI_TIME(iw_waves, makespan_ps, "makespan_ns", .about = "end of the last step"),
    IWI_TIME(iw_waves, exec_ps, "exec_ns", .about = "computation of an ordinary step"),
    IWI_TIME(iw_waves, comm_ps, "comm_ns", .about = "the rest of it"),
    IWI_TIME(iw_waves, period_ps, "period_ns", .about = "both"),
    IWI_TIME(iw_waves, threshold_ps, "threshold_ns",
             .about = "waiting longer than usual by more than this is idle time of a wave"),
    IWI_TIME(iw_waves, least_delay_ps, "least_delay_ns", .about = "shorter delays are not looked at"),
    IWI_TIME(iw_waves, joined_below_ps, "joined_below_ns",
             .about = "steps with less computation count as part of the one before; 0: there are none"),
    IWI_VALUE_AS(iw_waves, expected_speed, "expected_speed_ranks_per_s", .is_there = is_expected,
                 .about = "sigma d / period; null: sigma or d is not known"),
    IWI_VALUE(iw_waves, silent_period_s, .about = "a step without noise and delays"),
    IWI_VALUE_AS(iw_waves, silent_speed, "silent_speed_ranks_per_s",
                 .about = "sigma d over that, v_silent of the paper"),
    IWI_VALUE(iw_waves, noise_s, .about = "of a rank in a step, mean; null of traces"),
    IWI_VALUE(
        iw_waves, growth,
        .about =
            "by how many times steps ahead of the waves are longer than silent ones; null without noise"),
    IWI_VALUE_AS(iw_waves, expected_decay_s, "expected_decay_s_per_rank",
                 .about = "(`growth` - 1) `noise_s` / (sigma d)"),
    IWI_VALUE_AS(iw_waves, delay_count, "delays", .about = "that are long enough"),
    IWI_VALUE_AS(iw_waves, quiet_count, "quiet_delays", .about = "those of them that nobody waited for"),
    IWI_OBJECTS(iw_waves, waves, wave_count, wave_schema, .is_row = true,
                .about = "by step and rank of the delay, dimension, upwards first"),
    IWI_OBJECTS(iw_waves, desync, desync_count, desync_schema, .about = "of each step"),
};
const struct iwi_schema iwi_waves_schema = IWI_SCHEMA(iw_waves, waves_fields);
