/* Whether a wave is as fast as expected: an interval inside a margin, not one that is too wide to exclude it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "features/wave/wave_report.h"

#define MARGIN 0.10  /* as expected: the whole interval is that close */
#define NO_MORE 0.01 /* closer than that nobody calls it a difference */
#define MOST_STEPS 1e6

enum iwi_judgement iwi_wave_judge(const iw_waves *waves, const iw_estimate *speed)
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
                   iwi_speed_text(waves->silent_speed, silent));
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

void iwi_append_expected(char *text, const iw_waves *waves, const iw_wave *wave)
{
    const enum iwi_judgement is = iwi_wave_judge(waves, &wave->speed);
    const double ratio = wave->speed.value / waves->expected_speed - 1.0;
    const bool is_outside =
        wave->speed.low > waves->expected_speed || wave->speed.high < waves->expected_speed;
    const char *how = ratio > 0.0 ? "faster" : "slower";
    char expected[IWI_NUMBER_SIZE], percent[IWI_NUMBER_SIZE];

    (void)iwi_speed_text(waves->expected_speed, expected);
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
        iwi_append(text, ", cannot tell whether within 10 %% of what is expected (sigma d / T = %s",
                   expected);
        append_needed(text, wave, ratio);
        iwi_append(text, ")");
    }
    append_silent(text, waves, wave->speed.value);
}

/* "18 as expected (within 10 % of sigma d / T = 327.4), 2 different, 1 too uncertain to tell" */
void iwi_append_expected_of_all(char *text, const iw_waves *waves, double middle)
{
    static const char *const says[IWI_JUDGEMENTS] = {[IWI_IS_AS_EXPECTED] = "as expected",
                                                     [IWI_DIFFERS] = "different",
                                                     [IWI_CANNOT_TELL] = "too uncertain to tell"};
    size_t counts[IWI_JUDGEMENTS] = {0}, judged;
    char expected[IWI_NUMBER_SIZE];
    bool is_first = true;

    for (size_t i = 0; i < waves->wave_count; i++) {
        counts[iwi_wave_judge(waves, &waves->waves[i].speed)]++;
    }
    judged = waves->wave_count - counts[IWI_NOT_JUDGED];
    (void)iwi_speed_text(waves->expected_speed, expected);
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
