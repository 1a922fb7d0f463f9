/* Peaks at the multiples of a frequency are one line.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A train of short pulses has multiples as strong as its fundamental, and any of them may be the strongest
 * peak. If that is multiple m of f, then most of f, 2 f, ..., m f must be peaks too, of about the same
 * strength, but where the floor is so high that it would hide them; of half the true fundamental only half of
 * them are. Among the f that pass, the one that explains most peaks is taken, of equal ones the highest.
 * Peaks much stronger than their neighbours in the comb stay for a line of their own: a tick among the
 * multiples of a slow daemon.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/recordings/spectrum/spectrum.h"

static const double LEAST_PRESENT = 0.6; /* of the multiples up to the strongest one */
static const double HOPELESS = 0.3;      /* of the first FIRST_MULTIPLES */
static const double SAME_STRENGTH = 20.0;
static const double OWN_STRENGTH = 4.0; /* above the neighbours in the comb */
static const double SURELY = 2.0;       /* above what a peak needs: what is missed there is absent */
static const double HILL = 0.003,
                    MOST_HILL = 0.25; /* half of its width: of its frequency, of the fundamental */
enum { MOST_LINES = 16, FIRST_MULTIPLES = 8, LEAST_SPACING = 4, NEIGHBOURS = 8, MOST_FOLDS = 4, LOBE = 2 };

struct comb {
    const iw_noise_spectrum *spectrum;
    struct iwi_peak *peaks;
    size_t peak_count;
    uint32_t *peak_of; /* by bin: number of the peak + 1, or 0 */
    uint8_t *is_known; /* by bin: near a peak of a line */
    size_t *hits;      /* peaks of the best fundamental, in the order of the multiples */
    double *scratch;
};

/* A fundamental, and how well it explains the peaks. */
struct fit {
    double frequency_hz;
    size_t hits;
};

static bool find_weak_comb(const iw_noise_spectrum *spectrum, const uint8_t *is_known, double peak_hz,
                           struct iwi_weak_comb *comb_p);

/* The peak nearest to a frequency, no more than a bin away; the count if there is none. */
static size_t peak_near(const struct comb *c, double frequency_hz)
{
    const double step_hz = c->spectrum->step_hz;
    const size_t middle = (size_t)llround(frequency_hz / step_hz);
    size_t best = c->peak_count;
    double best_hz = step_hz;

    for (size_t bin = middle - 1; bin <= middle + 1 && bin < c->spectrum->count; bin++) {
        if (c->peak_of[bin] > 0) {
            const size_t peak = c->peak_of[bin] - 1;
            const double away_hz = fabs(c->peaks[peak].frequency_hz - frequency_hz);

            if (away_hz <= best_hz) {
                best = peak;
                best_hz = away_hz;
            }
        }
    }
    return best;
}

static bool is_alike(const struct iwi_peak *a, const struct iwi_peak *b)
{
    return a->line_power <= SAME_STRENGTH * b->line_power && b->line_power <= SAME_STRENGTH * a->line_power;
}

/* Whether a peak as high as this one would stand out at a frequency too. */
static bool would_show(const struct comb *c, const struct iwi_peak *peak, double frequency_hz)
{
    const iw_noise_spectrum *s = c->spectrum;
    const double height = peak->ratio * s->floor[llround(peak->frequency_hz / s->step_hz)];

    return height >= SURELY * s->least_ratio * s->floor[llround(frequency_hz / s->step_hz)];
}

/* Walks over the multiples of (frequency of `strongest`) / m. The fundamental is refined on the way: by least
 * squares f = sum n f_n / sum n^2. No hits: it does not pass. Peaks that belong to lines already neither
 * speak for it nor against it. */
static struct fit try_fundamental(const struct comb *c, size_t strongest, size_t m, size_t *hits)
{
    const struct iwi_peak *s = &c->peaks[strongest];
    const double highest_hz = c->spectrum->opts.max_frequency_hz;
    double products = (double)m * s->frequency_hz, squares = (double)m * (double)m;
    size_t tested = 0, present = 0, count = 0;

    for (size_t n = 1; (double)n * products / squares < highest_hz; n++) {
        const double multiple_hz = (double)n * products / squares;
        const size_t peak = peak_near(c, multiple_hz);
        const bool is_there = peak < c->peak_count, is_hit = is_there && is_alike(&c->peaks[peak], s);
        const bool counts = n <= m && would_show(c, s, multiple_hz);

        if (is_there && c->peaks[peak].is_taken) {
            continue;
        }
        tested += counts;
        present += counts && is_hit;
        if (is_hit) {
            products += (double)n * c->peaks[peak].frequency_hz;
            squares += (double)n * (double)n;
            hits[count++] = peak;
        }
        if ((tested == FIRST_MULTIPLES && (double)present < HOPELESS * (double)tested) ||
            (n == m && (double)present < LEAST_PRESENT * (double)tested)) {
            return (struct fit){0.0, 0};
        }
    }
    return (struct fit){products / squares, count};
}

static struct fit best_fundamental(const struct comb *c, size_t strongest, size_t *m_p)
{
    const double least_hz = LEAST_SPACING * c->spectrum->step_hz;
    const double frequency_hz = c->peaks[strongest].frequency_hz;
    struct fit best = {0.0, 0};

    for (size_t m = 1; m == 1 || frequency_hz / (double)m >= least_hz; m++) {
        const struct fit fit = try_fundamental(c, strongest, m, c->hits);

        if (fit.hits > best.hits) {
            best = fit;
            *m_p = m;
        }
    }
    return best;
}

/* Middle of the strengths of the neighbours of hit i in the comb. */
static double usual_strength(const struct comb *c, size_t count, size_t i)
{
    const size_t begin = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
    const size_t end = i + NEIGHBOURS + 1 < count ? i + NEIGHBOURS + 1 : count;

    for (size_t k = begin; k < end; k++) {
        c->scratch[k - begin] = c->peaks[c->hits[k]].line_power;
    }
    return iwi_select_quantile(c->scratch, end - begin, 0.5);
}

/* Takes the peak at a frequency if it is much weaker than the strongest one of the line. */
static void take_weak(const struct comb *c, double frequency_hz, size_t strongest)
{
    const size_t peak = peak_near(c, frequency_hz);

    if (peak < c->peak_count && c->peaks[peak].line_power < c->peaks[strongest].line_power &&
        !is_alike(&c->peaks[peak], &c->peaks[strongest])) {
        c->peaks[peak].is_taken = true;
    }
}

/* Quanta cannot hold multiples beyond half of their rate, and show them at their distance from the nearest
 * multiple of the rate: damped by sinc, so that the first ones are enough. The rate is a mean: a bin or two
 * off. */
static void take_folded(const struct comb *c, double frequency_hz, size_t strongest)
{
    const double rate_hz = c->spectrum->quanta_hz, step_hz = c->spectrum->step_hz;

    for (double n = 1.0; n * frequency_hz < MOST_FOLDS * rate_hz; n += 1.0) {
        const double away_hz = fabs(n * frequency_hz - rate_hz * round(n * frequency_hz / rate_hz));

        for (int off = -2; off <= 2; off += 2) {
            const double place_hz = away_hz + off * step_hz;
            const size_t peak = place_hz > IWI_LOWEST_BIN * step_hz ? peak_near(c, place_hz) : c->peak_count;

            if (peak < c->peak_count && c->peaks[peak].line_power < c->peaks[strongest].line_power) {
                c->peaks[peak].is_taken = true;
            }
        }
    }
}

/* Takes all peaks at multiples, also weak ones, but not those that are too strong for this comb. */
static void take_multiples(const struct comb *c, struct fit fit, size_t strongest)
{
    for (size_t i = 0; i < fit.hits; i++) {
        struct iwi_peak *peak = &c->peaks[c->hits[i]];

        peak->is_taken = fit.hits < NEIGHBOURS || c->hits[i] == strongest ||
                         peak->line_power <= OWN_STRENGTH * usual_strength(c, fit.hits, i);
    }
    for (double n = 1.0; n * fit.frequency_hz < c->spectrum->opts.max_frequency_hz; n += 1.0) {
        take_weak(c, n * fit.frequency_hz, strongest);
    }
    if (c->spectrum->quanta_hz > 0.0) {
        take_folded(c, fit.frequency_hz, strongest);
    }
}

/* The amplitude of the fundamental of short pulses is twice their share; a line's power is amplitude^2 / 2.
 */
static iw_spectral_line describe(const struct comb *c, struct fit fit)
{
    const struct iwi_peak *lowest = &c->peaks[c->hits[0]];
    const bool has_fundamental = lowest->frequency_hz < 1.5 * fit.frequency_hz;
    iw_spectral_line line = {.frequency_hz = fit.frequency_hz,
                             .share = sqrt(0.5 * lowest->line_power),
                             .harmonics = fit.hits - has_fundamental};

    for (size_t i = 0; i < fit.hits; i++) {
        line.ratio = fmax(line.ratio, c->peaks[c->hits[i]].ratio);
    }
    return line;
}

static size_t strongest_peak(const struct comb *c)
{
    size_t strongest = c->peak_count;

    for (size_t i = 0; i < c->peak_count; i++) {
        if (!c->peaks[i].is_taken &&
            (strongest == c->peak_count || c->peaks[i].line_power > c->peaks[strongest].line_power)) {
            strongest = i;
        }
    }
    return strongest;
}

static void mark_known(const struct comb *c)
{
    for (size_t i = 0; i < c->peak_count; i++) {
        const size_t bin = (size_t)llround(c->peaks[i].frequency_hz / c->spectrum->step_hz);

        for (size_t k = bin - LOBE; c->peaks[i].is_taken && k <= bin + LOBE && k < c->spectrum->count; k++) {
            c->is_known[k] = 1;
        }
    }
}

/* Takes the peaks at the multiples of a weak comb, which are known the better the more have been found;
 * returns how many. */
static size_t take_weak_comb(const struct comb *c, struct iwi_weak_comb *weak, size_t strongest,
                             double *ratio_p)
{
    const double m = round(c->peaks[strongest].frequency_hz / weak->frequency_hz);
    double products = m * c->peaks[strongest].frequency_hz, squares = m * m;
    size_t count = 0;

    for (double n = 1.0; n * products / squares < c->spectrum->opts.max_frequency_hz; n += 1.0) {
        const size_t peak = peak_near(c, n * products / squares);

        if (peak < c->peak_count && !c->peaks[peak].is_taken) {
            c->peaks[peak].is_taken = true;
            products += n * c->peaks[peak].frequency_hz;
            squares += n * n;
            *ratio_p = fmax(*ratio_p, c->peaks[peak].ratio);
            count++;
        }
    }
    weak->frequency_hz = products / squares;
    return count;
}

/* A peak without multiples may be one of a comb whose other teeth do not stand out. */
static bool try_weak_comb(const struct comb *c, size_t strongest, iw_spectral_line *line_p)
{
    struct iwi_weak_comb weak;
    iw_spectral_line line = {.ratio = 0.0};

    mark_known(c);
    if (!find_weak_comb(c->spectrum, c->is_known, c->peaks[strongest].frequency_hz, &weak)) {
        return false;
    }
    line.harmonics = take_weak_comb(c, &weak, strongest, &line.ratio);
    line.frequency_hz = weak.frequency_hz;
    line.share = sqrt(0.5 * weak.line_power);
    *line_p = line;
    return true;
}

/* A beat that wanders is a hill with several peaks, at each of its multiples too: all of them are one line.
 */
static void take_hills(const struct comb *c, struct fit fit)
{
    for (size_t i = 0; i < fit.hits; i++) {
        const struct iwi_peak *top = &c->peaks[c->hits[i]];
        const double half_hz = fmin(HILL * top->frequency_hz, MOST_HILL * fit.frequency_hz);

        for (size_t k = 0; k < c->peak_count && top->is_taken; k++) {
            c->peaks[k].is_taken |= fabs(c->peaks[k].frequency_hz - top->frequency_hz) <= half_hz &&
                                    c->peaks[k].line_power < top->line_power;
        }
    }
}

/* Of a beat that is a line already: its higher multiples, which have wandered too far from its own. */
static bool is_on_hill(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    for (size_t i = 0; i < spectrum->line_count; i++) {
        if (fabs(spectrum->lines[i].frequency_hz - frequency_hz) <= HILL * frequency_hz) {
            return true;
        }
    }
    return false;
}

/* Takes the peaks of the strongest line that is left. */
static iw_spectral_line next_line(struct comb *c, size_t strongest)
{
    size_t m = 1;
    struct fit fit = best_fundamental(c, strongest, &m);
    iw_spectral_line line;

    if (fit.hits == 1 && try_weak_comb(c, strongest, &line)) {
        return line;
    }
    fit = try_fundamental(c, strongest, m, c->hits); /* once more, for its hits */
    line = describe(c, fit);
    take_multiples(c, fit, strongest);
    take_hills(c, fit);
    return line;
}

static void group(struct comb *c, iw_noise_spectrum *spectrum)
{
    size_t strongest;

    for (size_t i = 0; i < c->peak_count; i++) {
        c->peak_of[(size_t)llround(c->peaks[i].frequency_hz / spectrum->step_hz)] = (uint32_t)i + 1;
    }
    while (spectrum->line_count < MOST_LINES && (strongest = strongest_peak(c)) < c->peak_count) {
        const iw_spectral_line line = next_line(c, strongest);

        if (!is_on_hill(spectrum, line.frequency_hz)) {
            spectrum->lines[spectrum->line_count++] = line;
        }
    }
}

iw_status iwi_group_peaks(const iw_log *log, struct iwi_peak *peaks, size_t count,
                          iw_noise_spectrum *spectrum)
{
    struct comb c = {.spectrum = spectrum, .peaks = peaks, .peak_count = count};
    iw_status status = IW_ERR_NOMEM;

    c.peak_of = iwi_new_array(log, spectrum->count + 1, sizeof *c.peak_of);
    c.is_known = iwi_new_array(log, spectrum->count, sizeof *c.is_known);
    c.hits = iwi_new_array(log, spectrum->count, sizeof *c.hits);
    c.scratch = iwi_new_array(log, 2 * NEIGHBOURS + 1, sizeof *c.scratch);
    spectrum->lines = iwi_new_array(log, MOST_LINES, sizeof *spectrum->lines);
    if (c.peak_of != NULL && c.is_known != NULL && c.hits != NULL && c.scratch != NULL &&
        spectrum->lines != NULL) {
        group(&c, spectrum);
        status = IW_OK;
    }
    free(c.peak_of);
    free(c.is_known);
    free(c.hits);
    free(c.scratch);
    return status;
}

/* Mean and deviation of power / floor where there are no lines. */
struct law {
    double mean, deviation;
};

static struct law law_of(const iw_noise_spectrum *spectrum)
{
    const double mean = spectrum->freedom / iwi_chi2_quantile(0.5, spectrum->freedom);

    return (struct law){mean, mean * sqrt(2.0 / spectrum->freedom)};
}

static const double LEAST_EXCESS = 0.5; /* of the mean, over the floor */

static const double HOPELESS_DEVIATIONS = 2.0;

/* Deviations above the mean; negative if it is not to be considered. Only up to 2 m: beyond, the multiples
 * are not known to a bin. */
static double try_comb(const iw_noise_spectrum *spectrum, const struct law *law, const uint8_t *is_known,
                       double peak_hz, size_t m, struct iwi_weak_comb *comb_p)
{
    const double fundamental_hz = peak_hz / (double)m;
    double sum = 0.0, count = 0.0, power = 0.0, deviations = 0.0;

    for (size_t n = 1; n <= 2 * m; n++) {
        const size_t bin = (size_t)llround((double)n * fundamental_hz / spectrum->step_hz);

        if (bin >= spectrum->count) {
            break;
        }
        if (n == m || is_known[bin] || spectrum->floor[bin] <= 0.0) {
            continue;
        }
        sum += fmin(spectrum->power[bin] / spectrum->floor[bin], spectrum->least_ratio) - law->mean;
        power += spectrum->power[bin] - law->mean * spectrum->floor[bin];
        count += 1.0;
        deviations = sum / (law->deviation * sqrt(count));
        if (count == FIRST_MULTIPLES && deviations < HOPELESS_DEVIATIONS) {
            return -1.0;
        }
    }
    if (count == 0.0 || sum < LEAST_EXCESS * law->mean * count) {
        return -1.0;
    }
    /* A line's power is 1.5 bins of its peak (the noise bandwidth of Hann's window). */
    *comb_p = (struct iwi_weak_comb){fundamental_hz, 1.5 * spectrum->step_hz * fmax(power / count, 0.0)};
    return deviations;
}

static const double LEAST_DEVIATIONS = 8.0; /* thousands of m are tried */

static bool find_weak_comb(const iw_noise_spectrum *spectrum, const uint8_t *is_known, double peak_hz,
                           struct iwi_weak_comb *comb_p)
{
    const struct law law = law_of(spectrum);
    double best = LEAST_DEVIATIONS;
    bool is_found = false;

    for (size_t m = 2; peak_hz / (double)m >= LEAST_SPACING * spectrum->step_hz; m++) {
        struct iwi_weak_comb comb;
        const double deviations = try_comb(spectrum, &law, is_known, peak_hz, m, &comb);

        if (deviations > best) {
            best = deviations;
            *comb_p = comb;
            is_found = true;
        }
    }
    return is_found;
}
