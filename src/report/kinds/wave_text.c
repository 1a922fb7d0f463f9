/* Waves for people: the verdict, a line a wave, what is ordinary, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/model.h>

#include "base/base.h"
#include "report/kinds/wave_report.h"

enum { MOST_WAVES = 12 };

#define LEAST_DECAY_S 1e-12 /* times are whole picoseconds */

/* ---- the table ---- */

/* "12.3k", "1.2M", in so many digits. */
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
static void write_estimate(FILE *out, const iw_estimate *estimate, double scale, double least)
{
    const double half = (estimate->high - estimate->low) / 2.0 * scale;
    const double value = fabs(estimate->value * scale) < least ? 0.0 : estimate->value * scale;
    const bool is_exact = half < least || half < fabs(value) * 1e-6;
    const int decimals = value == 0.0 ? 1 : decimals_of(!is_exact && half > fabs(value) ? half : value);
    char text[IWI_NUMBER_SIZE];

    if (isnan(value)) {
        (void)fprintf(out, " %6s %7s", "-", "");
        return;
    }
    (void)fprintf(out, " %6s", value_text(value, decimals, text));
    if (isnan(half)) {
        (void)fprintf(out, " %7s", "");
    } else {
        (void)fprintf(out, " +- %-4s", half_text(is_exact ? 0.0 : half, decimals, text));
    }
}

/* In which the largest decay of the table has up to three digits before the point. */
struct unit {
    const char *name;
    double per_s;
};

static struct unit decay_unit(const iw_waves *waves, size_t shown)
{
    static const struct unit units[] = {{"ps", 1e12}, {"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1.0}};
    double largest_s = 0.0;
    size_t i = 2;

    for (size_t k = 0; k < shown; k++) {
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

static void write_ratio(FILE *out, double value)
{
    if (isnan(value)) {
        (void)fprintf(out, " %6s", "-");
    } else {
        (void)fprintf(out, " %6.3f", value);
    }
}

static void write_wave(FILE *out, const iw_timeline_about *about, const iw_waves *waves, size_t index,
                       struct unit unit)
{
    const iw_wave *wave = &waves->waves[index];
    char delay[IWI_NUMBER_SIZE], direction[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%2zu %7" PRIu32 " %8s %-4s", index + 1, wave->origin_rank,
                  iwi_time_text(wave->delay_ps, delay), iwi_wave_direction(about, wave, direction));
    write_estimate(out, &wave->speed, 1.0, 0.0);
    write_ratio(out, wave->ranks_per_step.value);
    write_estimate(out, &wave->decay_s, unit.per_s, LEAST_DECAY_S * unit.per_s);
    (void)fprintf(out, " %6" PRIu32 " %s", wave->end_rank, iwi_wave_end_key(wave->end));
    if (wave->met >= 0) {
        (void)fprintf(out, " %d", wave->met + 1);
    }
    (void)fputc('\n', out);
}

static void write_table(FILE *out, const iw_timeline_about *about, const iw_waves *waves)
{
    const size_t shown = waves->wave_count <= MOST_WAVES ? waves->wave_count : MOST_WAVES - 1;

    struct unit unit;
    char lost[IWI_NUMBER_SIZE];

    if (waves->wave_count == 0) {
        return;
    }
    unit = decay_unit(waves, shown);
    snprintf(lost, sizeof lost, "%s lost", unit.name);
    (void)fprintf(out, "\n%2s %7s %8s %-4s %7s %6s %6s %7s %6s %6s %s\n", "#", "on rank", "delay", "goes",
                  "ranks/s", "", "a step", lost, "a rank", "until", "end");
    for (size_t i = 0; i < shown; i++) {
        write_wave(out, about, waves, i, unit);
    }
    if (shown < waves->wave_count) {
        (void)fprintf(out, "and %zu more (--format csv)\n", waves->wave_count - shown);
    }
}

/* ---- the run ---- */

static void write_ordinary(FILE *out, const iw_waves *waves)
{
    char text[IWI_PARAGRAPH_SIZE] = "", period[IWI_NUMBER_SIZE], exec[IWI_NUMBER_SIZE], comm[IWI_NUMBER_SIZE],
         threshold[IWI_NUMBER_SIZE];

    iwi_append(
        text,
        "Ordinary step: %s, of which %s computation and %s messages, noise and waiting. Waiting longer "
        "than usual by %s or more counts as idle time of a wave.",
        iwi_time_text(waves->period_ps, period), iwi_time_text(waves->exec_ps, exec),
        iwi_time_text(waves->comm_ps, comm), iwi_time_text(waves->threshold_ps, threshold));
    (void)fputc('\n', out);
    iwi_write_wrapped(out, text);
}

/* Beside the measured decay: what it should be, and by which constant. */
static void write_growth(FILE *out, const iw_waves *waves)
{
    char text[IWI_PARAGRAPH_SIZE] = "", noise[IWI_NUMBER_SIZE], added[IWI_NUMBER_SIZE], lost[IWI_NUMBER_SIZE];

    if (isnan(waves->expected_decay_s)) {
        return;
    }
    iwi_append(text,
               "Noise: %s in a step of a rank in the mean, %s in a step of all, since they wait for each "
               "other: %.2f times as much (exponential noise: %.0f if each waits for one neighbour, %.3f for "
               "two). So a front should lose %s a rank.",
               iwi_ns_time_text(1e9 * waves->noise_s, noise),
               iwi_ns_time_text(1e9 * waves->growth * waves->noise_s, added), waves->growth,
               IW_GROWTH_ONE_WAY, IW_GROWTH_BOTH_WAYS,
               iwi_ns_time_text(1e9 * fmax(waves->expected_decay_s, 0.0), lost));
    iwi_write_wrapped(out, text);
}

static void write_desync(FILE *out, const iw_waves *waves)
{
    const iw_desync *first = waves->desync, *last = NULL, *worst = waves->desync;
    char text[IWI_PARAGRAPH_SIZE] = "", begin[IWI_NUMBER_SIZE], most[IWI_NUMBER_SIZE], end[IWI_NUMBER_SIZE];

    if (waves->desync_count == 0) {
        return;
    }
    last = &waves->desync[waves->desync_count - 1];
    for (size_t i = 1; i < waves->desync_count; i++) {
        worst = waves->desync[i].spread_ps > worst->spread_ps ? &waves->desync[i] : worst;
    }
    iwi_append(text,
               "Desynchronisation: ranks begin a step %s apart at first (step %" PRIu64
               "), %s at most (step %" PRIu64 "), %s at last (step %" PRIu64
               "); order parameter %.3f, %.3f, %.3f (1: in step, 0: evenly spread).",
               iwi_time_text(first->spread_ps, begin), iwi_step_number(first->step),
               iwi_time_text(worst->spread_ps, most), iwi_step_number(worst->step),
               iwi_time_text(last->spread_ps, end), iwi_step_number(last->step), first->order, worst->order,
               last->order);
    iwi_write_wrapped(out, text);
}

/* ---- how sure ---- */

static void write_points(FILE *out, const iw_waves *waves)
{
    size_t least = SIZE_MAX, most = 0, least_ranks = SIZE_MAX, most_ranks = 0, unsure = 0;
    char text[IWI_PARAGRAPH_SIZE] = "";

    for (size_t i = 0; i < waves->wave_count; i++) {
        const size_t points = waves->waves[i].speed_points, ranks = waves->waves[i].decay_points;

        least = points < least ? points : least;
        most = points > most ? points : most;
        least_ranks = ranks < least_ranks ? ranks : least_ranks;
        most_ranks = ranks > most_ranks ? ranks : most_ranks;
        unsure += isnan(waves->waves[i].speed.low) != 0;
    }
    if (least == most) {
        iwi_append(text, "Speed is a line through one point a step, %zu of them; ", least);
    } else {
        iwi_append(text, "Speed is a line through one point a step, %zu to %zu of them; ", least, most);
    }
    if (least_ranks == most_ranks) {
        iwi_append(text, "decay one through %zu rank%s.", least_ranks, least_ranks == 1 ? "" : "s");
    } else {
        iwi_append(text, "decay one through %zu to %zu ranks.", least_ranks, most_ranks);
    }
    iwi_append(text, " +- is half of a 95 %% interval.");
    if (unsure > 0) {
        iwi_append(text, " %zu %s too few points for one.", unsure, unsure == 1 ? "wave has" : "waves have");
    }
    iwi_write_item(out, text);
}

static void write_limits(FILE *out, const iw_timeline *timeline, const iw_waves *waves)
{
    const iw_timeline_about *about = iw_timeline_describe(timeline);
    const uint32_t ranks = iw_timeline_exact_ranks(timeline);
    char text[IWI_PARAGRAPH_SIZE] = "", below[IWI_NUMBER_SIZE];

    if (!iw_timeline_is_whole(timeline) && ranks > 0) {
        iwi_append(text,
                   "Only a window of the run is known exactly: %" PRIu32 " of %" PRIu32
                   " ranks from rank %" PRIu32 " on. Waves and delays outside are not seen.",
                   ranks, about->ranks, iw_timeline_exact_rank(timeline, 0));
        iwi_write_item(out, text);
    }
    if (waves->joined_below_ps > 0) {
        text[0] = '\0';
        iwi_append(text, "Steps with less than %s of computation count as part of the one before.",
                   iwi_time_text(waves->joined_below_ps, below));
        iwi_write_item(out, text);
    }
    if (!(waves->expected_speed > 0.0)) {
        iwi_write_item(out, "Whether the speed is as expected is not known: how far partners are apart, or "
                            "whether messages are rendezvous, has to be told (--distance, --sigma).");
    }
    if (strcmp(about->origin, "traced") == 0) {
        iwi_write_item(out,
                       "A trace does not tell delays from work: computation far longer than usual on one "
                       "rank is taken for a delay.");
    }
    if (waves->quiet_count > 0 && waves->wave_count > 0) {
        text[0] = '\0';
        iwi_append(text, "%zu of %zu delays sent no wave of their own: nobody waited, or for a longer one.",
                   waves->quiet_count, waves->delay_count);
        iwi_write_item(out, text);
    }
}

static void write_looked_at(FILE *out, const iw_timeline *timeline, const iw_waves *waves)
{
    const uint32_t ranks = iw_timeline_exact_ranks(timeline);
    char text[IWI_PARAGRAPH_SIZE] = "", least[IWI_NUMBER_SIZE];

    iwi_append(
        text, "Looked at %" PRIu32 " rank%s over %zu steps, for delays of %s and longer (--least-delay).",
        ranks, ranks == 1 ? "" : "s", waves->desync_count, iwi_time_text(waves->least_delay_ps, least));
    iwi_write_item(out, text);
}

iw_status iw_waves_write_text(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                              FILE *out)
{
    iwi_waves_write_verdict(timeline, waves, out);
    write_table(out, iw_timeline_describe(timeline), waves);
    write_ordinary(out, waves);
    write_growth(out, waves);
    write_desync(out, waves);
    (void)fputs("\nHow sure:\n", out);
    write_looked_at(out, timeline, waves);
    if (waves->wave_count > 0) {
        write_points(out, waves);
    }
    write_limits(out, timeline, waves);
    return iwi_check_written(log, out, "the report on waves");
}
