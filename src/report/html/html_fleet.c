/* The page of a fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/figure/fleet_figure.h"
#include "report/html/html_fleet.h"

enum { MOST_NODES = 300, MOST_FINDINGS = 300, MOST_SOURCES = 40, MOST_ITEMS = 50 };

static void write_title(FILE *out, const void *subject)
{
    const struct iwi_fleet_page *page = subject;

    (void)fprintf(out, "Noise of the nodes in %s", page->name);
}

/* ---- the verdict ---- */

static void write_verdict(FILE *out, const iw_fleet *fleet)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_fleet_verdict(fleet, text);
    (void)fputs("<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">Verdict</h2>\n",
                out);
    iwi_html_paragraph(out, NULL, "%s", text);
    (void)fputs("</section>\n", out);
}

static void write_findings(FILE *out, const iw_fleet *fleet)
{
    const size_t shown = fleet->finding_count < MOST_FINDINGS ? fleet->finding_count : MOST_FINDINGS;

    if (shown == 0) {
        return;
    }
    iwi_html_section(out, "outliers", "What stands out, and what to do");
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < shown; i++) {
        char evidence[IWI_PARAGRAPH_SIZE] = "", advice[IWI_PARAGRAPH_SIZE] = "";

        iwi_fleet_evidence(fleet, &fleet->findings[i], evidence);
        iwi_fleet_advice(&fleet->findings[i], advice);
        (void)fputs("<li><strong>", out);
        iwi_html_prose(out, evidence);
        (void)fputs("</strong> ", out);
        iwi_html_prose(out, advice);
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n", out);
    if (shown < fleet->finding_count) {
        iwi_html_paragraph(out, "note", "The %zu largest of %zu.", shown, fleet->finding_count);
    }
}

/* ---- figures ---- */

static iw_status write_figure(struct iwi_html *html, const iw_fleet *fleet, iw_fleet_metric metric,
                              const char *title)
{
    struct iwi_figure *figure;
    iw_status status = IW_OK;

    IW_TRY(iwi_fleet_figure(html->log, fleet, metric, title, &figure));
    if (figure != NULL) {
        status = iwi_html_figure(html, figure);
        iwi_figure_free(figure);
    }
    return status;
}

/* ---- tables ---- */

static void write_sources(FILE *out, const iw_fleet *fleet)
{
    static const char *const heads[] = {"Nodes", "Median", "q3", "95 %", "Most"};
    const size_t shown = fleet->source_count < MOST_SOURCES ? fleet->source_count : MOST_SOURCES;

    if (shown == 0) {
        return;
    }
    iwi_html_section(out, "sources", "By source");
    iwi_html_table_begin(out, "Share of time over the nodes; numbers that differ in names are *");
    iwi_html_head(out, true, "Source");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_table_body(out);
    for (size_t i = 0; i < shown; i++) {
        const iw_fleet_source *source = &fleet->sources[i];
        const double shares[] = {source->share.median, source->share.q3, source->share.p95,
                                 source->share.max};
        char name[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", iwi_fleet_source_text(&source->source, name));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%zu", source->node_count);
        for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
            iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_share_text(shares[k], number));
        }
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
    if (shown < fleet->source_count) {
        iwi_html_paragraph(out, "note", "The %zu largest of %zu.", shown, fleet->source_count);
    }
}

static void write_node(FILE *out, const iw_fleet_node *node)
{
    char number[IWI_NUMBER_SIZE];

    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", node->name);
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_fleet_value_text(metric, node->value[metric], number));
    }
    iwi_html_cell(out, IWI_CELL_NUMBER, "%zu", node->cpu_count);
    iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                  iwi_ns_round_text(node->watched_ns / fmax((double)node->cpu_count, 1.0), number));
    iwi_html_cell(out, IWI_CELL_WORDS, "%s", node->finding_count > 0 ? "stands out" : "");
    iwi_html_row_end(out);
}

static iw_status write_nodes(struct iwi_html *html, const iw_fleet *fleet)
{
    static const char *const heads[] = {"Time lost", "Detours on a CPU", "Longest", "CPUs", "Recorded"};
    size_t *order;
    FILE *out = html->out;

    IW_TRY(iwi_fleet_order(html->log, fleet, &order));
    iwi_html_section(out, "nodes", "Node by node");
    if (fleet->node_count > MOST_NODES) {
        iwi_html_paragraph(out, "note",
                           "Nodes that stand out, then the noisiest: %d of %zu. The CSV of "
                           "'idlewave noise fleet' has all.",
                           MOST_NODES, fleet->node_count);
    }
    iwi_html_table_begin(out, "Nodes, those that stand out and the noisiest first");
    iwi_html_head(out, true, "Node");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_head(out, true, "Verdict");
    iwi_html_table_body(out);
    for (size_t i = 0; i < fleet->node_count && i < MOST_NODES; i++) {
        write_node(out, &fleet->nodes[order[i]]);
    }
    iwi_html_table_end(out);
    free(order);
    return IW_OK;
}

/* ---- lists ---- */

static void write_item(void *arg, const char *text)
{
    FILE *out = arg;

    (void)fputs("<li>", out);
    iwi_html_prose(out, text);
    (void)fputs("</li>\n", out);
}

static void write_differences(FILE *out, const iw_fleet *fleet)
{
    if (fleet->difference_count == 0 && fleet->group_count == 0) {
        return;
    }
    iwi_html_section(out, "differences", "Not noisier, but different");
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < fleet->difference_count && i < MOST_ITEMS; i++) {
        char text[IWI_PARAGRAPH_SIZE] = "";

        iwi_fleet_difference_text(fleet, &fleet->differences[i], text);
        write_item(out, text);
    }
    iwi_fleet_facts(fleet, write_item, out);
    (void)fputs("</ul>\n", out);
}

static void write_unreadable(FILE *out, const iw_fleet *fleet)
{
    if (fleet->unreadable_count == 0) {
        return;
    }
    iwi_html_section(out, "unreadable", "Files that could not be read");
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < fleet->unreadable_count && i < MOST_ITEMS; i++) {
        write_item(out, fleet->unreadable[i].reason);
    }
    (void)fputs("</ul>\n", out);
    iwi_html_paragraph(out, "note", "%zu in all; they are left out.", fleet->unreadable_count);
}

/* ---- page ---- */

static iw_status write_body(struct iwi_html *html, const void *subject)
{
    const struct iwi_fleet_page *page = subject;
    const iw_fleet *fleet = page->fleet;
    FILE *out = html->out;
    char number[IWI_NUMBER_SIZE];

    (void)fputs("<header>\n<h1>Noise of a fleet</h1>\n", out);
    iwi_html_paragraph(out, "subtitle", "%s node%s in %s", iwi_count_text(fleet->node_count, number),
                       fleet->node_count == 1 ? "" : "s", page->name);
    (void)fputs("</header>\n<main>\n", out);
    write_verdict(out, fleet);
    write_findings(out, fleet);
    if (fleet->node_count >= IW_FLEET_LEAST_NODES) {
        iwi_html_section(out, "distribution", "The fleet");
        (void)fputs("<div class=\"figures\">\n", out);
        IW_TRY(write_figure(html, fleet, IW_FLEET_SHARE, "Time lost by nodes"));
        IW_TRY(write_figure(html, fleet, IW_FLEET_LONGEST, "Longest detours of nodes"));
        (void)fputs("</div>\n", out);
    }
    write_sources(out, fleet);
    IW_TRY(write_nodes(html, fleet));
    write_differences(out, fleet);
    write_unreadable(out, fleet);
    iwi_html_section(out, "certainty", "How sure");
    (void)fputs("<ul>\n", out);
    iwi_fleet_certainty(fleet, write_item, out);
    (void)fputs("</ul>\n</main>\n", out);
    return IW_OK;
}

static const struct iwi_html_kind fleet_kind = {
    .name = "fleet", .write_title = write_title, .write_body = write_body};

iw_status iwi_fleet_html(const iw_log *log, const struct iwi_fleet_page *page, FILE *out)
{
    return iwi_html_write(log, &fleet_kind, page, out);
}

iw_status iw_fleet_write_html(const iw_log *log, const iw_fleet *fleet, const char *name, FILE *out)
{
    return iwi_fleet_html(log, &(struct iwi_fleet_page){fleet, name}, out);
}
