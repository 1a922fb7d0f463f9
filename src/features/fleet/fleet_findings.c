/* What is said of a fleet: facts and differences of nodes, sources, alarms as findings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_judge.h"
#include "features/fleet/fleet_share.h"

/* ======== the fleet as a whole ======== */

iw_spread iwi_fleet_spread(double *values, size_t count)
{
    return (iw_spread){iwi_select_quantile(values, count, 0.0),  iwi_select_quantile(values, count, 0.25),
                       iwi_select_quantile(values, count, 0.5),  iwi_select_quantile(values, count, 0.75),
                       iwi_select_quantile(values, count, 0.95), iwi_select_quantile(values, count, 1.0)};
}

/* Values of all nodes that have the place, into the scratch; returns how many. */
static size_t list_values(struct iwi_fleet_trial *judge, iw_fleet_metric metric)
{
    size_t count = 0;

    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        if (judge->place.units[node].length_ns > 0.0) {
            judge->scratch[count++] = iwi_fleet_unit_value(&judge->place.units[node], metric);
        }
    }
    return count;
}

/* Of the units of the place. */
static double fleet_median_value(struct iwi_fleet_trial *judge, iw_fleet_metric metric)
{
    const size_t count = list_values(judge, metric);

    return count > 0 ? iwi_select_quantile(judge->scratch, count, 0.5) : 0.0;
}

/* The place is the node as a whole: */
static void fleet_describe_nodes(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    iwi_fleet_gather(judge, 0);
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        size_t count;

        for (size_t node = 0; node < fleet->node_count; node++) {
            fleet->nodes[node].value[metric] = iwi_fleet_unit_value(&judge->place.units[node], metric);
        }
        count = list_values(judge, metric);
        if (count > 0) {
            fleet->spread[metric] = iwi_fleet_spread(judge->scratch, count);
        }
    }
    fleet->watched_ns = judge->place.total_ns;
}

const iw_source *iwi_fleet_source_of(const struct iwi_fleet_cells *cells, uint32_t family)
{
    const struct iwi_fleet_family *f = &cells->families[family];

    return f->has_other_names ? &f->pattern : &cells->names[f->first_name].source;
}

static iw_detour_lengths fleet_lengths_of(const struct iwi_fleet_node_cell *cell)
{
    return (iw_detour_lengths){cell->median_ns, cell->p99_ns, cell->all[IW_DIGEST_LONGEST]};
}

typedef double (*length_fn)(iw_detour_lengths lengths);

static double median_of(iw_detour_lengths lengths)
{
    return lengths.median_ns;
}

static double p99_of(iw_detour_lengths lengths)
{
    return lengths.p99_ns;
}

static double longest_of(iw_detour_lengths lengths)
{
    return lengths.longest_ns;
}

static double usual(struct iwi_fleet_trial *judge, uint32_t family, const bool *is_left_out, length_fn of)
{
    size_t count = 0;

    for (size_t i = judge->first_entry[family]; i < judge->first_entry[family + 1]; i++) {
        const struct iwi_fleet_node_cell *cell = &judge->fleet->cells->cells[judge->sorted[i]];

        if (is_left_out == NULL || !is_left_out[cell->node]) {
            judge->scratch[count++] = of(fleet_lengths_of(cell));
        }
    }
    return count > 0 ? iwi_select_quantile(judge->scratch, count, 0.5) : 0.0;
}

/* How long detours of a family are: medians of the nodes that have it, but for those left out (NULL: none).
 * The place is the node as a whole. */
static iw_detour_lengths fleet_usual_lengths(struct iwi_fleet_trial *judge, uint32_t family,
                                             const bool *is_left_out)
{
    return (iw_detour_lengths){usual(judge, family, is_left_out, median_of),
                               usual(judge, family, is_left_out, p99_of),
                               usual(judge, family, is_left_out, longest_of)};
}

struct ranked {
    iw_fleet_source source;
    double mean;
};

IWI_COMPARE(larger_mean_first, struct ranked, IWI_FALLING(mean))

/* Of the family that the units hold. */
static struct ranked describe_source(struct iwi_fleet_trial *judge, uint32_t family)
{
    struct ranked ranked = {.source = {.source = *iwi_fleet_source_of(judge->fleet->cells, family)}};
    const size_t count = list_values(judge, IW_FLEET_SHARE);

    for (size_t i = 0; i < count; i++) {
        ranked.mean += judge->scratch[i];
        ranked.source.node_count += judge->scratch[i] > 0.0;
    }
    if (count > 0) {
        ranked.source.share = iwi_fleet_spread(judge->scratch, count);
    }
    ranked.source.lengths = fleet_usual_lengths(judge, family, NULL);
    return ranked;
}

static iw_status fleet_describe_sources(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    const size_t family_count = fleet->cells->family_count;
    struct ranked *ranked = iwi_new_array(judge->log, family_count, sizeof *ranked);

    fleet->sources = iwi_new_array(judge->log, family_count, sizeof *fleet->sources);
    if (ranked == NULL || fleet->sources == NULL) {
        free(ranked);
        return IW_ERR_NOMEM;
    }
    for (uint32_t family = 1; family < family_count; family++) {
        iwi_fleet_gather(judge, family);
        ranked[family - 1] = describe_source(judge, family);
    }
    iwi_sort(ranked, family_count - 1, larger_mean_first);
    for (size_t i = 0; i + 1 < family_count && ranked[i].mean > 0.0; i++) {
        fleet->sources[fleet->source_count++] = ranked[i].source;
    }
    free(ranked);
    return IW_OK;
}

/* ======== not noisier, but different ======== */

/* A source of so many of the nodes, on all of them in so many stretches, is missing where it is not. */
static const double NEARLY_ALL = 0.95;
enum { MISSED_STRETCHES = 10 };

/* Less than chance, and by so much that it tells something. */
static const double QUIETER_FACTOR = 1.5;

static iw_status add(struct iwi_fleet_trial *judge, iw_fleet *fleet, const iw_fleet_difference *difference)
{
    IW_TRY(iwi_grow(judge->log, (void **)&fleet->differences, &fleet->cells->difference_capacity,
                    fleet->difference_count + 1, sizeof *fleet->differences));
    fleet->differences[fleet->difference_count++] = *difference;
    return IW_OK;
}

/* Of the family that the units hold. */
static iw_status find_missing(struct iwi_fleet_trial *judge, iw_fleet *fleet, uint32_t family)
{
    const double median = fleet_median_value(judge, IW_FLEET_SHARE);
    size_t usual = 0;

    for (size_t node = 0; node < fleet->node_count; node++) {
        usual += __builtin_popcount(judge->place.units[node].stretches) >= MISSED_STRETCHES;
    }
    if ((double)usual < NEARLY_ALL * (double)fleet->node_count) {
        return IW_OK;
    }
    for (size_t node = 0; node < fleet->node_count; node++) {
        if (!(judge->place.units[node].all.of[IW_DIGEST_COUNT] > 0.0)) {
            IW_TRY(add(judge, fleet,
                       &(iw_fleet_difference){IW_FLEET_MISSING, fleet->nodes[node].name,
                                              *iwi_fleet_source_of(fleet->cells, family), 0.0, median}));
        }
    }
    return IW_OK;
}

/* Of all sources together, which the units hold: the lower tail is the upper one of 1 / share. */
static iw_status find_quieter(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    const double median = fleet_median_value(judge, IW_FLEET_SHARE);
    struct iwi_fleet_tail tail;
    size_t count = 0;

    for (size_t node = 0; node < fleet->node_count; node++) {
        if (fleet->nodes[node].value[IW_FLEET_SHARE] > 0.0) {
            judge->scratch[count++] = -log(fleet->nodes[node].value[IW_FLEET_SHARE]);
        }
    }
    if (count < IW_FLEET_LEAST_NODES || 2 * count < fleet->node_count) {
        return IW_OK;
    }
    tail = iwi_fleet_tail_fit(judge->scratch, count, IWI_FLEET_LEAST_VARIANCE, 1.0);
    for (size_t node = 0; node < fleet->node_count; node++) {
        const double share = fleet->nodes[node].value[IW_FLEET_SHARE];

        if (-log(share) > iwi_fleet_tail_limit(&tail, judge->p, 0.0) && QUIETER_FACTOR * share < median) {
            IW_TRY(add(judge, fleet,
                       &(iw_fleet_difference){.kind = IW_FLEET_QUIETER,
                                              .node = fleet->nodes[node].name,
                                              .value = share,
                                              .median = median}));
        }
    }
    return IW_OK;
}

static iw_status fleet_find_differences(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        return IW_OK;
    }
    iwi_fleet_gather(judge, 0);
    IW_TRY(find_quieter(judge, fleet));
    for (uint32_t family = 1; family < fleet->cells->family_count; family++) {
        iwi_fleet_gather(judge, family);
        IW_TRY(find_missing(judge, fleet, family));
    }
    return IW_OK;
}

/* ======== what stands out ======== */

/* A CPU with so much of a source's time on a node is the one to name. */
static const double MOST_OF_IT = 0.75;

/* A finding while its evidence is collected. */
struct pending {
    iw_fleet_finding finding;
    uint32_t node, family;
};

struct pendings {
    struct iwi_fleet_trial *judge;
    size_t count, capacity;
    struct pending *list;
    bool *is_flagged;    /* by node: it has an alarm about the family at hand */
    double *node_excess; /* by node: of its findings, the largest */
};

/* ---- alarms become findings ---- */

IWI_COMPARE(by_node_family_metric, struct iwi_fleet_alarm, IWI_RISING(node), IWI_RISING(family),
            IWI_RISING(metric), IWI_RISING(is_cpu), IWI_RISING(cpu))

/* Which name and which CPU of the node have most of the family's time. */
static void find_largest(const iw_fleet *fleet, const struct iwi_fleet_alarm *alarm,
                         iw_fleet_finding *finding)
{
    const struct iwi_fleet_node_cell *cell = iwi_fleet_cell_of(fleet->cells, alarm->node, alarm->family);

    finding->source = fleet->cells->names[cell->name].source;
    finding->cpu = cell->top_cpu;
    finding->has_cpu = fleet->nodes[alarm->node].cpu_count > 1 &&
                       (double)cell->top_ns >= MOST_OF_IT * cell->all[IW_DIGEST_BUSY];
}

/* Of the alarms [begin, end) about one family on one node, which are sorted by metric. */
static iw_status add_finding(struct pendings *p, size_t begin, size_t end)
{
    const struct iwi_fleet_trial *judge = p->judge;
    const struct iwi_fleet_alarm *first = &judge->alarms[begin];
    iw_fleet_finding finding = {.node = judge->fleet->nodes[first->node].name,
                                .is_all = first->family == 0,
                                .metric = first->metric,
                                .limit = NAN};
    bool is_of_one_cpu = true;

    find_largest(judge->fleet, first, &finding);
    for (size_t i = begin; i < end; i++) {
        is_of_one_cpu &= judge->alarms[i].is_cpu && judge->alarms[i].cpu == first->cpu;
    }
    if (is_of_one_cpu) {
        finding.has_cpu = true;
        finding.cpu = first->cpu;
    }
    for (size_t i = end; i-- > begin;) {
        const struct iwi_fleet_alarm *alarm = &judge->alarms[i];

        if (alarm->metric == finding.metric && alarm->is_cpu == finding.has_cpu &&
            (!alarm->is_cpu || alarm->cpu == finding.cpu)) {
            finding.limit = alarm->limit;
        }
    }
    IW_TRY(iwi_grow(judge->log, (void **)&p->list, &p->capacity, p->count + 1, sizeof *p->list));
    p->list[p->count++] = (struct pending){finding, first->node, first->family};
    return IW_OK;
}

/* All sources together are a finding only where no single one is. */
static iw_status add_findings(struct pendings *p)
{
    struct iwi_fleet_trial *judge = p->judge;
    size_t end;

    iwi_sort(judge->alarms, judge->alarm_count, by_node_family_metric);
    for (size_t begin = 0; begin < judge->alarm_count; begin = end) {
        const struct iwi_fleet_alarm *first = &judge->alarms[begin];

        for (end = begin + 1; end < judge->alarm_count && judge->alarms[end].node == first->node &&
                              judge->alarms[end].family == first->family;
             end++) {
        }
        if (first->family == 0 && end < judge->alarm_count && judge->alarms[end].node == first->node) {
            continue;
        }
        IW_TRY(add_finding(p, begin, end));
    }
    return IW_OK;
}

/* ---- evidence ---- */

IWI_COMPARE(by_family, struct pending, IWI_RISING(family), IWI_RISING(node))

static int by_place_family(const void *a, const void *b)
{
    const struct pending *x = a, *y = b;
    int sign = iwi_order(x->finding.has_cpu, y->finding.has_cpu);

    sign = sign != 0 || !x->finding.has_cpu ? sign : iwi_order(x->finding.cpu, y->finding.cpu);
    return sign != 0 ? sign : by_family(a, b);
}

/* The numbers of the fleet at the finding's place, which holds its family. */
static void add_evidence(const struct pendings *p, struct pending *pending)
{
    struct iwi_fleet_trial *judge = p->judge;
    const struct iwi_fleet_unit *own = &judge->place.units[pending->node];
    iw_fleet_finding *finding = &pending->finding;

    finding->value = iwi_fleet_unit_value(own, finding->metric);
    finding->median = fleet_median_value(judge, finding->metric);
    finding->excess_share =
        iwi_fleet_unit_value(own, IW_FLEET_SHARE) - fleet_median_value(judge, IW_FLEET_SHARE);
    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        const struct iwi_fleet_unit *unit = &judge->place.units[node];

        finding->having_count += unit->all.of[IW_DIGEST_COUNT] > 0.0;
        if (unit->length_ns > 0.0 && !p->is_flagged[node]) {
            finding->others_count++;
            finding->others_max = fmax(finding->others_max, iwi_fleet_unit_value(unit, finding->metric));
        }
    }
}

/* Nodes with an alarm about a family. */
static void flag(const struct pendings *p, uint32_t family)
{
    const struct iwi_fleet_trial *judge = p->judge;

    memset(p->is_flagged, 0, judge->fleet->node_count * sizeof *p->is_flagged);
    for (size_t i = 0; i < judge->alarm_count; i++) {
        if (judge->alarms[i].family == family) {
            p->is_flagged[judge->alarms[i].node] = true;
        }
    }
}

static void hold_family(const struct pendings *p, uint32_t family)
{
    iwi_fleet_gather(p->judge, family);
    flag(p, family);
}

static iw_status go_to_place(struct iwi_fleet_trial *judge, const iw_fleet_finding *finding)
{
    const struct iwi_fleet_column *column = NULL;

    if (finding->has_cpu) {
        IW_TRY(iwi_fleet_bring_column(judge->log, judge->fleet, finding->cpu, &column));
    }
    return iwi_fleet_go_to(judge, column);
}

static bool is_at(const struct pending *pending, const struct pending *other)
{
    return other != NULL && other->finding.has_cpu == pending->finding.has_cpu &&
           (!other->finding.has_cpu || other->finding.cpu == pending->finding.cpu);
}

/* The CPUs whose columns the first process is going to need, in order. */
static iw_status tell_cpus(const struct pendings *p)
{
    struct iwi_fleet_share *share = p->judge->fleet->cells->share;
    struct iwi_parcel cpus = {.at = 0};
    iw_status status = IW_OK;

    for (size_t i = 0; i < p->count && status == IW_OK; i++) {
        const struct pending *pending = &p->list[i];

        if (pending->finding.has_cpu && !is_at(pending, i > 0 ? &p->list[i - 1] : NULL)) {
            status = iwi_parcel_put(p->judge->log, &cpus, &pending->finding.cpu, sizeof pending->finding.cpu);
        }
    }
    status = status == IW_OK && share != NULL ? iwi_share_spread(share, &cpus) : status;
    iwi_bytes_release(&cpus.bytes);
    return status;
}

static iw_status bring_columns(struct iwi_fleet_trial *judge, struct iwi_parcel *cpus)
{
    IW_TRY(iwi_share_spread(judge->fleet->cells->share, cpus));
    while (!iwi_parcel_is_empty(cpus)) {
        const struct iwi_fleet_column *column;
        uint32_t cpu;

        IW_TRY(iwi_parcel_take(judge->log, cpus, &cpu, sizeof cpu));
        IW_TRY(iwi_fleet_bring_column(judge->log, judge->fleet, cpu, &column));
    }
    return IW_OK;
}

iw_status iwi_fleet_help_to_conclude(struct iwi_fleet_trial *judge)
{
    struct iwi_parcel cpus = {.at = 0};
    const iw_status status = bring_columns(judge, &cpus);

    iwi_bytes_release(&cpus.bytes);
    return status;
}

static iw_status add_all_evidence(struct pendings *p)
{
    const struct pending *last = NULL;

    iwi_sort(p->list, p->count, by_place_family);
    IW_TRY(tell_cpus(p));
    for (size_t i = 0; i < p->count; i++) {
        struct pending *pending = &p->list[i];
        const bool is_there = is_at(pending, last);

        if (!is_there) {
            IW_TRY(go_to_place(p->judge, &pending->finding));
        }
        if (!is_there || last->family != pending->family) {
            hold_family(p, pending->family);
        }
        add_evidence(p, pending);
        p->node_excess[pending->node] = fmax(p->node_excess[pending->node], pending->finding.excess_share);
        last = pending;
    }
    return IW_OK;
}

/* Digests tell them of whole nodes. */
static iw_status add_lengths(struct pendings *p)
{
    struct iwi_fleet_trial *judge = p->judge;
    iw_detour_lengths others = {0.0, 0.0, 0.0};

    IW_TRY(iwi_fleet_go_to(judge, NULL));
    iwi_sort(p->list, p->count, by_family);
    for (size_t i = 0; i < p->count; i++) {
        struct pending *pending = &p->list[i];

        if (i == 0 || p->list[i - 1].family != pending->family) {
            flag(p, pending->family);
            others = fleet_usual_lengths(judge, pending->family, p->is_flagged);
        }
        pending->finding.lengths =
            fleet_lengths_of(iwi_fleet_cell_of(judge->fleet->cells, pending->node, pending->family));
        pending->finding.others_lengths = others;
    }
    return IW_OK;
}

/* ---- in order ---- */

struct ranked_finding {
    struct pending pending;
    double node_excess; /* the largest of its node */
};

/* Nodes by their largest excess; findings of one node together. */
IWI_COMPARE(larger_excess_first, struct ranked_finding, IWI_FALLING(node_excess), IWI_RISING(pending.node),
            IWI_FALLING(pending.finding.excess_share))

static void name_largest(const iw_fleet_finding *finding, iw_fleet_node *node)
{
    if (node->largest[0] == '\0') {
        snprintf(node->largest, sizeof node->largest, "%s%s%s",
                 finding->is_all ? "all" : iw_class_name(finding->source.kind),
                 finding->is_all || finding->source.name[0] == '\0' ? "" : "/",
                 finding->is_all ? "" : finding->source.name);
    }
}

static iw_status rank_findings(const struct pendings *p, iw_fleet *fleet)
{
    struct ranked_finding *ranked = iwi_new_array(p->judge->log, p->count, sizeof *ranked);

    fleet->findings = iwi_new_array(p->judge->log, p->count, sizeof *fleet->findings);
    if (ranked == NULL || fleet->findings == NULL) {
        free(ranked);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < p->count; i++) {
        ranked[i] = (struct ranked_finding){p->list[i], p->node_excess[p->list[i].node]};
    }
    iwi_sort(ranked, p->count, larger_excess_first);
    for (size_t i = 0; i < p->count; i++) {
        iw_fleet_node *node = &fleet->nodes[ranked[i].pending.node];

        fleet->findings[fleet->finding_count++] = ranked[i].pending.finding;
        name_largest(&ranked[i].pending.finding, node);
        fleet->outlier_count += node->finding_count++ == 0;
    }
    free(ranked);
    return IW_OK;
}

static iw_status find_all(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    struct pendings p = {.judge = judge};
    iw_status status = IW_ERR_NOMEM;

    p.is_flagged = iwi_new_array(judge->log, fleet->node_count, sizeof *p.is_flagged);
    p.node_excess = iwi_new_array(judge->log, fleet->node_count, sizeof *p.node_excess);
    if (p.is_flagged != NULL && p.node_excess != NULL) {
        for (size_t node = 0; node < fleet->node_count; node++) {
            p.node_excess[node] = -1.0;
        }
        status = add_findings(&p);
        status = status == IW_OK ? add_all_evidence(&p) : status;
        status = status == IW_OK ? add_lengths(&p) : status;
        status = status == IW_OK ? rank_findings(&p, fleet) : status;
    }
    free(p.list);
    free(p.is_flagged);
    free(p.node_excess);
    return status;
}

iw_status iwi_fleet_conclude(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    IW_TRY(iwi_fleet_go_to(judge, NULL));
    fleet_describe_nodes(judge, fleet);
    IW_TRY(fleet_describe_sources(judge, fleet));
    IW_TRY(fleet_find_differences(judge, fleet));
    return find_all(judge, fleet);
}
