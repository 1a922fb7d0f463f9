/* Fleets of a few nodes: each node against the others.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A few nodes do not show the tail of their distribution. So each is compared with the mean of the others on
 * a logarithmic scale, by Student's t with their variance, which a few nodes do not show well either: what
 * nodes that are alike usually have is added to it with the weight of eight nodes (a moderated t). Whole
 * nodes only: the fewer the comparisons, the smaller the differences that can be told from chance.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "features/fleet/fleet_judge.h"

/* Nodes that are alike usually differ by a third. */
static const double USUAL_VARIANCE = 0.3 * 0.3, USUAL_FREEDOM = 8.0;

/* The longest of detours with a heavy tail is anything. */
static const double VARIANCE_OF_LONGEST = 0.5 * 0.5;

/* What comes more rarely on a node may come by chance there and not on the few others. */
enum { LEAST_STRETCHES = 15 };

/* Rates and lengths below these are as good as none. */
static const double LEAST_RATE_HZ = 0.1, LEAST_LONGEST_NS = 1e3;

static double floor_of(const struct iwi_fleet_trial *judge, iw_fleet_metric metric)
{
    switch (metric) {
    case IW_FLEET_SHARE: return iwi_fleet_share_floor(judge->fleet->opts.matters);
    case IW_FLEET_RATE: return LEAST_RATE_HZ;
    default: return LEAST_LONGEST_NS;
    }
}

static double freedom_of(size_t node_count)
{
    return USUAL_FREEDOM + (double)(node_count - 2);
}

/* Of the difference to the mean of the others, in units of their standard deviation. */
static double limit_of(const struct iwi_fleet_trial *judge, size_t node_count)
{
    return -iwi_t_quantile(judge->p, freedom_of(node_count)) * sqrt(1.0 + 1.0 / (double)(node_count - 1));
}

double iwi_fleet_few_factor(const struct iwi_fleet_trial *judge)
{
    return exp(limit_of(judge, judge->node_count) * sqrt(USUAL_VARIANCE));
}

/* By chance, of a node's own value and of those of the others. */
static double variance_by_chance(const struct iwi_fleet_unit *units, size_t own, size_t count,
                                 iw_fleet_metric metric)
{
    double sum = metric == IW_FLEET_LONGEST ? VARIANCE_OF_LONGEST : iwi_fleet_chance(&units[own], metric);

    for (size_t i = 0; i < count; i++) {
        if (i != own && units[i].steady.of[IW_DIGEST_COUNT] > 0.0) { /* none is none */
            sum += iwi_fleet_chance(&units[i], metric) / (double)(count - 1);
        }
    }
    return sum;
}

typedef double (*value_fn)(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);

/* What a node stands out from, by one of its values against those of the others; `more`: variance by chance.
 */
static double limit_against_others(const struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                                   size_t own, size_t count, iw_fleet_metric metric, value_fn of, double more)
{
    double *logs = judge->scratch, mean = 0.0, squares = 0.0, variance;

    for (size_t i = 0; i < count; i++) {
        logs[i] = log(fmax(of(&units[i], metric), floor_of(judge, metric)));
        mean += i != own ? logs[i] / (double)(count - 1) : 0.0;
    }
    for (size_t i = 0; i < count; i++) {
        squares += i != own ? (logs[i] - mean) * (logs[i] - mean) : 0.0;
    }
    variance = (USUAL_FREEDOM * (USUAL_VARIANCE + more) + squares) / freedom_of(count);
    return exp(mean + limit_of(judge, count) * sqrt(variance));
}

/* By what is always there, and by all that was recorded too: others whose noise came in bursts have no less
 * of it. */
static iw_status test_metric(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                             uint32_t family, iw_fleet_metric metric)
{
    const double median_share = iwi_fleet_steady_median(judge, units, count, IW_FLEET_SHARE),
                 median = iwi_fleet_steady_median(judge, units, count, metric);

    for (size_t i = 0; i < count; i++) {
        const double more = variance_by_chance(units, i, count, metric);
        const double limit =
            limit_against_others(judge, units, i, count, metric, iwi_fleet_steady_value, more);
        const double whole_limit =
            limit_against_others(judge, units, i, count, metric, iwi_fleet_unit_value, more);

        if (__builtin_popcount(units[i].stretches) >= LEAST_STRETCHES &&
            iwi_fleet_steady_value(&units[i], metric) > iwi_fleet_worth(metric, limit, median) &&
            iwi_fleet_unit_value(&units[i], metric) > whole_limit &&
            iwi_fleet_matters(judge, &units[i], metric, median_share)) {
            IW_TRY(iwi_fleet_raise(judge, units[i].node, family, metric, limit));
        }
    }
    return IW_OK;
}

iw_status iwi_fleet_test_few(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                             uint32_t family)
{
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        IW_TRY(test_metric(judge, units, count, family, metric));
    }
    return IW_OK;
}
