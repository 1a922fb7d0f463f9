/* What stands out, and the evidence for it: alarms about one source of one node become one finding.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/fleet_judge.h"
#include "base/base.h"

/* A CPU with so much of a source's time on a node is the one to name. */
static const double MOST_OF_IT = 0.75;

static int by_node_family_metric(const void *a, const void *b)
{
    const struct iwi_fleet_alarm *x = a, *y = b;

    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    if (x->family != y->family) {
        return x->family < y->family ? -1 : 1;
    }
    return x->metric != y->metric ? (x->metric < y->metric ? -1 : 1) : x->is_cpu - y->is_cpu;
}

/* Which name and which CPU of the node have most of the family's time. */
static void find_largest(const struct iwi_fleet_trial *judge, const struct iwi_fleet_alarm *alarm,
                         iw_fleet_finding *finding)
{
    const struct iwi_fleet_cells *cells = judge->fleet->cells;
    double largest_ns = 0.0, total_ns = 0.0, cpu_ns = 0.0, top_ns = 0.0;
    uint32_t cpu = 0;

    for (size_t i = judge->first_entry[alarm->family]; i < judge->first_entry[alarm->family + 1]; i++) {
        const struct iwi_fleet_cell *cell = judge->sorted[i].cell;

        if (cell->node != alarm->node) {
            continue;
        }
        if (cell->all.busy_ns > largest_ns) {
            largest_ns = cell->all.busy_ns;
            finding->source = cells->names[cell->name].source;
        }
        cpu_ns = total_ns > 0.0 && cell->cpu == cpu ? cpu_ns + cell->all.busy_ns : cell->all.busy_ns;
        cpu = cell->cpu;
        total_ns += cell->all.busy_ns;
        if (cpu_ns > top_ns) {
            top_ns = cpu_ns;
            finding->cpu = cpu;
        }
    }
    finding->has_cpu = judge->fleet->nodes[alarm->node].cpu_count > 1 && top_ns >= MOST_OF_IT * total_ns;
}

/* The numbers of the fleet at the finding's place. `is_flagged`: nodes with an alarm about this family. */
static void add_evidence(struct iwi_fleet_trial *judge, const struct iwi_fleet_alarm *alarm,
                         const bool *is_flagged, iw_fleet_finding *finding)
{
    const struct iwi_fleet_unit *own = &judge->place.units[alarm->node];

    iwi_fleet_go_to(judge, finding->has_cpu, finding->cpu);
    iwi_fleet_gather(judge, alarm->family);
    finding->value = iwi_fleet_unit_value(own, finding->metric);
    finding->median = iwi_fleet_median_value(judge, finding->metric);
    finding->excess_share =
        iwi_fleet_unit_value(own, IW_FLEET_SHARE) - iwi_fleet_median_value(judge, IW_FLEET_SHARE);
    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        const struct iwi_fleet_unit *unit = &judge->place.units[node];

        finding->having_count += unit->all.count > 0.0;
        if (unit->length_ns > 0.0 && !is_flagged[node]) {
            finding->others_count++;
            finding->others_max = fmax(finding->others_max, iwi_fleet_unit_value(unit, finding->metric));
        }
    }
}

static void flag_nodes(const struct iwi_fleet_trial *judge, uint32_t family, bool *is_flagged)
{
    memset(is_flagged, 0, judge->fleet->node_count * sizeof *is_flagged);
    for (size_t i = 0; i < judge->alarm_count; i++) {
        if (judge->alarms[i].family == family) {
            is_flagged[judge->alarms[i].node] = true;
        }
    }
}

/* Of the alarms [begin, end) about one family on one node, which are sorted by metric. */
static iw_status add_finding(struct iwi_fleet_trial *judge, iw_fleet *fleet, size_t begin, size_t end,
                             bool *is_flagged)
{
    const struct iwi_fleet_alarm *first = &judge->alarms[begin];
    iw_fleet_node *node = &fleet->nodes[first->node];
    iw_fleet_finding finding = {
        .node = node->name, .is_all = first->family == 0, .metric = first->metric, .limit = NAN};
    bool is_of_one_cpu = true;

    find_largest(judge, first, &finding);
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
    flag_nodes(judge, first->family, is_flagged);
    add_evidence(judge, first, is_flagged, &finding);
    IW_TRY(iwi_grow(judge->log, (void **)&fleet->findings, &fleet->cells->finding_capacity,
                    fleet->finding_count + 1, sizeof *fleet->findings));
    fleet->findings[fleet->finding_count++] = finding;
    node->finding_count++;
    return IW_OK;
}

/* All sources together are a finding only where no single one is. */
static iw_status add_findings(struct iwi_fleet_trial *judge, iw_fleet *fleet, bool *is_flagged)
{
    size_t end;

    if (judge->alarm_count > 0) {
        qsort(judge->alarms, judge->alarm_count, sizeof *judge->alarms, by_node_family_metric);
    }
    for (size_t begin = 0; begin < judge->alarm_count; begin = end) {
        const struct iwi_fleet_alarm *first = &judge->alarms[begin];

        for (end = begin + 1; end < judge->alarm_count && judge->alarms[end].node == first->node &&
                              judge->alarms[end].family == first->family;
             end++) {
        }
        if (first->family == 0 && end < judge->alarm_count && judge->alarms[end].node == first->node) {
            continue;
        }
        IW_TRY(add_finding(judge, fleet, begin, end, is_flagged));
    }
    for (size_t node = 0; node < fleet->node_count; node++) {
        fleet->outlier_count += fleet->nodes[node].finding_count > 0;
    }
    return IW_OK;
}

struct ranked_finding {
    iw_fleet_finding finding;
    size_t node;
    double node_excess; /* the largest of its node */
};

/* Nodes by their largest excess; findings of one node together. */
static int larger_excess_first(const void *a, const void *b)
{
    const struct ranked_finding *x = a, *y = b;

    if (x->node_excess != y->node_excess) {
        return x->node_excess > y->node_excess ? -1 : 1;
    }
    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    return (x->finding.excess_share < y->finding.excess_share) -
           (x->finding.excess_share > y->finding.excess_share);
}

static void name_largest(const iw_fleet_finding *finding, iw_fleet_node *node)
{
    if (node->largest[0] == '\0') {
        snprintf(node->largest, sizeof node->largest, "%s%s%s",
                 finding->is_all ? "all" : iw_class_name(finding->source.kind),
                 finding->is_all || finding->source.name[0] == '\0' ? "" : "/",
                 finding->is_all ? "" : finding->source.name);
    }
}

/* They come in the order of nodes. */
static iw_status rank_findings(const iw_log *log, iw_fleet *fleet)
{
    struct ranked_finding *ranked = iwi_new_array(log, fleet->finding_count, sizeof *ranked);
    size_t node = 0;

    if (ranked == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < fleet->finding_count; i++) {
        for (; fleet->nodes[node].name != fleet->findings[i].node; node++) {
        }
        ranked[i] = (struct ranked_finding){fleet->findings[i], node, -1.0};
        for (size_t k = 0; k < fleet->finding_count; k++) {
            if (fleet->findings[k].node == fleet->findings[i].node) {
                ranked[i].node_excess = fmax(ranked[i].node_excess, fleet->findings[k].excess_share);
            }
        }
    }
    qsort(ranked, fleet->finding_count, sizeof *ranked, larger_excess_first);
    for (size_t i = 0; i < fleet->finding_count; i++) {
        fleet->findings[i] = ranked[i].finding;
        name_largest(&ranked[i].finding, &fleet->nodes[ranked[i].node]);
    }
    free(ranked);
    return IW_OK;
}

static iw_status find_all(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    bool *is_flagged = iwi_new_array(judge->log, fleet->node_count, sizeof *is_flagged);
    iw_status status = is_flagged != NULL ? add_findings(judge, fleet, is_flagged) : IW_ERR_NOMEM;

    free(is_flagged);
    return status == IW_OK ? rank_findings(judge->log, fleet) : status;
}

iw_status iwi_fleet_conclude(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    iwi_fleet_go_to(judge, false, 0);
    iwi_fleet_describe_nodes(judge, fleet);
    IW_TRY(iwi_fleet_describe_sources(judge, fleet));
    IW_TRY(iwi_fleet_find_differences(judge, fleet));
    return find_all(judge, fleet);
}
