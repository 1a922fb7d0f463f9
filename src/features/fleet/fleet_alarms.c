/* Which units of a place stand out with one source.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A source that most nodes have all the time is judged by its values: on a logarithmic scale, against the
 * tail that the fleet itself shows (fleet_tail.h). One that comes now and then is judged by how often it
 * came: if nodes are alike, each occurrence in the fleet is on any of them with the same probability, so
 * their number on one node is binomial.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_judge.h"
#include "features/fleet/fleet_tail.h"

enum {
    STEADY_STRETCHES = 8, /* a source that comes in so many on three nodes of four is always there */
    LEAST_OCCURRENCES = 3,
    LEAST_HAVING = 20 /* nodes with a rare source that can be compared with each other */
};

/* Nodes that are alike may still differ so much in how often a rare source comes. */
static const double RATE_SPREAD = 4.0;

/* What is worth an alarm, beside the share of time that it takes. */
static const double LEAST_FACTOR[IW_FLEET_METRICS] = {1.5, 1.5, 4.0};

double iwi_fleet_share_floor(double matters)
{
    static const double PART_THAT_MATTERS = 0.1, LEAST_SHARE = 1e-6;

    return fmax(PART_THAT_MATTERS * matters, LEAST_SHARE);
}

double iwi_fleet_worth(iw_fleet_metric metric, double limit, double median)
{
    return fmax(limit, LEAST_FACTOR[metric] * median);
}

/* No fleet is more alike in its longest detours: 10 %. */
static const double VARIANCE_OF_LONGEST = 0.1 * 0.1;

/* All sources together are a sum of what hardly differs and what does: its tail begins late. */
static const double SHAPE_OF_SUMS = 0.5;

double iwi_fleet_steady_ns(double length_ns)
{
    return length_ns * (double)(IW_DIGEST_STRETCHES - IWI_DIGEST_BURST) / IW_DIGEST_STRETCHES;
}

double iwi_fleet_value(const struct iwi_digest_sums *sums, iw_fleet_metric metric, double length_ns)
{
    switch (metric) {
    case IW_FLEET_SHARE: return sums->of[IW_DIGEST_BUSY] / length_ns;
    case IW_FLEET_RATE: return sums->of[IW_DIGEST_COUNT] / length_ns * 1e9;
    default: return sums->of[IW_DIGEST_LONGEST];
    }
}

double iwi_fleet_steady_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    return iwi_fleet_value(&unit->steady, metric, iwi_fleet_steady_ns(unit->length_ns));
}

/* Of the logarithm, by chance: of a sum of n random terms, and of a number n. */
double iwi_fleet_chance(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    const struct iwi_digest_sums *sums = &unit->steady;

    switch (metric) {
    case IW_FLEET_SHARE:
        return sums->of[IW_DIGEST_BUSY] > 0.0
                   ? sums->of[IW_DIGEST_SQUARE] / (sums->of[IW_DIGEST_BUSY] * sums->of[IW_DIGEST_BUSY])
                   : 1.0;
    case IW_FLEET_RATE: return sums->of[IW_DIGEST_COUNT] > 0.0 ? 1.0 / sums->of[IW_DIGEST_COUNT] : 1.0;
    default: return VARIANCE_OF_LONGEST;
    }
}

iw_status iwi_fleet_raise(struct iwi_fleet_trial *judge, uint32_t node, uint32_t family,
                          iw_fleet_metric metric, double limit)
{
    IW_TRY(iwi_grow(judge->log, (void **)&judge->alarms, &judge->alarm_capacity, judge->alarm_count + 1,
                    sizeof *judge->alarms));
    judge->alarms[judge->alarm_count++] =
        (struct iwi_fleet_alarm){node, family, judge->place.cpu, judge->place.column != NULL, metric, limit};
    return IW_OK;
}

/* ---- a source that is always there ---- */

struct law {
    iw_fleet_metric metric;
    struct iwi_fleet_tail tail;
    double median;          /* of the values */
    double median_share;    /* steady */
    double median_variance; /* by chance */
    double median_length_ns;
};

typedef double (*unit_fn)(const struct iwi_fleet_unit *unit, iw_fleet_metric metric);

static double quantile_of(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                          unit_fn of, iw_fleet_metric metric, double q)
{
    for (size_t i = 0; i < count; i++) {
        judge->scratch[i] = of(&units[i], metric);
    }
    return iwi_select_quantile(judge->scratch, count, q);
}

double iwi_fleet_steady_median(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                               size_t count, iw_fleet_metric metric)
{
    return quantile_of(judge, units, count, iwi_fleet_steady_value, metric, 0.5);
}

static double median_of(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                        unit_fn of, iw_fleet_metric metric)
{
    return quantile_of(judge, units, count, of, metric, 0.5);
}

static double length_of(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    (void)metric;
    return unit->length_ns;
}

static double stretches_of(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    (void)metric;
    return (double)__builtin_popcount(unit->stretches);
}

/* How often it came: what lasts for up to IWI_DIGEST_BURST stretches is one occurrence, and each further
 * stretch one more. */
static double occurrences_of(const struct iwi_fleet_unit *unit)
{
    unsigned count = 0, run = 0;

    for (unsigned i = 0; i < IW_DIGEST_STRETCHES; i++) {
        run = (unit->stretches >> i) & 1U ? run + 1 : 0;
        count += run == 1 || run > IWI_DIGEST_BURST;
    }
    return count;
}

static struct law law_of(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                         iw_fleet_metric metric, double least_shape)
{
    struct law law = {.metric = metric,
                      .median = median_of(judge, units, count, iwi_fleet_steady_value, metric),
                      .median_share = median_of(judge, units, count, iwi_fleet_steady_value, IW_FLEET_SHARE),
                      .median_variance = median_of(judge, units, count, iwi_fleet_chance, metric),
                      .median_length_ns = median_of(judge, units, count, length_of, metric)};

    for (size_t i = 0; i < count; i++) {
        judge->scratch[i] = log(iwi_fleet_steady_value(&units[i], metric));
    }
    law.tail = iwi_fleet_tail_fit(judge->scratch, count, fmax(law.median_variance, IWI_FLEET_LEAST_VARIANCE),
                                  least_shape);
    return law;
}

/* The longest of twice as many detours is longer: by ln 2 of the scale of an exponential tail. */
static double limit_of(const struct law *law, const struct iwi_fleet_unit *unit, double p)
{
    const double more_variance = iwi_fleet_chance(unit, law->metric) - law->median_variance;
    double limit = iwi_fleet_tail_limit(&law->tail, p, more_variance);

    if (law->metric == IW_FLEET_LONGEST && unit->length_ns > law->median_length_ns) {
        limit += law->tail.gap / M_LN2 * log(unit->length_ns / law->median_length_ns);
    }
    return iwi_fleet_worth(law->metric, exp(limit), law->median);
}

bool iwi_fleet_matters(const struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *unit,
                       iw_fleet_metric metric, double median_share)
{
    if (metric == IW_FLEET_LONGEST) {
        return unit->steady.of[IW_DIGEST_LONGEST] >= judge->place.median_longest_ns;
    }
    return iwi_fleet_steady_value(unit, IW_FLEET_SHARE) - median_share >= judge->fleet->opts.matters;
}

static iw_status test_values(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                             uint32_t family)
{
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        const double median = median_of(judge, units, count, iwi_fleet_unit_value, metric);
        const struct law law = law_of(judge, units, count, metric, family == 0 ? SHAPE_OF_SUMS : 1.0);

        if (!(law.median > 0.0)) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            const double limit = limit_of(&law, &units[i], judge->p);

            if (iwi_fleet_steady_value(&units[i], metric) > limit &&
                iwi_fleet_unit_value(&units[i], metric) > LEAST_FACTOR[metric] * median && /* as is printed */
                iwi_fleet_matters(judge, &units[i], metric, law.median_share)) {
                IW_TRY(iwi_fleet_raise(judge, units[i].node, family, metric, limit));
            }
        }
    }
    return IW_OK;
}

/* ---- a source that comes now and then ---- */

static iw_status test_occurrences(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                                  size_t count, uint32_t family)
{
    double occurrences = 0.0;

    for (size_t i = 0; i < count; i++) {
        occurrences += occurrences_of(&units[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct iwi_fleet_unit *unit = &units[i];
        const double part = fmin(RATE_SPREAD * unit->length_ns / judge->place.total_ns, 1.0),
                     own = occurrences_of(unit);
        iw_fleet_metric metric = IW_FLEET_SHARE;

        if (own < LEAST_OCCURRENCES ||
            iwi_binomial_above((uint64_t)own - 1, part, (uint64_t)occurrences) > judge->p) {
            continue;
        }
        if (!iwi_fleet_matters(judge, unit, metric, 0.0)) {
            metric = IW_FLEET_LONGEST;
        }
        if (metric == IW_FLEET_SHARE ||
            unit->steady.of[IW_DIGEST_LONGEST] >= LEAST_FACTOR[metric] * judge->place.median_longest_ns) {
            IW_TRY(iwi_fleet_raise(judge, unit->node, family, metric, NAN));
        }
    }
    return IW_OK;
}

iw_status iwi_fleet_test(struct iwi_fleet_trial *judge, uint32_t family)
{
    struct iwi_fleet_unit *units = judge->having;
    size_t count = 0, having = 0;

    for (size_t node = 0; node < judge->node_count; node++) {
        if (judge->place.units[node].length_ns > 0.0) {
            units[count++] = judge->place.units[node];
        }
    }
    if (judge->node_count < IW_FLEET_LEAST_NODES) {
        return count >= IW_FLEET_FEW_NODES ? iwi_fleet_test_few(judge, units, count, family) : IW_OK;
    }
    if (count < IW_FLEET_LEAST_NODES) {
        return IW_OK;
    }
    if (quantile_of(judge, units, count, stretches_of, IW_FLEET_SHARE, 0.25) >= STEADY_STRETCHES) {
        return test_values(judge, units, count, family);
    }
    if (judge->place.column == NULL || judge->is_placed[family]) {
        IW_TRY(test_occurrences(judge, units, count, family));
    }
    for (size_t i = 0; i < count; i++) {
        if (stretches_of(&units[i], IW_FLEET_SHARE) >= STEADY_STRETCHES) {
            units[having++] = units[i];
        }
    }
    return having >= LEAST_HAVING ? test_values(judge, units, having, family) : IW_OK;
}
