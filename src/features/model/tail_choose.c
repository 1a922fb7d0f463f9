/* Chooses the thresholds of a tail, and tests what was fitted above them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A low threshold has many peaks above it and small errors, but perhaps not yet the law of the tail; a high
 * one the other way round, and no rule finds the best. So all thresholds whose fit is good speak, with the
 * same weight: what they disagree on widens the interval.
 */
#include <math.h>

#include "core/base/base.h"
#include "features/model/tail.h"
#include "features/model/tail_gamma.h"

enum { LEAST_PEAKS = 50, MOST_PEAKS = 400, CANDIDATES = 4 };

static const double GOOD_FIT = 0.1, BAD_FIT = 0.01; /* probabilities of so large a distance */
static const double HEAVY_CHANCE = 0.025;           /* of xi > 1: the interval has no upper end */

/* Losses so many times as long as the longest seen are left out of means. A law with xi near 1/2 has most of
 * its mean there, where nothing is known; one with xi = 1/3 loses a few percent. */
static const double MOST_LONGER = 100.0;

struct candidate {
    size_t count;
    double from_ns, weight, goodness;
    double excess[MOST_PEAKS];
    struct iwi_gpd_posterior posterior;
};

/* Variance over mean of the number of peaks in a block of time: above 1 where clusters come in bursts, and so
 * many peaks say as much as one. */
static double burstiness(const struct iwi_peaks *peaks, size_t count, size_t block_count)
{
    double squares = 0.0;
    const double mean = (double)count / (double)block_count;

    if (block_count < 2) {
        return 1.0;
    }
    for (size_t block = 0; block < block_count; block++) {
        double in_block = 0.0;

        for (size_t i = 0; i < count; i++) {
            in_block += peaks->block[i] == block ? 1.0 : 0.0;
        }
        squares += (in_block - mean) * (in_block - mean);
    }
    return fmax(squares / (double)(block_count - 1) / mean, 1.0);
}

static void fit_candidate(const struct iwi_peaks *peaks, size_t count, size_t block_count,
                          struct candidate *c)
{
    c->count = count;
    c->from_ns = peaks->loss_ns[count];
    c->weight = 1.0 / burstiness(peaks, count, block_count);
    for (size_t i = 0; i < count; i++) {
        c->excess[i] = peaks->loss_ns[i] - c->from_ns;
    }
    iwi_gpd_fit(c->excess, count, 0, c->weight, &c->posterior);
    c->goodness = iwi_gpd_goodness(&c->posterior.mode, c->excess, count);
}

/* Those with a good fit, the lowest threshold first; if none is good the highest one, unless it is bad.
 * Returns how many. */
static size_t find_candidates(const struct iwi_peaks *peaks, size_t block_count,
                              struct candidate found[CANDIDATES])
{
    size_t good = 0;

    for (size_t count = MOST_PEAKS; count >= LEAST_PEAKS; count /= 2) {
        if (count < peaks->count) {
            const bool is_last = count / 2 < LEAST_PEAKS;
            struct candidate *c = &found[good];

            fit_candidate(peaks, count, block_count, c);
            good += (is_last ? good == 0 && c->goodness > BAD_FIT : c->goodness >= GOOD_FIT) ? 1 : 0;
        }
    }
    return good;
}

static double fraction(double x)
{
    return x - floor(x);
}

/* a of tail.h, from the top of the peaks: further down clusters merge. Few, but enough for a mean. */
static double extra_ns(const struct iwi_peaks *peaks)
{
    const size_t top = LEAST_PEAKS / 2;
    const double from_ns = peaks->loss_ns[top];
    double excess_ns = 0.0;

    for (size_t i = 0; i < top; i++) {
        excess_ns += peaks->loss_ns[i] - from_ns;
    }
    return fmax((iwi_peaks_time_above_ns(peaks, from_ns) - excess_ns) / (double)top, 0.0);
}

/* Evenly spread over the posterior: points of the grid by their mass, places around a point and rates by
 * sequences of low discrepancy. Rates are gamma distributed, as after count x weight Poisson events. */
static void draw_all(const struct candidate *c, struct iwi_tail_draw common, struct iwi_tail_draw *draws,
                     size_t draw_count)
{
    const struct iwi_gpd_posterior *p = &c->posterior;
    const double tau_step = p->tau[1] - p->tau[0], sigma_step = p->log_sigma[1] - p->log_sigma[0];
    double passed = p->mass[0][0];
    size_t cell = 0;

    for (size_t k = 0; k < draw_count; k++) {
        const double place = ((double)k + 0.5) / (double)draw_count, turn = (double)k + 0.5;
        double tau, sigma;

        while (passed < place && cell + 1 < (size_t)IWI_GPD_GRID * IWI_GPD_GRID) {
            cell++;
            passed += p->mass[cell / IWI_GPD_GRID][cell % IWI_GPD_GRID];
        }
        tau = p->tau[cell / IWI_GPD_GRID] + tau_step * (fraction(turn * 0.7548776662466927) - 0.5);
        sigma =
            exp(p->log_sigma[cell % IWI_GPD_GRID] + sigma_step * (fraction(turn * 0.5698402909980532) - 0.5));
        draws[k] = common;
        draws[k].gpd = (struct iwi_gpd){tau * sigma, sigma};
        draws[k].rate *=
            iwi_gamma_quantile((double)c->count * c->weight, fraction(turn * 0.6180339887498949));
    }
}

static void make_tail(const struct iwi_peaks *peaks, const struct candidate *found, size_t good,
                      double watched_ns, struct iwi_tail *tail)
{
    tail->most_ns = MOST_LONGER * peaks->loss_ns[0];
    for (size_t i = 0; i < good; i++) {
        const struct candidate *c = &found[i];
        const struct iwi_tail_draw common = {c->from_ns, extra_ns(peaks), (double)c->count / watched_ns,
                                             c->posterior.mode};
        const size_t first = IWI_TAIL_DRAWS * i / good, end = IWI_TAIL_DRAWS * (i + 1) / good;

        draw_all(c, common, &tail->draws[first], end - first);
        if (i == 0) {
            tail->mode = common;
        }
    }
}

/* How many times as many peaks bring the standard error of xi, (1 + xi) / sqrt(count), so far down that xi
 * stays below 1. */
static double longer_for_xi(const struct candidate *c)
{
    const double xi = c->posterior.mode.xi;
    const double wanted = (1.0 - xi) / 2.5, now = (1.0 + xi) / sqrt((double)c->count * c->weight);

    return xi < 0.95 ? fmax(now * now / (wanted * wanted), 1.5) : 0.0;
}

static double chance_of_heavy(const struct candidate *found, size_t good)
{
    double sum = 0.0;

    for (size_t i = 0; i < good; i++) {
        sum += iwi_gpd_xi_above(&found[i].posterior, 1.0);
    }
    return sum / (double)good;
}

static void refuse(struct iwi_tail_choice *choice, iw_refusal why, double times_longer)
{
    choice->refusal = why;
    choice->times_longer = times_longer;
}

void iwi_tail_choose(const struct iwi_peaks *peaks, double watched_ns, size_t block_count,
                     struct iwi_tail_choice *choice_p)
{
    struct candidate found[CANDIDATES];
    size_t good, outliers;

    *choice_p = (struct iwi_tail_choice){.refusal = IW_REFUSAL_NONE};
    if (peaks->count <= LEAST_PEAKS) {
        refuse(choice_p, IW_REFUSAL_FEW, 1.5 * LEAST_PEAKS / fmax((double)peaks->count, 1.0));
        return;
    }
    good = find_candidates(peaks, block_count, found);
    outliers = iwi_gpd_outliers(found[0].excess, found[0].count, found[0].weight);
    if (outliers > 0) {
        refuse(choice_p, IW_REFUSAL_MIXTURE, fmax(1.5 * LEAST_PEAKS / (double)outliers, 2.0));
    } else if (good == 0) {
        refuse(choice_p, IW_REFUSAL_MIXTURE, 4.0);
    } else if (chance_of_heavy(found, good) > HEAVY_CHANCE) {
        refuse(choice_p, IW_REFUSAL_HEAVY, longer_for_xi(&found[0]));
    } else {
        make_tail(peaks, found, good, watched_ns, &choice_p->tail);
    }
}
