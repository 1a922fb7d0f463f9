/* Idle waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/noise.h>
#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "features/wave/wave_report.h"

/* The tables of idle waves. */

static const struct iwi_field about_fields[] = {
    IWI_CHARS(iw_timeline_about, origin),
    IWI_CHARS(iw_timeline_about, title),
    IWI_CHARS(iw_timeline_about, net, .is_optional = true,
              .about = "simulated network; empty: traced, or unknown"),
    IWI_VALUE(iw_timeline_about, ranks),
    IWI_VALUE_ARRAY(iw_timeline_about, dims,
                    .about = "grid of the ranks, last dimension fastest; 0 after the last"),
    IWI_VALUE_AS(iw_timeline_about, is_periodic, "periodic"),
    IWI_VALUE(iw_timeline_about, distance, .about = "from the timeline; 0: unknown"),
    IWI_VALUE(iw_timeline_about, sigma, .about = "from the timeline; 0: unknown"),
};
static const struct iwi_schema about_schema = IWI_SCHEMA(iw_timeline_about, about_fields);

static const struct iwi_field front_fields[] = {
    IWI_VALUE(iw_front, rank),
    IWI_VALUE(iw_front, distance),
    IWI_ORDINAL(iw_front, step),
    IWI_TIME(iw_front, lead_ps, "lead_ns", .about = "when idle time begins"),
    IWI_TIME(iw_front, trail_ps, "trail_ns", .about = "when it ends"),
    IWI_TIME(iw_front, idle_ps, "idle_ns", .about = "idle time in between"),
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
                  .about = "of the leading edge of this wave; the interval is for the mean of many waves in "
                           "the same program, network, noise and direction. Null for a wave that "
                           "reached too few ranks; no interval for just two points"),
    IWI_OBJECT_AS(iw_wave, trail_speed, "trail_speed_ranks_per_s", iwi_estimate_schema,
                  .about = "of the trailing edge"),
    IWI_ESTIMATE(iw_wave, ranks_per_step, .about = "speed times period"),
    IWI_OBJECT_AS(iw_wave, decay_s, "decay_s_per_rank", iwi_estimate_schema,
                  .about = "idle time lost per rank"),
    IWI_VALUE(iw_wave, speed_points, .about = "steps behind the mean speed"),
    IWI_VALUE(iw_wave, decay_points, .about = "ranks behind the mean decay"),
    IWI_ENUM(iw_wave, end, "end", iwi_wave_end_name,
             .about = "`runs`: at the end of the run; `border`: of an open chain; `origin`: came around; "
                      "`met`: another wave at least as strong, or a rank that is as late on its own; "
                      "`decayed`: into ordinary waiting; `window`: left the exactly known part; `synced`: "
                      "most ranks waited in one step, as in a collective"),
    IWI_VALUE(iw_wave, end_rank, .about = "last rank that it reached"),
    IWI_TIME(iw_wave, end_ps, "end_ns", .about = "when idle time began there"),
    IWI_VALUE(iw_wave, met, .about = "index of the other wave in `waves`, from 0; -1: none"),
    IWI_OBJECTS(iw_wave, fronts, front_count, front_schema, .is_row = true, .about = "one for each rank"),
};
static const struct iwi_schema wave_schema = IWI_SCHEMA(iw_wave, wave_fields);

static const struct iwi_field desync_fields[] = {
    IWI_ORDINAL(iw_desync, step),
    IWI_TIME(iw_desync, spread_ps, "spread_ns", .about = "last minus first start of the step"),
    IWI_TIME(iw_desync, deviation_ps, "deviation_ns", .about = "standard deviation of the starts"),
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
    IWI_TIME(iw_waves, comm_ps, "comm_ns", .about = "rest of an ordinary step"),
    IWI_TIME(iw_waves, period_ps, "period_ns", .about = "both"),
    IWI_TIME(iw_waves, threshold_ps, "threshold_ns",
             .about = "extra waiting above this limit counts as idle time of a wave"),
    IWI_TIME(iw_waves, least_delay_ps, "least_delay_ns", .about = "shorter delays are ignored"),
    IWI_TIME(iw_waves, joined_below_ps, "joined_below_ns",
             .about = "steps with less computation count as part of the previous step; 0: no limit"),
    IWI_VALUE_AS(iw_waves, expected_speed, "expected_speed_ranks_per_s", .is_there = is_expected,
                 .about = "sigma d / period; null: sigma or d unknown"),
    IWI_VALUE(iw_waves, silent_period_s, .about = "a step without noise and delays"),
    IWI_VALUE_AS(iw_waves, silent_speed, "silent_speed_ranks_per_s",
                 .about = "sigma d over that, v_silent of the paper"),
    IWI_VALUE(iw_waves, noise_s, .about = "of a rank in a step, mean; null of traces"),
    IWI_VALUE(iw_waves, growth,
              .about = "length of steps ahead of the waves over silent steps; null without noise"),
    IWI_VALUE_AS(iw_waves, expected_decay_s, "expected_decay_s_per_rank",
                 .about = "(`growth` - 1) `noise_s` / (sigma d)"),
    IWI_VALUE_AS(iw_waves, delay_count, "delays", .about = "long enough to count"),
    IWI_VALUE_AS(iw_waves, quiet_count, "quiet_delays", .about = "delays that no rank waited for"),
    IWI_OBJECTS(iw_waves, waves, wave_count, wave_schema, .is_row = true,
                .about = "by step and rank of the delay, dimension, upwards first"),
    IWI_OBJECTS(iw_waves, desync, desync_count, desync_schema, .about = "of each step"),
};
const struct iwi_schema iwi_waves_schema = IWI_SCHEMA(iw_waves, waves_fields);

#define LEAST_DECAY_S 1e-12 /* times are whole picoseconds */

/* ---- numbers ---- */

/* "12.3k", "1.2M", with `digits` digits. */
static const char *large_text(double value, int digits, char text[IWI_NUMBER_SIZE])
{
    static const char prefixes[] = {'k', 'M', 'G', 'T'};
    int decimals;
    size_t i = 0;

    for (value /= 1e3; fabs(value) >= 999.5 && i + 1 < sizeof prefixes; i++) {
        value /= 1e3;
    }
    decimals = digits - (fabs(value) < 9.95 ? 1 : fabs(value) < 99.5 ? 2 : 3);
    snprintf(text, IWI_NUMBER_SIZE, "%.*f%c", decimals > 0 ? decimals : 0, value, prefixes[i]);
    return text;
}

/* Digits behind the point with which up to six characters have three digits that count, or as many as fit. */
static int decimals_of(double value)
{
    const double size = fabs(value);

    if (size >= 9.995) {
        return size >= 999.95 ? 0 : 1;
    }
    return size >= 0.9995 ? 2 : size >= 0.09995 || value < 0.0 ? 3 : 4;
}

/* In six characters. */
static const char *value_text(double value, int decimals, char text[IWI_NUMBER_SIZE])
{
    if (fabs(value) >= 99999.5) {
        return large_text(value, 3, text);
    }
    if (value > 0.0 && value < 0.00005) {
        return "<.0001";
    }
    snprintf(text, IWI_NUMBER_SIZE, "%.*f", decimals, value);
    return text;
}

/* Half of the interval in four characters, not finer than the value. */
static const char *half_text(double half, int decimals, char text[IWI_NUMBER_SIZE])
{
    const int most = half < 9.995 ? 2 : half < 99.95 ? 1 : 0;

    if (isinf(half)) {
        return "inf";
    }
    if (half >= 9999.5) {
        return large_text(half, 2, text);
    }
    if (half > 0.0 && half < 0.005) {
        return "<.01";
    }
    snprintf(text, IWI_NUMBER_SIZE, "%.*f", decimals < most ? decimals : most, half);
    return text;
}

/* "327.9 +- 1.2", with nothing behind the value if its interval is not known. What is below `least` is 0. A
 * value that its interval drowns has the digits of that. */
static const char *estimate_of(struct iwi_document *doc, const iw_estimate *estimate, double scale,
                               double least)
{
    const bool is_open = isnan(estimate->high) && !isnan(estimate->low); /* infinite is null in JSON */
    const double high = is_open ? (double)INFINITY : estimate->high;
    const double half = fmax(high - estimate->value, estimate->value - estimate->low) * scale;
    const double value = fabs(estimate->value * scale) < least ? 0.0 : estimate->value * scale;
    const bool is_exact = half < least || half < fabs(value) * 1e-6;
    const int decimals = value == 0.0 ? 1 : decimals_of(!is_exact && half > fabs(value) ? half : value);
    char text[IWI_NUMBER_SIZE], interval[IWI_NUMBER_SIZE];

    if (isnan(value)) {
        return "-";
    }
    return isnan(half) ? iwi_doc_printf(doc, "%s        ", value_text(value, decimals, text))
                       : iwi_doc_printf(doc, "%s +- %-4s", value_text(value, decimals, text),
                                        half_text(is_exact ? 0.0 : half, decimals, interval));
}

/* In which the largest decay of the table has up to three digits before the point. */
struct unit {
    const char *name;
    double per_s;
};

static struct unit decay_unit(const iw_waves *waves)
{
    static const struct unit units[] = {{"ps", 1e12}, {"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1.0}};
    double largest_s = 0.0;
    size_t i = 2;

    for (size_t k = 0; k < waves->wave_count; k++) {
        largest_s = fmax(largest_s, fabs(waves->waves[k].decay_s.value)); /* NaN is left out */
    }
    while (i < 4 && largest_s * units[i].per_s >= 999.95) {
        i++;
    }
    while (i > 0 && largest_s > LEAST_DECAY_S && largest_s * units[i].per_s < 0.00995) {
        i--;
    }
    return units[i];
}

/* ---- waves ---- */

/* A terminal has no room for the step. */
static const char *origin_of(struct iwi_document *doc, const iw_wave *wave)
{
    return iwi_wants(doc, IWI_ON_PAGES) ? iwi_doc_printf(doc, "%" PRIu32 ", step %" PRIu64, wave->origin_rank,
                                                         iwi_step_number(wave->origin_step))
                                        : iwi_doc_printf(doc, "%" PRIu32, wave->origin_rank);
}

static void say_waves(struct iwi_document *doc, const iw_waves *waves)
{
    const struct unit unit = decay_unit(waves);
    char direction[IWI_NUMBER_SIZE];

    if (waves->wave_count == 0) {
        return;
    }
    IWI_TABLE(doc, "", {"#", IWI_NUMBER}, {"on rank", IWI_NUMBER}, {"delay", IWI_NUMBER}, {"goes", IWI_WORDS},
              {"ranks/s", IWI_NUMBER}, {"per step", IWI_NUMBER},
              {iwi_doc_printf(doc, "%s lost per rank", unit.name), IWI_NUMBER}, {"until", IWI_NUMBER},
              {"end", IWI_WORDS});
    for (size_t i = 0; i < waves->wave_count; i++) {
        const iw_wave *wave = &waves->waves[i];
        const double per_step = wave->ranks_per_step.value;

        iwi_row(doc, iwi_doc_printf(doc, "%zu", i + 1), origin_of(doc, wave), iwi_ps(doc, wave->delay_ps),
                iwi_doc_printf(doc, "%s", iwi_wave_direction(&waves->about, wave, direction)),
                estimate_of(doc, &wave->speed, 1.0, 0.0),
                isnan(per_step) ? "-" : iwi_doc_printf(doc, "%.3f", per_step),
                estimate_of(doc, &wave->decay_s, unit.per_s, LEAST_DECAY_S * unit.per_s),
                iwi_doc_printf(doc, "%" PRIu32, wave->end_rank),
                wave->met >= 0 ? iwi_doc_printf(doc, "%s %d", iwi_wave_end_name(wave->end), wave->met + 1)
                               : iwi_wave_end_name(wave->end));
    }
}

static void draw_fronts(struct iwi_figure *figure, const iw_waves *waves)
{
    struct iwi_mark *delays = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_DELAY, NULL);

    figure->message = "Time when each wave reaches a rank: leading edge in colour, trailing edge in grey.";
    figure->x = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS};
    figure->y = (struct iwi_figure_axis){.label = "Rank", .unit = IWI_AXIS_INDEX};
    for (size_t i = 0; i < waves->wave_count; i++) {
        const iw_wave *wave = &waves->waves[i];
        const enum iwi_ink ink = iwi_series_ink(i);
        struct iwi_mark *lead =
            iwi_figure_mark(figure, IWI_MARK_DOTS, ink,
                            i < IWI_SERIES_INKS ? iwi_figure_text(figure, "wave %zu", i + 1) : NULL);
        struct iwi_mark *trail = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_FAINT, NULL);

        for (size_t k = 0; k < wave->front_count; k++) {
            const iw_front *front = &wave->fronts[k];

            iwi_mark_add(figure, lead, (double[]){(double)front->lead_ps / 1e3, front->rank});
            iwi_mark_add(figure, trail, (double[]){(double)front->trail_ps / 1e3, front->rank});
        }
        if (wave->front_count > 0) {
            iwi_mark_add(figure, delays,
                         (double[]){(double)wave->fronts[0].lead_ps / 1e3, wave->origin_rank});
        }
    }
}

static void show_fronts(struct iwi_document *doc, const iw_waves *waves)
{
    struct iwi_figure *figure = NULL;
    iw_status made = IW_OK;

    if (waves->wave_count > 0) {
        made = iwi_figure_new(doc->log, "Fronts", &figure);
    }
    if (figure != NULL) {
        draw_fronts(figure, waves);
    }
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_show_figure(doc, made, figure);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

/* ---- the run ---- */

static void say_ordinary(struct iwi_document *doc, const iw_waves *waves)
{
    iwi_paragraph(doc,
                  "Ordinary step: %s, of which %s computation and %s messages, noise and waiting. Extra "
                  "waiting of %s or more counts as idle time of a wave.",
                  iwi_ps(doc, waves->period_ps), iwi_ps(doc, waves->exec_ps), iwi_ps(doc, waves->comm_ps),
                  iwi_ps(doc, waves->threshold_ps));
}

/* Beside the measured decay: what it should be, and by which constant. */
static void say_growth(struct iwi_document *doc, const iw_waves *waves)
{
    if (isnan(waves->expected_decay_s)) {
        return;
    }
    iwi_paragraph(doc,
                  "Noise: %s per step of a rank on average, %s per step of all, since ranks wait for each "
                  "other: %.2fx (exponential noise: %.0fx if each waits for one neighbour, %.3fx for two). A "
                  "front should thus lose %s per rank.",
                  iwi_ns(doc, 1e9 * waves->noise_s), iwi_ns(doc, 1e9 * waves->growth * waves->noise_s),
                  waves->growth, IW_GROWTH_ONE_WAY, IW_GROWTH_BOTH_WAYS,
                  iwi_ns(doc, 1e9 * fmax(waves->expected_decay_s, 0.0)));
}

static void say_desync(struct iwi_document *doc, const iw_waves *waves)
{
    const iw_desync *first = waves->desync, *last, *worst = waves->desync;

    if (waves->desync_count == 0) {
        return;
    }
    last = &waves->desync[waves->desync_count - 1];
    for (size_t i = 1; i < waves->desync_count; i++) {
        worst = waves->desync[i].spread_ps > worst->spread_ps ? &waves->desync[i] : worst;
    }
    iwi_paragraph(doc,
                  "Desynchronisation: ranks start a step %s apart at first (step %" PRIu64
                  "), %s at most (step %" PRIu64 "), %s at last (step %" PRIu64
                  "); order parameter %.3f, %.3f, %.3f (1: in step, 0: evenly spread).",
                  iwi_ps(doc, first->spread_ps), iwi_step_number(first->step), iwi_ps(doc, worst->spread_ps),
                  iwi_step_number(worst->step), iwi_ps(doc, last->spread_ps), iwi_step_number(last->step),
                  first->order, worst->order, last->order);
}

/* ---- how sure ---- */

static const char *count_range(struct iwi_document *doc, size_t least, size_t most)
{
    return least == most ? iwi_doc_printf(doc, "%zu", least) : iwi_doc_printf(doc, "%zu to %zu", least, most);
}

static void say_points(struct iwi_document *doc, const iw_waves *waves)
{
    size_t least = SIZE_MAX, most = 0, least_ranks = SIZE_MAX, most_ranks = 0, unsure = 0;

    for (size_t i = 0; i < waves->wave_count; i++) {
        const size_t points = waves->waves[i].speed_points, ranks = waves->waves[i].decay_points;

        least = points < least ? points : least;
        most = points > most ? points : most;
        least_ranks = ranks < least_ranks ? ranks : least_ranks;
        most_ranks = ranks > most_ranks ? ranks : most_ranks;
        unsure += isnan(waves->waves[i].speed.low) != 0;
    }
    if (waves->wave_count == 0) {
        return;
    }
    iwi_item(doc,
             "Speed is a mean over %s step%s of a wave, decay over %s rank%s. +- is the wider half of a 95 "
             "%% interval for the mean of many waves in the same program, noise and "
             "direction.",
             count_range(doc, least, most), iwi_plural_s(most), count_range(doc, least_ranks, most_ranks),
             iwi_plural_s(most_ranks));
    if (unsure > 0) {
        iwi_doc_append(doc, " %zu %s too few points for an interval.", unsure,
                       unsure == 1 ? "wave has" : "waves have");
    }
}

static void say_limits(struct iwi_document *doc, const iw_waves *waves)
{
    if (!waves->is_whole && waves->exact_ranks > 0) {
        iwi_item(doc,
                 "Only a window of the run is known exactly: %" PRIu32 " of %" PRIu32
                 " ranks, from rank %" PRIu32 ". Waves and delays outside are missing.",
                 waves->exact_ranks, waves->about.ranks, waves->first_exact_rank);
    }
    if (waves->joined_below_ps > 0) {
        iwi_item(doc, "Steps with less than %s of computation count as part of the previous step.",
                 iwi_ps(doc, waves->joined_below_ps));
    }
    if (!(waves->expected_speed > 0.0)) {
        iwi_item(doc, "The expected speed is unknown: the timeline lacks the distance of partners, or "
                      "whether messages use rendezvous.");
    }
    if (strcmp(waves->about.origin, "traced") == 0) {
        iwi_item(doc, "A trace does not distinguish delays from work: unusually long computation on one rank "
                      "counts as a delay.");
    }
    if (waves->quiet_count > 0 && waves->wave_count > 0) {
        iwi_item(doc, "%zu of %zu delays started no wave: no rank waited, or only for a longer delay.",
                 waves->quiet_count, waves->delay_count);
    }
}

void iwi_waves_say(struct iwi_document *doc, const iw_waves *waves)
{
    say_waves(doc, waves);
    say_ordinary(doc, waves);
    say_growth(doc, waves);
    say_desync(doc, waves);
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc, "Searched %" PRIu32 " rank%s over %zu steps for delays of at least %s.", waves->exact_ranks,
             iwi_plural_s(waves->exact_ranks), waves->desync_count, iwi_ps(doc, waves->least_delay_ps));
    say_points(doc, waves);
    say_limits(doc, waves);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_waves *waves = subject;

    iwi_title(doc, "Idle waves");
    iwi_subtitle(doc, "%s", waves->about.title);
    iwi_waves_say_verdict(doc, waves);
    show_fronts(doc, waves);
    iwi_waves_say(doc, waves);
}

const struct iwi_kind iwi_wave_kind = {
    .name = "wave",
    .schema_id = "idlewave.wave/2",
    .about = "Idle waves of a run, from `idlewave wave FILE --format json`. Times are of the run; steps "
             "count from 1, as `--delay` counts them. CSV has a line for each front",
    .schema = &iwi_waves_schema,
    .write_doc = write_doc,
};

IWI_DOC(iw_waves_doc, iw_waves, waves, iwi_wave_kind)
