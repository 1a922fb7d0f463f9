/* Fleets for programs: one JSON object, schema "idlewave.fleet/1", or the nodes as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/fleet_report.h"
#include "schema/json_util.h"

static json_t *spread_object(const iw_spread *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "min", iwi_json_number(s->min), "q1",
                     iwi_json_number(s->q1), "median", iwi_json_number(s->median), "q3",
                     iwi_json_number(s->q3), "p95", iwi_json_number(s->p95), "max", iwi_json_number(s->max));
}

static json_t *finding_object(const iw_fleet *fleet, const iw_fleet_finding *f)
{
    char text[IWI_PARAGRAPH_SIZE] = "", advice[IWI_PARAGRAPH_SIZE] = "";

    iwi_fleet_evidence(fleet, f, text);
    iwi_fleet_advice(f, advice);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "node",
        iwi_json_text(fleet->nodes[f->node].name), "cpu", f->has_cpu ? iwi_json_count(f->cpu) : json_null(),
        "class", f->is_all ? json_null() : json_string(iw_class_name(f->source.kind)), "source",
        f->is_all ? json_null() : iwi_json_text(f->source.name), "metric", iw_fleet_metric_name(f->metric),
        "value", iwi_json_number(f->value), "median", iwi_json_number(f->median), "limit",
        iwi_json_number(f->limit), "others_max", iwi_json_number(f->others_max), "others",
        iwi_json_count(f->others_count), "nodes_with_it", iwi_json_count(f->having_count), "excess_share",
        iwi_json_number(f->excess_share), "evidence", iwi_json_text(text), "advice", iwi_json_text(advice));
}

static json_t *findings_array(const iw_fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->finding_count; i++) {
        (void)json_array_append_new(array, finding_object(fleet, &fleet->findings[i]));
    }
    return array;
}

static json_t *nodes_array(const iw_fleet *fleet, const size_t *order)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->node_count; i++) {
        const iw_fleet_node *node = &fleet->nodes[order[i]];

        (void)json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", iwi_json_text(node->name), "cpus",
                             iwi_json_count(node->cpu_count), "watched_ns", iwi_json_number(node->watched_ns),
                             "share", iwi_json_number(node->value[IW_FLEET_SHARE]), "rate_hz",
                             iwi_json_number(node->value[IW_FLEET_RATE]), "longest_ns",
                             iwi_json_number(node->value[IW_FLEET_LONGEST]), "findings",
                             iwi_json_count(node->finding_count)));
    }
    return array;
}

static json_t *sources_array(const iw_fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->source_count; i++) {
        const iw_fleet_source *source = &fleet->sources[i];

        (void)json_array_append_new(
            array, json_pack("{s:s, s:o, s:o, s:o}", "class", iw_class_name(source->source.kind), "source",
                             iwi_json_text(source->source.name), "nodes", iwi_json_count(source->node_count),
                             "share", spread_object(&source->share)));
    }
    return array;
}

static json_t *differences_array(const iw_fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->difference_count; i++) {
        const iw_fleet_difference *d = &fleet->differences[i];
        const bool is_missing = d->kind == IW_FLEET_MISSING;

        (void)json_array_append_new(
            array, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "kind", is_missing ? "missing" : "quieter",
                             "node", iwi_json_text(fleet->nodes[d->node].name), "class",
                             is_missing ? json_string(iw_class_name(d->source.kind)) : json_null(), "source",
                             is_missing ? iwi_json_text(d->source.name) : json_null(), "share",
                             iwi_json_number(d->value), "median", iwi_json_number(d->median)));
    }
    return array;
}

static json_t *groups_array(const iw_fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->group_count; i++) {
        const iw_fleet_group *group = &fleet->groups[i];
        json_t *names = json_array();

        for (size_t k = 0; k < group->node_count && k < sizeof group->first_nodes / sizeof(size_t); k++) {
            (void)json_array_append_new(names, iwi_json_text(fleet->nodes[group->first_nodes[k]].name));
        }
        (void)json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:o}", "fact", group->fact, "value",
                                                     iwi_json_text(group->value), "nodes",
                                                     iwi_json_count(group->node_count), "first", names));
    }
    return array;
}

static json_t *unreadable_array(const iw_fleet *fleet)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fleet->unreadable_count; i++) {
        (void)json_array_append_new(array,
                                    json_pack("{s:o, s:o}", "name", iwi_json_text(fleet->unreadable[i].name),
                                              "reason", iwi_json_text(fleet->unreadable[i].reason)));
    }
    return array;
}

static const char *verdict_of(const iw_fleet *fleet)
{
    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        return "too few nodes";
    }
    return fleet->outlier_count > 0 ? "outliers" : "none";
}

iw_status iw_fleet_write_json(const iw_log *log, const iw_fleet *fleet, const char *name, FILE *out)
{
    size_t *order;
    json_t *object;

    IW_TRY(iwi_fleet_order(log, fleet, &order));
    object = json_pack(
        "{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", "idlewave.fleet/1", "version", iw_version(), "name", iwi_json_text(name), "verdict",
        verdict_of(fleet), "nodes_read", iwi_json_count(fleet->node_count), "nodes_outstanding",
        iwi_json_count(fleet->outlier_count), "false_alarms", iwi_json_number(fleet->opts.false_alarms),
        "matters", iwi_json_number(fleet->opts.matters), "comparisons", iwi_json_count(fleet->tests),
        "findings", findings_array(fleet), "share", spread_object(&fleet->spread[IW_FLEET_SHARE]), "rate_hz",
        spread_object(&fleet->spread[IW_FLEET_RATE]), "longest_ns",
        spread_object(&fleet->spread[IW_FLEET_LONGEST]), "sources", sources_array(fleet), "differences",
        differences_array(fleet), "groups", groups_array(fleet), "unreadable", unreadable_array(fleet),
        "nodes", nodes_array(fleet, order));
    free(order);
    return iwi_json_write(log, object, out, "the fleet");
}

/* The finding with the largest excess comes first. */
static const iw_fleet_finding *first_finding(const iw_fleet *fleet, size_t node)
{
    for (size_t i = 0; i < fleet->finding_count; i++) {
        if (fleet->findings[i].node == node) {
            return &fleet->findings[i];
        }
    }
    return NULL;
}

static void write_csv_node(FILE *out, const iw_fleet *fleet, size_t number)
{
    const iw_fleet_node *node = &fleet->nodes[number];
    const iw_fleet_finding *finding = node->finding_count > 0 ? first_finding(fleet, number) : NULL;
    const double values[] = {node->watched_ns / 1e9, node->value[IW_FLEET_SHARE], node->value[IW_FLEET_RATE],
                             node->value[IW_FLEET_LONGEST]};
    char source[IWI_NAME_SIZE];

    iwi_write_csv_field(out, node->name);
    (void)fprintf(out, ",%zu", node->cpu_count);
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        (void)fputc(',', out);
        iwi_write_real(out, values[k]);
    }
    (void)fprintf(out, ",%zu,", node->finding_count);
    if (finding != NULL) {
        iwi_write_csv_field(out, finding->is_all ? "all" : iwi_fleet_source_text(&finding->source, source));
    }
    (void)fputc('\n', out);
}

iw_status iw_fleet_write_csv(const iw_log *log, const iw_fleet *fleet, FILE *out)
{
    size_t *order;

    IW_TRY(iwi_fleet_order(log, fleet, &order));
    (void)fputs("node,cpus,watched_s,share,rate_hz,longest_ns,findings,largest\n", out);
    for (size_t i = 0; i < fleet->node_count; i++) {
        write_csv_node(out, fleet, order[i]);
    }
    free(order);
    return iwi_check_written(log, out, "the nodes");
}
