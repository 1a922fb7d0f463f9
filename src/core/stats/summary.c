/* Quantiles of samples, and the interval of the median by order statistics.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/estimate.h>
#include <idlewave/sim.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/mean_interval.h"

static const double LEVEL = 0.95;

/* From here on the normal law stands in for the binomial one, and differs by less than a place. */
enum { MANY = 1000000 };

double iw_quantile_sorted(const double *sorted, size_t count, double q)
{
    return iwi_quantile_of_sorted(sorted, count, q);
}

/* ---- the median ---- */

/* How likely fewer than `place` of `count` values are below their median. */
static double chance_below(size_t place, size_t count)
{
    if (place == 0) {
        return 0.0;
    }
    if (count > MANY) {
        const double n = (double)count;

        return iwi_normal_below(((double)place - 0.5 - 0.5 * n) / (0.5 * sqrt(n)));
    }
    return iwi_binomial_below(place - 1, 0.5, count);
}

/* From the place-th lowest to the place-th highest value: neither end is on the wrong side of the median. */
static double level_of(size_t place, size_t count)
{
    return 1.0 - 2.0 * chance_below(place, count);
}

/* The narrowest that has the level; 0: none has. */
static size_t place_of(size_t count)
{
    size_t place;

    IWI_FIRST_NOT(place, 1, count / 2 + 1, level_of(place, count) >= LEVEL);
    return place - 1;
}

double iw_median_level(size_t count)
{
    const size_t place = count < IW_LEAST_TRIALS ? 0 : place_of(count);

    return place > 0 ? level_of(place, count) : NAN;
}

static void fill_median_interval(const double *sorted, iw_summary *s)
{
    const size_t place = s->count < IW_LEAST_TRIALS ? 0 : place_of(s->count);

    s->median_low = place > 0 ? sorted[place - 1] : NAN;
    s->median_high = place > 0 ? sorted[s->count - place] : NAN;
}

/* ---- all ---- */

iw_status iw_summarize(const iw_log *log, const double *values, size_t count, iw_summary *summary_p)
{
    double *sorted = iwi_new_array(log, count, sizeof *sorted);
    iw_summary s = {.count = count};
    iw_estimate mean;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(sorted, values, count * sizeof *sorted);
    iwi_sort_doubles(sorted, count);
    mean = iwi_mean_estimate(sorted, count);
    s.min = sorted[0];
    s.q1 = iw_quantile_sorted(sorted, count, 0.25);
    s.median = iw_quantile_sorted(sorted, count, 0.5);
    s.q3 = iw_quantile_sorted(sorted, count, 0.75);
    s.max = sorted[count - 1];
    s.mean = mean.value;
    s.mean_low = mean.low;
    s.mean_high = mean.high;
    fill_median_interval(sorted, &s);
    free(sorted);
    *summary_p = s;
    return IW_OK;
}

iw_status iw_summarize_trials(const iw_log *log, const iw_sim_result *result, iw_summary *makespan_ns_p)
{
    double *values_ns = iwi_new_array(log, result->trials, sizeof *values_ns);
    iw_status status;

    if (values_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < result->trials; i++) {
        values_ns[i] = (double)result->makespan_ps[i] / (double)IW_PS_PER_NS;
    }
    status = iw_summarize(log, values_ns, result->trials, makespan_ns_p);
    free(values_ns);
    return status;
}
