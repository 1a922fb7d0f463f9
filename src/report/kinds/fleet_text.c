/* Fleets for people: the verdict, what stands out and why, the distribution, what differs, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/kinds/fleet_report.h"

enum {
    MOST_FINDINGS = 30,
    MOST_SOURCES = 12,
    MOST_ITEMS = 10,
    MOST_BINS = 18,
    BAR_COLUMNS = 40,
    SOURCE_COLUMNS = 34
};

static void write_item(void *arg, const char *text)
{
    iwi_write_item(arg, text);
}

static void write_findings(FILE *out, const iw_fleet *fleet)
{
    if (fleet->finding_count == 0) {
        return;
    }
    (void)fputs("\nWhat stands out, and what to do:\n", out);
    for (size_t i = 0; i < fleet->finding_count && i < MOST_FINDINGS; i++) {
        const iw_fleet_finding *finding = &fleet->findings[i];
        char text[IWI_PARAGRAPH_SIZE] = "";

        iwi_fleet_evidence(fleet, finding, text);
        iwi_append(text, " ");
        iwi_fleet_advice(finding, text);
        iwi_write_item(out, text);
    }
    if (fleet->finding_count > MOST_FINDINGS) {
        (void)fprintf(out, "and %zu more: the JSON has all\n", fleet->finding_count - MOST_FINDINGS);
    }
}

static void write_spread(FILE *out, const char *label, iw_fleet_metric metric, const iw_spread *s)
{
    const double values[] = {s->min, s->q1, s->median, s->q3, s->p95, s->max};
    char number[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%-20s", label);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        (void)fprintf(out, " %9s", iwi_fleet_value_text(metric, values[i], number));
    }
    (void)fputc('\n', out);
}

static void write_spreads(FILE *out, const iw_fleet *fleet)
{
    static const char *const labels[IW_FLEET_METRICS] = {"time lost", "detours on a CPU", "longest detour"};

    (void)fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %9s\n", "over nodes", "min", "q1", "median", "q3", "95 %",
                  "max");
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        write_spread(out, labels[metric], metric, &fleet->spread[metric]);
    }
}

static void write_node(FILE *out, const iw_fleet_node *node)
{
    char name[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%-*s", SOURCE_COLUMNS, iwi_plain_name(node->name, SOURCE_COLUMNS, name));
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        (void)fprintf(out, " %9s", iwi_fleet_value_text(metric, node->value[metric], number));
    }
    (void)fputc('\n', out);
}

static iw_status write_nodes(const iw_log *log, FILE *out, const iw_fleet *fleet)
{
    size_t *order;

    IW_TRY(iwi_fleet_order(log, fleet, &order));
    (void)fprintf(out, "\n%-*s %9s %9s %9s\n", SOURCE_COLUMNS, "node", "time lost", "detours", "longest");
    for (size_t i = 0; i < fleet->node_count; i++) {
        write_node(out, &fleet->nodes[order[i]]);
    }
    free(order);
    return IW_OK;
}

/* A '*' where nodes that stand out are. */
static void write_histogram(FILE *out, const iw_fleet *fleet)
{
    const struct iwi_fleet_histogram h = iwi_fleet_histogram(fleet, IW_FLEET_SHARE, MOST_BINS);
    char low[IWI_NUMBER_SIZE], number[IWI_NUMBER_SIZE];
    size_t most = 1;

    for (size_t bin = 0; bin < h.bin_count; bin++) {
        most = h.count[bin] > most ? h.count[bin] : most;
    }
    (void)fputs("\nTime lost from    nodes  (* some of them stand out)\n", out);
    if (h.zero_count > 0) {
        (void)fprintf(out, "%14s %8s\n", "none", iwi_count_text(h.zero_count, number));
    }
    for (size_t bin = 0; bin < h.bin_count; bin++) {
        (void)fprintf(out, "%14s %8s", iwi_share_text(iwi_fleet_bin_begin(&h, bin), low),
                      iwi_count_text(h.count[bin], number));
        if (h.count[bin] > 0) {
            (void)fputs(h.outliers[bin] > 0 ? " *" : "  ", out);
            (void)iwi_write_bar(out, (double)h.count[bin] / (double)most, BAR_COLUMNS);
        }
        (void)fputc('\n', out);
    }
}

static void write_sources(FILE *out, const iw_fleet *fleet)
{
    const size_t shown = fleet->source_count < MOST_SOURCES ? fleet->source_count : MOST_SOURCES;
    char name[IWI_NAME_SIZE], plain[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    if (shown == 0) {
        return;
    }
    (void)fprintf(out, "\n%-*s %7s %9s %9s %9s\n", SOURCE_COLUMNS, "time lost by source", "nodes", "median",
                  "95 %", "max");
    for (size_t i = 0; i < shown; i++) {
        const iw_fleet_source *source = &fleet->sources[i];

        (void)fprintf(out, "%-*s %7s", SOURCE_COLUMNS,
                      iwi_plain_name(iwi_fleet_source_text(&source->source, name), SOURCE_COLUMNS, plain),
                      iwi_count_text(source->node_count, number));
        (void)fprintf(out, " %9s", iwi_share_text(source->share.median, number));
        (void)fprintf(out, " %9s", iwi_share_text(source->share.p95, number));
        (void)fprintf(out, " %9s\n", iwi_share_text(source->share.max, number));
    }
    if (fleet->source_count > shown) {
        (void)fprintf(out, "and %zu smaller ones\n", fleet->source_count - shown);
    }
}

static void write_differences(FILE *out, const iw_fleet *fleet)
{
    if (fleet->difference_count > 0) {
        (void)fputs("\nNot noisier, but different:\n", out);
    }
    for (size_t i = 0; i < fleet->difference_count && i < MOST_ITEMS; i++) {
        char text[IWI_PARAGRAPH_SIZE] = "";

        iwi_fleet_difference_text(fleet, &fleet->differences[i], text);
        iwi_write_item(out, text);
    }
    if (fleet->difference_count > MOST_ITEMS) {
        (void)fprintf(out, "and %zu more: the JSON has all\n", fleet->difference_count - MOST_ITEMS);
    }
    if (fleet->group_count > 0) {
        (void)fputs("\nNot the same everywhere:\n", out);
        iwi_fleet_facts(fleet, write_item, out);
    }
}

static void write_unreadable(FILE *out, const iw_fleet *fleet)
{
    char number[IWI_NUMBER_SIZE];

    if (fleet->unreadable_count == 0) {
        return;
    }
    (void)fprintf(out, "\n%s file%s could not be read and %s left out:\n",
                  iwi_count_text(fleet->unreadable_count, number), fleet->unreadable_count == 1 ? "" : "s",
                  fleet->unreadable_count == 1 ? "is" : "are");
    for (size_t i = 0; i < fleet->unreadable_count && i < MOST_ITEMS; i++) {
        char text[IWI_PARAGRAPH_SIZE] = "", plain[IWI_PARAGRAPH_SIZE];

        iwi_append(text, "%s", iwi_plain_text(fleet->unreadable[i].reason, plain));
        iwi_write_item(out, text);
    }
    if (fleet->unreadable_count > MOST_ITEMS) {
        (void)fprintf(out, "and %zu more\n", fleet->unreadable_count - MOST_ITEMS);
    }
}

iw_status iw_fleet_write_text(const iw_log *log, const iw_fleet *fleet, const char *name, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    (void)name;
    iwi_fleet_verdict(fleet, text);
    iwi_write_wrapped(out, text);
    write_findings(out, fleet);
    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        IW_TRY(write_nodes(log, out, fleet));
    } else {
        write_spreads(out, fleet);
        write_histogram(out, fleet);
    }
    write_sources(out, fleet);
    write_differences(out, fleet);
    write_unreadable(out, fleet);
    (void)fputs("\nHow sure:\n", out);
    iwi_fleet_certainty(fleet, write_item, out);
    return iwi_check_written(log, out, "the fleet");
}
