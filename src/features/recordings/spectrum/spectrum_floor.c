/* What of a spectrum stands out: its floor, how far noise alone rises above it, and the peaks beyond.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/recordings/spectrum/spectrum.h"

enum {
    LEAST_HALF_WIDTH = 8, /* of the running median, in bins */
    MOST_HALF_WIDTH = 500,
    ANCHORS_PER_WIDTH = 4,
    LOBE = 2,         /* half of the width of a line in Hann's window */
    SPLINE_POWER = 12 /* as spectrum_welch.c */
};

static const double FALSE_ALARM = 0.001;

/* Rounding to nanoseconds makes lines that are weaker than others by more than this. */
static const double ROUNDING = 1e-9;

/* Below this a line would be of no interest however sure it is. */
static const double LEAST_RATIO = 4.0;

/* Between two lines the power falls below this many times the floor. */
static const double VALLEY_RATIO = 2.0;

/* Windows that overlap by half are not independent: 1 / (1 + 2/36) for Hann's (Welch 1967). */
static const double INDEPENDENT = 36.0 / 38.0;

/* Wide where the spectrum is flat, narrow where it may be steep: at the lowest frequencies. */
static size_t half_width(size_t bin)
{
    const size_t width = bin / 2;

    return width < LEAST_HALF_WIDTH ? LEAST_HALF_WIDTH : (width > MOST_HALF_WIDTH ? MOST_HALF_WIDTH : width);
}

static double median_around(const iw_noise_spectrum *spectrum, size_t bin, double *scratch)
{
    const size_t half = half_width(bin);
    const size_t begin = bin > half + IWI_LOWEST_BIN ? bin - half : IWI_LOWEST_BIN;
    const size_t end = bin + half < spectrum->count ? bin + half : spectrum->count;

    memcpy(scratch, &spectrum->power[begin], (end - begin) * sizeof *scratch);
    return iwi_select_quantile(scratch, end - begin, 0.5);
}

/* A median at some bins, straight lines in between. */
static void fill_floor(iw_noise_spectrum *spectrum, double *scratch)
{
    const size_t last = spectrum->count - 1;
    size_t here = IWI_LOWEST_BIN;
    double level = median_around(spectrum, here, scratch);

    for (size_t i = 0; i <= here; i++) {
        spectrum->floor[i] = level;
    }
    while (here < last) {
        const size_t step = half_width(here) / ANCHORS_PER_WIDTH;
        const size_t next = here + step < last ? here + step : last;
        const double next_level = median_around(spectrum, next, scratch);

        for (size_t i = here + 1; i <= next; i++) {
            const double share = (double)(i - here) / (double)(next - here);

            spectrum->floor[i] = level + share * (next_level - level);
        }
        here = next;
        level = next_level;
    }
}

static double ratio_at(const iw_noise_spectrum *spectrum, size_t bin)
{
    return spectrum->floor[bin] > 0.0 ? spectrum->power[bin] / spectrum->floor[bin] : 0.0;
}

/* Degrees of freedom of a chi-square distribution whose quartiles are that far apart. */
static double freedom_of_quartiles(double ratio)
{
    double low = 0.5, high = 1e5;

    for (int i = 0; i < 60; i++) {
        const double middle = sqrt(low * high);
        const double expected = iwi_chi2_quantile(0.75, middle) / iwi_chi2_quantile(0.25, middle);

        if (expected > ratio) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The mean of n independent windows has 2 n degrees of freedom. Fewer if some windows are much louder than
 * the others, or the CPUs are alike: the values then scatter more, and that can be seen. */
static double measure_freedom(const iw_noise_spectrum *spectrum, double *ratios)
{
    const size_t count = spectrum->count - IWI_LOWEST_BIN;
    const double nominal = 2.0 * fmax(1.0, INDEPENDENT * (double)spectrum->windows);
    double low, high;

    for (size_t i = 0; i < count; i++) {
        ratios[i] = ratio_at(spectrum, i + IWI_LOWEST_BIN);
    }
    low = iwi_select_quantile(ratios, count, 0.25);
    high = iwi_select_quantile(ratios, count, 0.75);
    return low > 0.0 ? fmin(nominal, freedom_of_quartiles(high / low)) : nominal;
}

iw_status iwi_find_floor(const iw_log *log, iw_noise_spectrum *spectrum)
{
    const size_t room =
        spectrum->count > (size_t)2 * MOST_HALF_WIDTH ? spectrum->count : (size_t)2 * MOST_HALF_WIDTH;
    double *scratch = iwi_new_array(log, room, sizeof *scratch);
    double chance;

    spectrum->floor = iwi_new_array(log, spectrum->count, sizeof *spectrum->floor);
    if (scratch == NULL || spectrum->floor == NULL) {
        free(scratch);
        return IW_ERR_NOMEM;
    }
    fill_floor(spectrum, scratch);
    spectrum->false_alarm = FALSE_ALARM;
    spectrum->freedom = measure_freedom(spectrum, scratch);
    chance = FALSE_ALARM / (double)(spectrum->count - IWI_LOWEST_BIN);
    spectrum->least_ratio = fmax(LEAST_RATIO, iwi_chi2_upper_quantile(chance, spectrum->freedom) /
                                                  iwi_chi2_quantile(0.5, spectrum->freedom));
    for (size_t i = IWI_LOWEST_BIN; i < spectrum->count; i++) {
        spectrum->highest_ratio = fmax(spectrum->highest_ratio, ratio_at(spectrum, i));
    }
    free(scratch);
    return IW_OK;
}

/* Goes from `bin` on by `step` as long as the power stays above the valleys; true if it meets more. */
static bool rises_beyond(const iw_noise_spectrum *spectrum, size_t bin, size_t step)
{
    for (size_t i = bin + step; i < spectrum->count && ratio_at(spectrum, i) > VALLEY_RATIO; i += step) {
        if (spectrum->power[i] > spectrum->power[bin]) {
            return true;
        }
    }
    return false;
}

/* A broad hump has many maxima, and a strong line with jitter has some beside it: only the highest counts
 * unless there is a valley between them. */
static bool is_peak(const iw_noise_spectrum *spectrum, size_t bin)
{
    const double *p = &spectrum->power[bin];
    const size_t back = (size_t)-1;

    return p[0] > p[-1] && p[0] >= p[1] && ratio_at(spectrum, bin) >= spectrum->least_ratio &&
           !rises_beyond(spectrum, bin, 1) && !rises_beyond(spectrum, bin, back);
}

/* The top of the parabola through the logarithms of three values, in bins from the middle one. */
static double offset_of_top(const double *p)
{
    double before, after;

    if (p[-1] <= 0.0 || p[1] <= 0.0) {
        return 0.0;
    }
    before = log(p[0] / p[-1]);
    after = log(p[0] / p[1]);
    return before + after > 0.0 ? 0.5 * (before - after) / (before + after) : 0.0;
}

static struct iwi_peak peak_at(const iw_noise_spectrum *spectrum, size_t bin)
{
    struct iwi_peak peak = {.ratio = ratio_at(spectrum, bin)};

    peak.frequency_hz = ((double)bin + offset_of_top(&spectrum->power[bin])) * spectrum->step_hz;
    for (size_t i = bin - LOBE; i <= bin + LOBE && i < spectrum->count; i++) {
        peak.line_power += fmax(spectrum->power[i] - spectrum->floor[i], 0.0) * spectrum->step_hz;
    }
    return peak;
}

/* Most that a line of power 1 may show at a distance: the side lobes of Hann's window, sinc(d)/(1 - d^2). */
static double leaked(double bins)
{
    return bins <= LOBE ? 1.0 : 4.0 / pow(M_PI * bins * (bins * bins - 1.0), 2);
}

/* Without a floor to speak of, strong lines show their own shadows: side lobes, what folds back from
 * beyond the highest frequency, (x/(1-x))^12 with x in units of the bins' rate, and rounding. */
static bool is_shadow(const iw_noise_spectrum *spectrum, const struct iwi_peak *peaks, size_t count,
                      const struct iwi_peak *peak)
{
    const double x = 0.25 * peak->frequency_hz / spectrum->opts.max_frequency_hz;
    const double folded = fmax(4.0 * pow(x / (1.0 - x), SPLINE_POWER), ROUNDING);

    for (size_t i = 0; i < count; i++) {
        const double distance = fabs(peaks[i].frequency_hz - peak->frequency_hz) / spectrum->step_hz;

        if (&peaks[i] != peak && peak->line_power < peaks[i].line_power &&
            peak->line_power < peaks[i].line_power * fmax(leaked(distance), folded)) {
            return true;
        }
    }
    return false;
}

/* Takes shadows out of the list; which ones is decided before the first goes. */
static size_t drop_shadows(const iw_noise_spectrum *spectrum, struct iwi_peak *peaks, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        peaks[i].is_taken = is_shadow(spectrum, peaks, count, &peaks[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!peaks[i].is_taken) {
            peaks[kept++] = peaks[i];
        }
    }
    return kept;
}

iw_status iwi_find_peaks(const iw_log *log, const iw_noise_spectrum *spectrum, struct iwi_peak **peaks_p,
                         size_t *count_p)
{
    size_t count = 0;
    struct iwi_peak *peaks;

    for (size_t i = IWI_LOWEST_BIN; i + 1 < spectrum->count; i++) {
        count += is_peak(spectrum, i);
    }
    peaks = iwi_new_array(log, count, sizeof *peaks);
    if (peaks == NULL) {
        return IW_ERR_NOMEM;
    }
    count = 0;
    for (size_t i = IWI_LOWEST_BIN; i + 1 < spectrum->count; i++) {
        if (is_peak(spectrum, i)) {
            peaks[count++] = peak_at(spectrum, i);
        }
    }
    *count_p = drop_shadows(spectrum, peaks, count);
    *peaks_p = peaks;
    return IW_OK;
}
