/* Does a node stand out with a source at one place? How far is far, few nodes, many nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_judge.h"

/* ======== places ======== */

const struct iwi_fleet_node_cell *iwi_fleet_cell_of(const struct iwi_fleet_cells *cells, uint32_t node,
                                                    uint32_t family)
{
    for (size_t i = cells->first_cell[node]; i < cells->first_cell[node + 1]; i++) {
        if (cells->cells[i].family == family) {
            return &cells->cells[i];
        }
    }
    return NULL;
}

static uint32_t family_at(const struct iwi_fleet_trial *judge, size_t cell)
{
    const struct iwi_fleet_column *column = judge->place.column;

    return column != NULL ? column->cells[cell].family : judge->fleet->cells->cells[cell].family;
}

/* By family; in each they stay in the order of nodes. */
static iw_status sort_cells(struct iwi_fleet_trial *judge)
{
    const struct iwi_fleet_cells *cells = judge->fleet->cells;
    const size_t count = judge->place.column != NULL ? judge->place.column->count : cells->count;
    size_t *first = judge->first_entry;

    IW_TRY(iwi_grow(judge->log, (void **)&judge->sorted, &judge->sorted_capacity, count + 1,
                    sizeof *judge->sorted));
    memset(first, 0, (cells->family_count + 2) * sizeof *first);
    for (size_t i = 0; i < count; i++) {
        first[family_at(judge, i) + 2]++;
    }
    for (size_t family = 1; family <= cells->family_count; family++) {
        first[family + 1] += first[family];
    }
    for (size_t i = 0; i < count; i++) { /* family + 1 moves to the family's end, where the next begins */
        judge->sorted[first[family_at(judge, i) + 1]++] = (uint32_t)i;
    }
    return IW_OK;
}

static void add_node_cell(struct iwi_fleet_unit *unit, const struct iwi_fleet_node_cell *cell)
{
    unit->stretches = cell->stretches;
    for (size_t i = 0; i < IW_DIGEST_SUMS; i++) {
        unit->all.of[i] = cell->all[i];
        unit->steady.of[i] = cell->steady[i];
    }
}

static void add_column_cell(const struct iwi_digest_octave *octave, struct iwi_fleet_unit *unit,
                            const struct iwi_fleet_cell *cell)
{
    unit->stretches = cell->stretches;
    for (size_t i = 0; i < IW_DIGEST_SUMS; i++) {
        unit->all.of[i] = iwi_digest_value_in(octave, cell->all[i]);
        unit->steady.of[i] = iwi_digest_value_in(octave, cell->steady[i]);
    }
}

void iwi_fleet_gather(struct iwi_fleet_trial *judge, uint32_t family)
{
    const struct iwi_fleet_place *place = &judge->place;

    const bool have_all = judge->first_entry[family + 1] - judge->first_entry[family] == judge->node_count;

    for (size_t node = 0; node < judge->node_count && !have_all; node++) {
        struct iwi_fleet_unit *unit = &place->units[node];

        *unit = (struct iwi_fleet_unit){.node = unit->node, .length_ns = unit->length_ns};
    }
    for (size_t i = judge->first_entry[family]; i < judge->first_entry[family + 1]; i++) {
        const uint32_t number = judge->sorted[i];

        if (place->column != NULL) {
            const struct iwi_fleet_cell *cell = &place->column->cells[number];

            add_column_cell(&judge->fleet->cells->octave, &place->units[cell->node], cell);
        } else {
            const struct iwi_fleet_node_cell *cell = &judge->fleet->cells->cells[number];

            add_node_cell(&place->units[cell->node], cell);
        }
    }
}

static void find_median_longest(struct iwi_fleet_trial *judge)
{
    size_t count = 0;

    iwi_fleet_gather(judge, 0);
    for (size_t node = 0; node < judge->node_count; node++) {
        if (judge->place.units[node].length_ns > 0.0) {
            judge->scratch[count++] = judge->place.units[node].steady.of[IW_DIGEST_LONGEST];
        }
    }
    judge->place.median_longest_ns = count > 0 ? iwi_select_quantile(judge->scratch, count, 0.5) : 0.0;
}

iw_status iwi_fleet_go_to(struct iwi_fleet_trial *judge, const struct iwi_fleet_column *column)
{
    struct iwi_fleet_place *place = &judge->place;

    place->column = column;
    place->cpu = column != NULL ? column->cpu : 0;
    place->total_ns = 0.0;
    for (size_t node = 0; node < judge->node_count; node++) {
        place->units[node].node = (uint32_t)node;
        place->units[node].length_ns = column != NULL ? 0.0 : judge->fleet->nodes[node].watched_ns;
    }
    for (size_t i = 0; column != NULL && i < column->length_count; i++) {
        place->units[column->lengths[i].node].length_ns = column->lengths[i].length_ns;
    }
    for (size_t node = 0; node < judge->node_count; node++) {
        place->total_ns += place->units[node].length_ns;
    }
    IW_TRY(sort_cells(judge));
    find_median_longest(judge);
    return IW_OK;
}

/* ======== the tail of a fleet ======== */

/* Nothing is assumed of the law but that its tail is no heavier than it looks between the median and the 95th
 * percentile, and not lighter than a normal one. Nodes that do stand out are in the last percents, which do
 * not count; where they are more than one in twenty, the shape says exponential, which is the safe side.
 */

/* Fewer values do not tell a shape. */
enum { LEAST_FOR_SHAPE = 40 };

/* Of an exponential law: (p95 - p50) / (p75 - p50) = ln 10 / ln 2. */
static const double EXPONENTIAL_RATIO = 3.3219280948873626; /* to the power 1/shape for other shapes */

/* Of a normal law the ratio is 2.44, and its tail further out is lighter than this shape says. */
static const double NORMAL_RATIO = 2.4387;

/* Standard errors of normal samples, times sqrt(count): of gap / gap, and of the ratio. */
static const double GAP_ERROR = 2.1, RATIO_ERROR = 5.4;
static const double GAP_ERRORS = 1.5; /* so many are added */

/* (quartile - median)^2 of a normal law of variance 1. */
static const double SQUARED_GAP = 0.4549364231195727;

struct iwi_fleet_tail iwi_fleet_tail_fit(double *logs, size_t count, double least_variance,
                                         double least_shape)
{
    const double root = sqrt((double)count), median = iwi_select_quantile(logs, count, 0.5),
                 least_gap = sqrt(SQUARED_GAP * least_variance),
                 gap = fmax(iwi_select_quantile(logs, count, 0.75) - median, least_gap);
    struct iwi_fleet_tail tail = {median, gap * (1.0 + GAP_ERRORS * GAP_ERROR / root), 1.0};

    if (count >= LEAST_FOR_SHAPE) {
        const double far = iwi_select_quantile(logs, count, 0.95) - median,
                     ratio = fmax(far / gap + RATIO_ERROR / root, NORMAL_RATIO);

        tail.shape = fmax(log(EXPONENTIAL_RATIO) / log(ratio), least_shape);
    }
    return tail;
}

double iwi_fleet_tail_limit(const struct iwi_fleet_tail *tail, double p, double more_variance)
{
    const double gap = sqrt(tail->gap * tail->gap + SQUARED_GAP * fmax(more_variance, 0.0));

    return tail->median + gap * pow(log(0.5 / p) / M_LN2, 1.0 / tail->shape);
}

/* ======== alarms ======== */

/* A source that most nodes have all the time is judged by its values: on a logarithmic scale, against the
 * tail that the fleet itself shows. One that comes now and then is judged by how often it
 * came: if nodes are alike, each occurrence in the fleet is on any of them with the same probability, so
 * their number on one node is binomial.
 */

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

static double fleet_worth(iw_fleet_metric metric, double limit, double median)
{
    return fmax(limit, LEAST_FACTOR[metric] * median);
}

/* No fleet is more alike in its longest detours: 10 %. */
static const double VARIANCE_OF_LONGEST = 0.1 * 0.1;

/* All sources together are a sum of what hardly differs and what does: its tail begins late. */
static const double SHAPE_OF_SUMS = 0.5;

/* The part of the length that steady sums are about. */
static double fleet_steady_ns(double length_ns)
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

double iwi_fleet_unit_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    return unit->length_ns > 0.0 ? iwi_fleet_value(&unit->all, metric, unit->length_ns) : 0.0;
}

static double fleet_steady_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    return iwi_fleet_value(&unit->steady, metric, fleet_steady_ns(unit->length_ns));
}

/* Of the logarithm, by chance: of a sum of n random terms, and of a number n. */
static double fleet_chance(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
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

static iw_status fleet_raise(struct iwi_fleet_trial *judge, uint32_t node, uint32_t family,
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

static double fleet_steady_median(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                                  size_t count, iw_fleet_metric metric)
{
    return quantile_of(judge, units, count, fleet_steady_value, metric, 0.5);
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
                      .median = median_of(judge, units, count, fleet_steady_value, metric),
                      .median_variance = median_of(judge, units, count, fleet_chance, metric),
                      .median_length_ns = median_of(judge, units, count, length_of, metric)};

    for (size_t i = 0; i < count; i++) {
        judge->scratch[i] = log(fleet_steady_value(&units[i], metric));
    }
    law.tail = iwi_fleet_tail_fit(judge->scratch, count, fmax(law.median_variance, IWI_FLEET_LEAST_VARIANCE),
                                  least_shape);
    return law;
}

/* The longest of twice as many detours is longer: by ln 2 of the scale of an exponential tail. */
static double limit_of(const struct law *law, const struct iwi_fleet_unit *unit, double p)
{
    const double more_variance = fleet_chance(unit, law->metric) - law->median_variance;
    double limit = iwi_fleet_tail_limit(&law->tail, p, more_variance);

    if (law->metric == IW_FLEET_LONGEST && unit->length_ns > law->median_length_ns) {
        limit += law->tail.gap / M_LN2 * log(unit->length_ns / law->median_length_ns);
    }
    return fleet_worth(law->metric, exp(limit), law->median);
}

/* Whether it is enough above the others to be worth an alarm; the least value that is. */
static bool fleet_matters(const struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *unit,
                          iw_fleet_metric metric, double median_share)
{
    if (metric == IW_FLEET_LONGEST) {
        return unit->steady.of[IW_DIGEST_LONGEST] >= judge->place.median_longest_ns;
    }
    return fleet_steady_value(unit, IW_FLEET_SHARE) - median_share >= judge->fleet->opts.matters;
}

/* Few nodes are worth an alarm, and on most places none: the law of the others is asked for only then. */
static iw_status test_value(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                            uint32_t family, iw_fleet_metric metric, double median_share)
{
    const double worth = LEAST_FACTOR[metric] *
                         median_of(judge, units, count, iwi_fleet_unit_value, metric); /* as is printed */
    struct law law = {.median = NAN};

    for (size_t i = 0; i < count; i++) {
        double limit;

        if (!(iwi_fleet_unit_value(&units[i], metric) > worth &&
              fleet_matters(judge, &units[i], metric, median_share))) {
            continue;
        }
        if (isnan(law.median)) {
            law = law_of(judge, units, count, metric, family == 0 ? SHAPE_OF_SUMS : 1.0);
        }
        if (!(law.median > 0.0)) {
            break;
        }
        limit = limit_of(&law, &units[i], judge->p);
        if (fleet_steady_value(&units[i], metric) > limit) {
            IW_TRY(fleet_raise(judge, units[i].node, family, metric, limit));
        }
    }
    return IW_OK;
}

static iw_status test_values(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                             uint32_t family)
{
    const double median_share = fleet_steady_median(judge, units, count, IW_FLEET_SHARE);

    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        IW_TRY(test_value(judge, units, count, family, metric, median_share));
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
        if (!fleet_matters(judge, unit, metric, 0.0)) {
            metric = IW_FLEET_LONGEST;
        }
        if (metric == IW_FLEET_SHARE ||
            unit->steady.of[IW_DIGEST_LONGEST] >= LEAST_FACTOR[metric] * judge->place.median_longest_ns) {
            IW_TRY(fleet_raise(judge, unit->node, family, metric, NAN));
        }
    }
    return IW_OK;
}

/* ======== few nodes ======== */

/* A few nodes do not show the tail of their distribution. So each is compared with the mean of the others on
 * a logarithmic scale, by Student's t with their variance, which a few nodes do not show well either: what
 * nodes that are alike usually have is added to it with the weight of eight nodes (a moderated t). Whole
 * nodes only: the fewer the comparisons, the smaller the differences that can be told from chance.
 */

/* Nodes that are alike usually differ by a third. */
static const double USUAL_VARIANCE = 0.3 * 0.3, USUAL_FREEDOM = 8.0;

/* The longest of detours with a heavy tail is anything. */
static const double FEW_VARIANCE_OF_LONGEST = 0.5 * 0.5;

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
static double few_limit_of(const struct iwi_fleet_trial *judge, size_t node_count)
{
    return -iwi_t_quantile(judge->p, freedom_of(node_count)) * sqrt(1.0 + 1.0 / (double)(node_count - 1));
}

double iwi_fleet_few_factor(const struct iwi_fleet_trial *judge)
{
    return exp(few_limit_of(judge, judge->node_count) * sqrt(USUAL_VARIANCE));
}

/* By chance, of a node's own value and of those of the others. */
static double variance_by_chance(const struct iwi_fleet_unit *units, size_t own, size_t count,
                                 iw_fleet_metric metric)
{
    double sum = metric == IW_FLEET_LONGEST ? FEW_VARIANCE_OF_LONGEST : fleet_chance(&units[own], metric);

    for (size_t i = 0; i < count; i++) {
        if (i != own && units[i].steady.of[IW_DIGEST_COUNT] > 0.0) { /* none is none */
            sum += fleet_chance(&units[i], metric) / (double)(count - 1);
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
    return exp(mean + few_limit_of(judge, count) * sqrt(variance));
}

/* By what is always there, and by all that was recorded too: others whose noise came in bursts have no less
 * of it. */
static iw_status test_metric(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units, size_t count,
                             uint32_t family, iw_fleet_metric metric)
{
    const double median_share = fleet_steady_median(judge, units, count, IW_FLEET_SHARE),
                 median = fleet_steady_median(judge, units, count, metric);

    for (size_t i = 0; i < count; i++) {
        const double more = variance_by_chance(units, i, count, metric);
        const double limit = limit_against_others(judge, units, i, count, metric, fleet_steady_value, more);
        const double whole_limit =
            limit_against_others(judge, units, i, count, metric, iwi_fleet_unit_value, more);

        if (__builtin_popcount(units[i].stretches) >= LEAST_STRETCHES &&
            fleet_steady_value(&units[i], metric) > fleet_worth(metric, limit, median) &&
            iwi_fleet_unit_value(&units[i], metric) > whole_limit &&
            fleet_matters(judge, &units[i], metric, median_share)) {
            IW_TRY(fleet_raise(judge, units[i].node, family, metric, limit));
        }
    }
    return IW_OK;
}

/* The same of a fleet of a few nodes; units of nodes that have the place. */
static iw_status fleet_test_few(struct iwi_fleet_trial *judge, const struct iwi_fleet_unit *units,
                                size_t count, uint32_t family)
{
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        IW_TRY(test_metric(judge, units, count, family, metric));
    }
    return IW_OK;
}

/* ======== many nodes ======== */

/* The units of nodes that have the place. */
static const struct iwi_fleet_unit *list_units(struct iwi_fleet_trial *judge, size_t *count_p)
{
    const struct iwi_fleet_unit *units = judge->place.units;
    size_t count = 0;

    for (size_t node = 0; node < judge->node_count; node++) {
        count += units[node].length_ns > 0.0;
    }
    *count_p = count;
    if (count == judge->node_count) {
        return units;
    }
    count = 0;
    for (size_t node = 0; node < judge->node_count; node++) {
        if (units[node].length_ns > 0.0) {
            judge->having[count++] = units[node];
        }
    }
    return judge->having;
}

iw_status iwi_fleet_test(struct iwi_fleet_trial *judge, uint32_t family)
{
    size_t count, having = 0;
    const struct iwi_fleet_unit *units = list_units(judge, &count);

    if (judge->node_count < IW_FLEET_LEAST_NODES) {
        return count >= IW_FLEET_FEW_NODES ? fleet_test_few(judge, units, count, family) : IW_OK;
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
            judge->having[having++] = units[i];
        }
    }
    return having >= LEAST_HAVING ? test_values(judge, judge->having, having, family) : IW_OK;
}
