/* The verdict on waves in a sentence or two: from what, how fast, whether that was expected, what becomes of
 * them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "features/wave/wave_report.h"

#define ALIKE 0.02 /* two waves that differ by less share a speed */

static enum iwi_judgement wave_judge(const iw_waves *waves, const iw_estimate *speed);
static void append_expected(char *text, const iw_waves *waves, const iw_wave *wave);
static void append_expected_of_all(char *text, const iw_waves *waves, double middle);

/* Ranks a second, or a step: three or four digits that count, never a power of ten. */
static const char *speed_text(double speed, char buf[IWI_NUMBER_SIZE])
{
    const double size = fabs(speed);
    int decimals = 3;

    if (speed >= 1e7) {
        iwi_si_text(speed, buf);
        buf[strlen(buf) - 1] = '\0'; /* the blank behind the prefix */
        return buf;
    }
    if (size >= 1.0) {
        decimals = size < 10.0 ? 3 : size < 100.0 ? 2 : size < 1000.0 ? 1 : 0;
    } else if (size > 0.0) {
        decimals = (int)fmin(2.0 - floor(log10(size)), 12.0);
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%.*f", decimals, speed);
    return buf;
}

const char *iwi_wave_direction(const iw_timeline_about *about, const iw_wave *wave, char buf[IWI_NUMBER_SIZE])
{
    if (about->dims[1] == 0) {
        return wave->direction > 0 ? "up" : "down";
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%c%" PRIu32, wave->direction > 0 ? '+' : '-', wave->dimension);
    return buf;
}

/* ---- what the waves have in common ---- */

struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    range->low = fmin(range->low, value); /* NaN is left out */
    range->high = fmax(range->high, value);
}

static struct range speed_range(const iw_waves *waves)
{
    struct range range = {NAN, NAN};

    for (size_t i = 0; i < waves->wave_count; i++) {
        widen(&range, waves->waves[i].speed.value);
    }
    return range;
}

static struct range delay_range(const iw_waves *waves)
{
    struct range range = {NAN, NAN};

    for (size_t i = 0; i < waves->wave_count; i++) {
        widen(&range, (double)waves->waves[i].delay_ps);
    }
    return range;
}

static bool holds(const iw_estimate *estimate, double value)
{
    return estimate->low <= value && value <= estimate->high;
}

/* Hardly different, or each within what the other is sure of, or both unknown. */
static bool are_alike(const iw_estimate *a, const iw_estimate *b)
{
    return (isnan(a->value) && isnan(b->value)) ||
           fabs(a->value - b->value) < ALIKE * fmax(a->value, b->value) ||
           (holds(a, b->value) && holds(b, a->value));
}

/* ---- speeds ---- */

static void append_speed(char *text, const iw_estimate *speed)
{
    char value[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (isnan(speed->value)) {
        iwi_append(text, ", too short for a speed");
        return;
    }
    if (speed->low <= speed->value / 2.0) { /* an interval that says nothing */
        iwi_append(text, " at about %s ranks/s", speed_text(speed->value, value));
        return;
    }
    iwi_append(text, " at %s ranks/s", speed_text(speed->value, value));
    (void)speed_text(speed->low, low);
    (void)speed_text(speed->high, high);
    if (isfinite(speed->low) && isfinite(speed->high) &&
        (strcmp(low, value) != 0 || strcmp(high, value) != 0)) {
        iwi_append(text, " (95 %% CI %s to %s)", low, high);
    }
}

/* ---- ends ---- */

/* "meets wave 2 on rank 14 at 27.00 ms" */
static void append_end(char *text, const iw_wave *wave)
{
    char at[IWI_NUMBER_SIZE];

    (void)iwi_time_text(wave->end_ps, at);
    switch (wave->end) {
    case IW_WAVE_RUNS:
        iwi_append(text, "still runs on rank %" PRIu32 " when the run ends", wave->end_rank);
        break;
    case IW_WAVE_BORDER:
        iwi_append(text, "reaches the border, rank %" PRIu32 ", at %s", wave->end_rank, at);
        break;
    case IW_WAVE_ORIGIN:
        iwi_append(text, "goes once around and ends before rank %" PRIu32 " at %s", wave->origin_rank, at);
        break;
    case IW_WAVE_MET:
        iwi_append(text, "meets wave %d on rank %" PRIu32 " at %s and ends", wave->met + 1, wave->end_rank,
                   at);
        break;
    case IW_WAVE_DECAYED:
        iwi_append(text, "is lost in ordinary waiting after rank %" PRIu32 " at %s", wave->end_rank, at);
        break;
    case IW_WAVE_WINDOW:
        iwi_append(text, "leaves the exactly known part at rank %" PRIu32 " at %s", wave->end_rank, at);
        break;
    case IW_WAVE_SYNCED:
        iwi_append(text, "ends at rank %" PRIu32 " at %s, where all ranks wait for each other",
                   wave->end_rank, at);
        break;
    }
}

/* "18 meet another, 2 reach the border" */
static void append_ends(char *text, const iw_waves *waves)
{
    static const char *const one[] = {[IW_WAVE_RUNS] = "still runs at the end",
                                      [IW_WAVE_BORDER] = "reaches the border",
                                      [IW_WAVE_ORIGIN] = "comes around",
                                      [IW_WAVE_MET] = "meets another or a late rank",
                                      [IW_WAVE_DECAYED] = "decays",
                                      [IW_WAVE_WINDOW] = "leaves the exactly known part",
                                      [IW_WAVE_SYNCED] = "ends in a collective"};
    static const char *const many[] = {[IW_WAVE_RUNS] = "still run at the end",
                                       [IW_WAVE_BORDER] = "reach the border",
                                       [IW_WAVE_ORIGIN] = "come around",
                                       [IW_WAVE_MET] = "meet others or late ranks",
                                       [IW_WAVE_DECAYED] = "decay",
                                       [IW_WAVE_WINDOW] = "leave the exactly known part",
                                       [IW_WAVE_SYNCED] = "end in a collective"};
    const char *separator = "";

    for (size_t end = 0; end < sizeof one / sizeof one[0]; end++) {
        size_t count = 0;

        for (size_t i = 0; i < waves->wave_count; i++) {
            count += (size_t)waves->waves[i].end == end;
        }
        if (count > 0) {
            iwi_append(text, "%s%zu %s", separator, count, count == 1 ? one[end] : many[end]);
            separator = ", ";
        }
    }
}

/* ---- the sentence ---- */

static void append_none(char *text, const iw_waves *waves)
{
    const bool is_traced = strcmp(waves->about.origin, "traced") == 0;
    char least[IWI_NUMBER_SIZE], threshold[IWI_NUMBER_SIZE];

    (void)iwi_time_text(waves->least_delay_ps, least);
    (void)iwi_time_text(waves->threshold_ps, threshold);
    if (waves->delay_count == 0 && is_traced) {
        iwi_append(text, "No idle wave: no single rank computes at least %s longer than usual.", least);
    } else if (waves->delay_count == 0) {
        iwi_append(text, "No idle wave: no delay of %s or more.", least);
    } else {
        iwi_append(text,
                   "No idle wave: there %s %zu delay%s of %s or more, but no neighbour waited for %s %s "
                   "longer than usual. Noise may have absorbed %s, or no rank depends on %s.",
                   waves->delay_count == 1 ? "is" : "are", waves->delay_count,
                   waves->delay_count == 1 ? "" : "s", least, waves->delay_count == 1 ? "it" : "them",
                   threshold, waves->delay_count == 1 ? "it" : "them",
                   waves->delay_count == 1 ? "that rank" : "those ranks");
    }
}

/* One or two waves of one delay on a line. */
static void append_few(char *text, const iw_waves *waves)
{
    const iw_timeline_about *about = &waves->about;
    const iw_wave *first = waves->waves, *second = waves->wave_count > 1 ? &waves->waves[1] : NULL;
    char direction[IWI_NUMBER_SIZE];

    iwi_append(text, ": %s", iwi_wave_direction(about, first, direction));
    if (second != NULL && (!are_alike(&first->speed, &second->speed) ||
                           wave_judge(waves, &first->speed) != wave_judge(waves, &second->speed))) {
        append_speed(text, &first->speed);
        append_expected(text, waves, first);
        iwi_append(text, "; %s", iwi_wave_direction(about, second, direction));
        append_speed(text, &second->speed);
        append_expected(text, waves, second);
    } else {
        iwi_append(text, "%s%s", second != NULL ? " and " : "",
                   second != NULL ? iwi_wave_direction(about, second, direction) : "");
        append_speed(text, &first->speed);
        append_expected(text, waves, first);
    }
    iwi_append(text, "; ");
    if (second != NULL && first->met == 1 && second->met == 0) {
        char at[IWI_NUMBER_SIZE];

        iwi_append(text, "they meet on rank");
        iwi_append(text, first->end_rank == second->end_rank ? " %" PRIu32 : "s %" PRIu32 " and %" PRIu32,
                   first->end_rank, second->end_rank);
        iwi_append(text, " at %s and cancel.", iwi_time_text(first->end_ps, at));
        return;
    }
    iwi_append(text, "%s ", second != NULL ? "the first" : "it");
    append_end(text, first);
    if (second != NULL) {
        iwi_append(text, ", the second ");
        append_end(text, second);
    }
    iwi_append(text, ".");
}

static void append_many(char *text, const iw_waves *waves)
{
    const struct range range = speed_range(waves);
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    (void)speed_text(range.low, low);
    (void)speed_text(range.high, high);
    if (!isnan(range.low)) {
        iwi_append(text, ", %s%s%s ranks/s", low, strcmp(low, high) != 0 ? " to " : "",
                   strcmp(low, high) != 0 ? high : "");
        append_expected_of_all(text, waves, (range.low + range.high) / 2.0);
    }
    iwi_append(text, ": ");
    append_ends(text, waves);
    iwi_append(text, ".");
}

static void append_verdict(char *text, const iw_waves *waves)
{
    const size_t origins = iw_waves_origins(waves);
    const struct range delays = delay_range(waves);
    char shortest[IWI_NUMBER_SIZE], longest[IWI_NUMBER_SIZE], net[IWI_PHRASE_SIZE];

    if (waves->wave_count == 0) {
        append_none(text, waves);
        return;
    }
    (void)iwi_time_text((iw_time)delays.low, shortest);
    (void)iwi_time_text((iw_time)delays.high, longest);
    iwi_append(text, "%zu wave%s", waves->wave_count, waves->wave_count == 1 ? "" : "s");
    if (waves->about.net[0] != '\0') {
        iwi_append(text, " on %s", iwi_net_words(waves->about.net, net));
    }
    iwi_append(text, " from ");
    if (origins == 1) {
        iwi_append(text, "a delay of %s on rank %" PRIu32, longest, waves->waves[0].origin_rank);
    } else {
        iwi_append(text, "%zu delays of %s%s%s", origins, shortest,
                   strcmp(shortest, longest) != 0 ? " to " : "",
                   strcmp(shortest, longest) != 0 ? longest : "");
    }
    if (origins == 1 && waves->wave_count <= 2) {
        append_few(text, waves);
    } else {
        append_many(text, waves);
    }
}

void iwi_waves_say_verdict(struct iwi_document *doc, const iw_waves *waves)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    append_verdict(text, waves);
    iwi_verdict(doc, "%s", text);
}

/* Whether a wave is as fast as expected: an interval inside a margin, not one that is too wide to exclude it.
 */

#define MARGIN 0.10  /* as expected: the whole interval is that close */
#define NO_MORE 0.01 /* closer than that nobody calls it a difference */
#define MOST_STEPS 1e6

static enum iwi_judgement wave_judge(const iw_waves *waves, const iw_estimate *speed)
{
    const double expected = waves->expected_speed;

    if (!(expected > 0.0) || isnan(speed->value)) {
        return IWI_NOT_JUDGED;
    }
    if (speed->low >= (1.0 - MARGIN) * expected && speed->high <= (1.0 + MARGIN) * expected) {
        return IWI_IS_AS_EXPECTED;
    }
    if (speed->low > expected || speed->high < expected) {
        return IWI_DIFFERS;
    }
    return IWI_CANNOT_TELL; /* also without an interval */
}

/* v_silent of the paper: what noise takes of the speed. */
static void append_silent(char *text, const iw_waves *waves, double speed)
{
    const double share = 1.0 - speed / waves->silent_speed;
    char percent[IWI_NUMBER_SIZE], silent[IWI_NUMBER_SIZE];

    if (waves->noise_s > 0.0 && share > NO_MORE) { /* NaN is neither */
        iwi_append(text, ", %s slower than without noise (%s)", iwi_percent_text(share, percent),
                   speed_text(waves->silent_speed, silent));
    }
}

/* Steps over which a wave like this one has to be followed for an interval that is inside the margin, or does
 * not reach what is expected, whatever comes first; two digits of it. */
static double steps_needed(const iw_wave *wave, double ratio)
{
    const double count = (double)wave->speed_points - 1.0;
    const double half = wave->speed.value / wave->speed.low - 1.0; /* of the time per rank, as a share */
    const double wanted = fmax(fabs(ratio), MARGIN - fabs(ratio));
    const double deviation = half * sqrt(count) / iwi_t_quantile(0.975, count - 1.0);
    double steps = count + 1.0, unit;

    while (iwi_t_quantile(0.975, steps - 1.0) * deviation > wanted * sqrt(steps) && steps < MOST_STEPS) {
        steps = ceil(1.01 * steps);
    }
    unit = pow(10.0, fmax(floor(log10(steps + 1.0)) - 1.0, 0.0));
    return ceil((steps + 1.0) / unit) * unit;
}

/* "; needs about 130 steps of the wave, here 30, or less noise" */
static void append_needed(char *text, const iw_wave *wave, double ratio)
{
    if (isnan(wave->speed.low) || wave->speed_points < 3) {
        iwi_append(text, "; needs 3 or more steps of the wave, here %zu", wave->speed_points);
    } else {
        iwi_append(text, "; needs about %.0f steps of the wave, here %zu, or less noise",
                   steps_needed(wave, ratio), wave->speed_points);
    }
}

static void append_expected(char *text, const iw_waves *waves, const iw_wave *wave)
{
    const enum iwi_judgement is = wave_judge(waves, &wave->speed);
    const double ratio = wave->speed.value / waves->expected_speed - 1.0;
    const bool is_outside =
        wave->speed.low > waves->expected_speed || wave->speed.high < waves->expected_speed;
    const char *how = ratio > 0.0 ? "faster" : "slower";
    char expected[IWI_NUMBER_SIZE], percent[IWI_NUMBER_SIZE];

    (void)speed_text(waves->expected_speed, expected);
    (void)iwi_percent_text(fabs(ratio), percent);
    if (is == IWI_NOT_JUDGED) {
        return;
    }
    if (is == IWI_IS_AS_EXPECTED) {
        iwi_append(text, ", as expected (within 10 %% of sigma d / T = %s)", expected);
        if (is_outside && fabs(ratio) > NO_MORE) {
            iwi_append(text, ", though %s %s", percent, how);
        }
    } else if (is == IWI_DIFFERS) {
        iwi_append(text, ", %s %s than expected (sigma d / T = %s)", percent, how, expected);
    } else {
        iwi_append(text, ", too uncertain to compare with the expected speed (sigma d / T = %s", expected);
        append_needed(text, wave, ratio);
        iwi_append(text, ")");
    }
    append_silent(text, waves, wave->speed.value);
}

/* "18 as expected (within 10 % of sigma d / T = 327.4), 2 different, 1 too uncertain to tell" */
static void append_expected_of_all(char *text, const iw_waves *waves, double middle)
{
    static const char *const says[IWI_JUDGEMENTS] = {[IWI_IS_AS_EXPECTED] = "as expected",
                                                     [IWI_DIFFERS] = "different",
                                                     [IWI_CANNOT_TELL] = "too uncertain to tell"};
    size_t counts[IWI_JUDGEMENTS] = {0}, judged;
    char expected[IWI_NUMBER_SIZE];
    bool is_first = true;

    for (size_t i = 0; i < waves->wave_count; i++) {
        counts[wave_judge(waves, &waves->waves[i].speed)]++;
    }
    judged = waves->wave_count - counts[IWI_NOT_JUDGED];
    (void)speed_text(waves->expected_speed, expected);
    for (enum iwi_judgement is = IWI_IS_AS_EXPECTED; is < IWI_JUDGEMENTS; is++) {
        if (counts[is] == 0) {
            continue;
        }
        iwi_append(text, ", ");
        if (counts[is] < judged) {
            iwi_append(text, "%zu ", counts[is]);
        }
        iwi_append(text, "%s", says[is]);
        if (is_first) {
            iwi_append(text, " (%s sigma d / T = %s)",
                       is == IWI_IS_AS_EXPECTED ? "within 10 % of" : "expected within 10 % of", expected);
        }
        is_first = false;
    }
    append_silent(text, waves, middle);
}
