/* Detours that overlap are recorded as one: the law of single ones, from that of the recorded.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In simulations detours that come at random may begin within another one, and time is lost to their union
 * (rule 6 of docs/explanation/semantics.md). What is recorded of them are the busy periods of a queue
 * M/G/infinity. With the rate r and the mean duration m an instant is free with the chance exp(-r m), and n =
 * r exp(-r m) busy periods begin in a unit of time, whatever the law. So with the share s of the time that is
 * lost r = n / (1 - s),    m = -ln(1 - s) / r,    m / (s / n) = -(1 - s) ln(1 - s) / s.
 *
 * The form of the law has no such equation. A law is looked for whose busy periods, drawn and fitted as if
 * they were single, give the parameters that the recorded ones gave (indirect inference). What is compared
 * are fits to the same draws, as busy periods and one by one, so that chance nearly cancels.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "features/recordings/fit/fit.h"

/* Less overlap changes parameters by less than a recording can tell. */
static const double LEAST_SHARE = 1e-3;

/* The ratio of the two fits is known to sqrt(share / draws): one of a thousand, if there are not too many. */
static const double DRAWS_PER_SHARE = 1e6, LEAST_DRAWS = 1e4, MOST_DRAWS = 2e5;

static const double CONVERGED = 1e-4;
enum { MOST_ROUNDS = 40 };

double iwi_overlap_mean_factor(double share)
{
    return share > 0.0 ? -(1.0 - share) * log1p(-share) / share : 1.0;
}

struct drawing {
    iw_fit_law law;
    double cut_ns, mean_gap_ns;
    uint64_t seed;
    size_t count;
    int64_t *single_ns, *busy_ns;
};

/* Returns how many busy periods there are; the last may be cut short by the end of the draws. */
static size_t draw(const struct drawing *d, const iw_duration_fit *law)
{
    const struct iwi_draw_id lengths = {.seed = d->seed, .purpose = IWI_DRAW_DURATION, .rank = d->law};
    const struct iwi_draw_id gaps = {.seed = d->seed, .purpose = IWI_DRAW_GAP, .rank = d->law};
    double time_ns = 0.0, begin_ns = 0.0, end_ns = 0.0;
    size_t busy = 0;

    for (size_t i = 0; i < d->count; i++) {
        const double length_ns =
            fmin(fmax(iwi_law_exceeded_ns(d->law, law, d->cut_ns, iwi_draw_unit(lengths, i)), 1.0), 0x1p53);

        time_ns -= log(iwi_draw_unit(gaps, i)) * d->mean_gap_ns;
        if (time_ns >= end_ns) {
            begin_ns = time_ns;
            busy++;
        }
        end_ns = fmax(end_ns, time_ns + length_ns);
        d->single_ns[i] = llround(length_ns);
        d->busy_ns[busy - 1] = llround(fmax(end_ns - begin_ns, 1.0));
    }
    return busy;
}

/* By how much one parameter has to change; shapes that a law has not are NaN. */
static double change(double next, double last)
{
    return isnan(next) ? 0.0 : fabs(next / last - 1.0);
}

/* One round: the parameters for which the two fits differ as much as they do at *law. */
static double improve(const struct drawing *d, const iw_duration_fit *recorded, iw_duration_fit *law)
{
    const size_t busy_count = draw(d, law);
    const struct iwi_fit_sample singles = iwi_fit_sample(d->single_ns, d->count, d->cut_ns);
    const struct iwi_fit_sample periods = iwi_fit_sample(d->busy_ns, busy_count, d->cut_ns);
    const iw_duration_fit last = *law;
    iw_duration_fit single, busy;

    iwi_fit_one_law(d->law, &singles, &single);
    iwi_fit_one_law(d->law, &periods, &busy);
    law->scale_ns.value = recorded->scale_ns.value * single.scale_ns.value / busy.scale_ns.value;
    law->shape.value = recorded->shape.value * single.shape.value / busy.shape.value;
    return change(law->scale_ns.value, last.scale_ns.value) + change(law->shape.value, last.shape.value);
}

static bool find_law(const struct drawing *d, const iw_duration_fit *recorded, iw_duration_fit *law)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double changed = improve(d, recorded, law);

        if (!(changed < 1.0) ||
            !(iwi_law_mean_ns(d->law, law->scale_ns.value, law->shape.value) < INFINITY)) {
            return false;
        }
        if (changed < CONVERGED) {
            return true;
        }
    }
    return false;
}

iw_status iwi_fit_overlap(const iw_log *log, const iw_fit_opts *opts, const iw_durations *durations,
                          double watched_ns, double share, struct iwi_single_law *single)
{
    const iw_duration_fit *recorded = &durations->laws[durations->best];
    const double factor = iwi_overlap_mean_factor(share);
    const double draws = fmin(fmax(DRAWS_PER_SHARE * share, LEAST_DRAWS), MOST_DRAWS);
    struct drawing d = {.law = durations->best,
                        .cut_ns = durations->cut_ns,
                        .mean_gap_ns = (1.0 - share) * watched_ns / (double)durations->count,
                        .seed = opts->seed,
                        .count = (size_t)draws};
    iw_duration_fit law = *recorded;

    *single = (struct iwi_single_law){recorded->scale_ns.value, recorded->shape.value, false};
    if (share < LEAST_SHARE || isinf(iwi_law_mean_ns(d.law, single->scale_ns, single->shape))) {
        return IW_OK;
    }
    d.single_ns = iwi_new_array(log, 2 * d.count, sizeof *d.single_ns);
    if (d.single_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    d.busy_ns = &d.single_ns[d.count];
    law.scale_ns.value *= factor;
    *single = find_law(&d, recorded, &law)
                  ? (struct iwi_single_law){law.scale_ns.value, law.shape.value, false}
                  : (struct iwi_single_law){recorded->scale_ns.value * factor, recorded->shape.value, true};
    free(d.single_ns);
    return IW_OK;
}
