/* The figure of coincidence: how many nodes a source hit at once, over time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "features/fleet/coincidence_report.h"
#include "features/fleet/fleet_report.h"

static void add_bars(struct iwi_figure *figure, const iw_coincidence *c, const iw_coincidence_source *source)
{
    const double part_ns = (double)c->window.length_ns / (double)source->part_count;
    struct iwi_mark *bars = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, NULL);

    bars->is_thin = true;
    for (size_t i = 0; i < source->part_count; i++) {
        if (source->part_nodes[i] > 0) {
            iwi_mark_add(figure, bars,
                         (double[]){(double)i * part_ns, (double)(i + 1) * part_ns, 0.0,
                                    (double)source->part_nodes[i]});
        }
    }
}

static void add_table(struct iwi_figure *figure, const iw_coincidence *c, const iw_coincidence_source *source)
{
    iwi_figure_table(figure, "When nodes were hit together");
    iwi_figure_head(figure, false, "Seconds from the beginning");
    iwi_figure_head(figure, false, "Nodes");
    for (size_t i = 0; i < source->listed_count; i++) {
        iwi_figure_cell(figure, "%.3f",
                        (double)(source->instants[i].wall_ns - c->window.from_wall_ns) * 1e-9);
        iwi_figure_cell(figure, "%u", source->instants[i].nodes);
    }
}

void iwi_coincidence_show_figure(struct iwi_document *doc, const iw_coincidence *c,
                                 const iw_coincidence_source *source)
{
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (source->part_count == 0) {
        return;
    }
    status = iwi_figure_new(
        doc->log, iwi_say(doc, "Nodes hit at once by %s", iwi_fleet_source_name(doc, &source->source)),
        &figure);
    if (status == IW_OK) {
        figure->x = (struct iwi_figure_axis){.label = "Time from the beginning",
                                             .unit = IWI_AXIS_NS,
                                             .low = 0.0,
                                             .high = (double)c->window.length_ns};
        figure->y = (struct iwi_figure_axis){
            .label = "Nodes", .unit = IWI_AXIS_COUNT, .low = 0.0, .high = (double)c->node_count * 1.05};
        add_bars(figure, c, source);
        add_table(figure, c, source);
        figure->message = iwi_figure_text(
            figure,
            "The most nodes that were hit within %s, in each of %zu parts of the time. Independent "
            "nodes would be hit one by one.",
            iwi_ns_round(doc, (double)source->width_ns), source->part_count);
    }
    iwi_show_figure(doc, status, figure);
}
