/* How long detours last: all laws fitted, the best chosen, its tail held against the recorded one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The best is the one with the lowest BIC: the question is which law it is, so a further parameter must pay
 * more the more detours there are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/stats/sort_ns.h"
#include "features/recordings/compare/compare.h"
#include "features/recordings/duration_points.h"
#include "features/recordings/fit/fit.h"

/* The tail: what one of a thousand exceeds, but at least ten detours. */
static const double TAIL_SHARE = 1e-3, TAIL_COUNT = 10.0;
enum { LEAST_FOR_TAIL = 100 };

/* Lengths are the same up to this, and fixed if so few are others. */
static const double SAME_LENGTH = 0.01, MOST_OTHER_LENGTHS = 0.05;

struct iwi_fit_sample iwi_fit_sample(const int64_t *values_ns, size_t count, double cut_ns)
{
    struct iwi_fit_sample s = {.count = (double)count, .cut_ns = cut_ns, .least_ns = (double)values_ns[0]};
    double squares = 0.0;

    for (size_t i = 0; i < count; i++) { /* running means: exact enough for any count */
        const double ns = (double)values_ns[i], y = log(ns), off = y - s.log_mean;

        s.least_ns = fmin(s.least_ns, ns);
        s.mean_ns += (ns - s.mean_ns) / (double)(i + 1);
        s.log_mean += off / (double)(i + 1);
        squares += off * (y - s.log_mean);
    }
    s.log_variance = squares / s.count;
    return s;
}

static void choose_best(iw_durations *d)
{
    double best = INFINITY;

    for (int law = 0; law < IW_FIT_LAWS; law++) {
        if (d->laws[law].is_fitted && d->laws[law].bic < best) {
            best = d->laws[law].bic;
            d->best = (iw_fit_law)law;
            d->is_fitted = true;
        }
    }
}

/* Whether so many are longer because they overlap. Then they are `share` of all, since the chance that none
 * begins within a length is that of a free instant, and the mean tells the same length. */
static bool is_overlap(const iw_durations *d, double share, double length_ns, size_t longer)
{
    const double count = (double)d->count, mean_ns = iwi_overlap_mean_factor(share) * d->total_ns / count;

    return fabs((double)longer / count - share) <= MOST_OTHER_LENGTHS &&
           fabs(mean_ns / length_ns - 1.0) <= MOST_OTHER_LENGTHS;
}

/* The same up to rounding, or nearly all of them: the continuous laws have no form for that. Its likelihood
 * is no density, so that no criterion compares it with the others. The distance is the share on one side,
 * without those that are longer since they overlap. */
static void fit_fixed(const iw_fit_opts *opts, double share, const int64_t *sorted_ns, size_t count,
                      iw_durations *d)
{
    const size_t middle = (size_t)(0.5 * (1.0 - share) * (double)count);
    const double middle_ns = (double)sorted_ns[middle], within_ns = fmax(SAME_LENGTH * middle_ns, 1.0);
    double overlapping = 0.0, others;
    size_t shorter = 0, longer = 0;

    for (size_t i = 0; i < count; i++) {
        shorter += (double)sorted_ns[i] < middle_ns - within_ns;
        longer += (double)sorted_ns[i] > middle_ns + within_ns;
    }
    if (is_overlap(d, share, middle_ns, longer)) {
        overlapping = fmin(share * (double)count, (double)longer);
    }
    others = (double)(shorter + longer) - overlapping;
    if (others > MOST_OTHER_LENGTHS * (double)count) {
        return;
    }
    d->best = IW_FIT_FIXED;
    d->is_fitted = true;
    d->laws[IW_FIT_FIXED] = (iw_duration_fit){
        .is_fitted = true,
        .scale_ns = {middle_ns, (double)sorted_ns[shorter], (double)sorted_ns[count - 1 - longer]},
        .shape = {NAN, NAN, NAN},
        .log_likelihood = NAN,
        .aic = NAN,
        .bic = NAN,
        .distance = fmax((double)shorter, (double)longer - overlapping) / (double)count,
        .p = others <= 0.0 ? 1.0 : 1.0 / ((double)opts->replicates + 1.0),
        .seen = 1.0,
    };
}

static iw_status fit_laws(const iw_log *log, const iw_fit_opts *opts, double random_share,
                          const int64_t *sorted_ns, size_t count, iw_durations *d)
{
    const struct iwi_fit_sample sample = iwi_fit_sample(sorted_ns, count, d->cut_ns);

    if (sorted_ns[count - 1] - sorted_ns[0] > 1 && count >= IW_FIT_LEAST) {
        for (iw_fit_law law = IW_FIT_EXP; law < IW_FIT_LAWS; law++) {
            iwi_fit_one_law(law, &sample, &d->laws[law]);
            d->laws[law].distance = iwi_fit_distance(law, &d->laws[law], d->cut_ns, sorted_ns, count);
            IW_TRY(iwi_fit_goodness(log, law, opts, d->cut_ns, count, &d->laws[law]));
        }
    }
    choose_best(d);
    fit_fixed(opts, random_share, sorted_ns, count, d);
    return IW_OK;
}

static void compare_tails(const int64_t *sorted_ns, size_t count, iw_durations *d)
{
    const iw_duration_fit *fit = &d->laws[d->best];

    d->expected_as_long = NAN;
    if (!d->is_fitted || d->best == IW_FIT_FIXED) {
        return;
    }
    d->expected_as_long = (double)count * iw_durations_above(d, d->best, d->longest_ns - 0.5);
    if (count >= LEAST_FOR_TAIL) {
        const double longer = fmax(floor(TAIL_SHARE * (double)count), TAIL_COUNT);

        d->tail_share = longer / (double)count;
        d->tail_recorded_ns = (double)sorted_ns[count - (size_t)longer];
        d->tail_fitted_ns = iwi_law_exceeded_ns(d->best, fit, d->cut_ns, d->tail_share);
    }
}

/* Shorter ones are left out: `duration_ns` is sorted. */
static size_t leave_out(const int64_t *duration_ns, size_t count, double cut_ns)
{
    size_t first = 0;

    while (first < count && (double)duration_ns[first] < cut_ns) {
        first++;
    }
    return first;
}

iw_status iwi_fit_durations(const iw_log *log, const iw_fit_opts *opts, struct iwi_fit_above above,
                            int64_t *duration_ns, size_t count, iw_durations *durations)
{
    int64_t *scratch = iwi_new_array(log, count, sizeof *scratch);
    iw_durations d = {.cut_ns = fmax(ceil(above.threshold_ns) - 0.5, 0.0), .best = IW_FIT_FIXED};
    iw_status status = IW_OK;
    size_t first;

    if (scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    for (iw_fit_law law = IW_FIT_FIXED; law < IW_FIT_LAWS; law++) {
        d.laws[law].law = law;
    }
    iwi_sort_ns(duration_ns, scratch, count);
    free(scratch);
    first = leave_out(duration_ns, count, fmax(d.cut_ns, 0.5));
    d.left_out = first;
    d.count = count - first;
    for (size_t i = 0; i < count; i++) {
        *(i < first ? &d.left_out_ns : &d.total_ns) += (double)duration_ns[i];
    }
    if (d.count > 0) {
        d.longest_ns = (double)duration_ns[count - 1];
        status = fit_laws(log, opts, above.random_share, &duration_ns[first], (size_t)d.count, &d);
    }
    if (status == IW_OK) {
        compare_tails(&duration_ns[first], (size_t)d.count, &d);
        status =
            iwi_duration_points_new(log, &duration_ns[first], (size_t)d.count, &d.points, &d.point_count);
    }
    if (status != IW_OK) {
        iwi_durations_release(&d);
        return status;
    }
    *durations = d;
    return IW_OK;
}

void iwi_durations_release(iw_durations *durations)
{
    free(durations->points);
    *durations = (iw_durations){.count = 0};
}

double iw_durations_above(const iw_durations *durations, iw_fit_law law, double ns)
{
    const iw_duration_fit *fit = &durations->laws[law];

    return ns <= durations->cut_ns
               ? 1.0
               : iwi_law_above(law, fit->scale_ns.value, fit->shape.value, ns) / fit->seen;
}
