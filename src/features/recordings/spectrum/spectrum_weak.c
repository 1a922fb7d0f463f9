/* Combs whose teeth hardly stand out one by one, but do so together.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A daemon that wakes up once a second spreads its power over thousands of multiples. A few of them rise
 * above the limit by chance, as lines without relation. Each is tried as multiple m of f = peak / m: the mean
 * of power / floor over the other multiples, in units of its deviation, is largest for the true f (half of it
 * has half the excess on twice as many multiples, double of it the same excess on half as many).
 */
#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "features/recordings/spectrum/spectrum.h"

static const double LEAST_DEVIATIONS = 8.0; /* thousands of m are tried */
static const double HOPELESS_DEVIATIONS = 2.0;
static const double LEAST_EXCESS = 0.5; /* of the mean, over the floor */
enum { FIRST_MULTIPLES = 16, LEAST_SPACING = 4 };

/* Mean and deviation of power / floor where there are no lines. */
struct law {
    double mean, deviation;
};

static struct law law_of(const iw_noise_spectrum *spectrum)
{
    const double mean = spectrum->freedom / iwi_chi2_quantile(0.5, spectrum->freedom);

    return (struct law){mean, mean * sqrt(2.0 / spectrum->freedom)};
}

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

bool iwi_find_weak_comb(const iw_noise_spectrum *spectrum, const uint8_t *is_known, double peak_hz,
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
