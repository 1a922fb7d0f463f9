/* Fleets: how long detours of what stands out are, beside those of the others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/fleet/fleet_report.h"
#include "kit/text/words.h"

enum { MOST_ROWS = 12, NAME_COLUMNS = 40 };

/* Parts of a row's height: drawers write names at its top. */
static const double NODE_FROM = -0.08, NODE_TO = 0.12, OTHERS_FROM = 0.18, OTHERS_TO = 0.38;

static const char *name_of(struct iwi_document *doc, const iw_fleet_finding *f)
{
    return iwi_say(doc, "%s %s", f->node, f->is_all ? "all sources" : iwi_fleet_source_name(doc, &f->source));
}

static const char *length(struct iwi_document *doc, double length_ns)
{
    return length_ns > 0.0 ? iwi_ns_short(doc, length_ns) : "-";
}

void iwi_fleet_show_lengths(struct iwi_document *doc, const iw_fleet *fleet, size_t count)
{
    IWI_TABLE(doc, "What stands out, and on the usual other node that has it (on all CPUs)",
              {"node, source", IWI_WORDS}, {"median", IWI_NUMBER}, {"99 %", IWI_NUMBER},
              {"longest", IWI_NUMBER}, {"others", IWI_NUMBER}, {"99 %", IWI_NUMBER}, {"longest", IWI_NUMBER});
    for (size_t i = 0; i < count; i++) {
        const iw_fleet_finding *f = &fleet->findings[i];

        if (f->lengths.longest_ns > 0.0) {
            iwi_row(doc, name_of(doc, f), length(doc, f->lengths.median_ns), length(doc, f->lengths.p99_ns),
                    length(doc, f->lengths.longest_ns), length(doc, f->others_lengths.median_ns),
                    length(doc, f->others_lengths.p99_ns), length(doc, f->others_lengths.longest_ns));
        }
    }
}

void iwi_fleet_show_source_lengths(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->source_count == 0 || !(fleet->sources[0].lengths.longest_ns > 0.0)) {
        return;
    }
    IWI_TABLE(doc, "Each source on the median node that has it", {"source", IWI_WORDS},
              {"median", IWI_NUMBER}, {"99 %", IWI_NUMBER}, {"longest", IWI_NUMBER});
    for (size_t i = 0; i < fleet->source_count; i++) {
        const iw_fleet_source *source = &fleet->sources[i];

        iwi_row(doc, iwi_fleet_source_name(doc, &source->source), length(doc, source->lengths.median_ns),
                length(doc, source->lengths.p99_ns), length(doc, source->lengths.longest_ns));
    }
}

/* ---- the figure ---- */

/* A bar from the median to 99 %, and a dot at the longest. */
static void add_lengths(struct iwi_figure *figure, struct iwi_mark *bars, struct iwi_mark *dots,
                        const iw_detour_lengths *lengths, double from, double to)
{
    if (lengths->median_ns > 0.0) {
        iwi_mark_add(figure, bars, (double[]){lengths->median_ns, lengths->p99_ns, from, to});
    }
    if (lengths->longest_ns > 0.0) {
        iwi_mark_add(figure, dots, (double[]){lengths->longest_ns, (from + to) / 2.0});
    }
}

static void add_rows(struct iwi_document *doc, struct iwi_figure *figure, const iw_fleet *fleet, size_t count)
{
    struct iwi_mark *own = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, "the node"),
                    *own_longest = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_NOISE, NULL),
                    *others = iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), "the others"),
                    *others_longest = iwi_figure_mark(figure, IWI_MARK_DOTS, iwi_series_ink(0), NULL);

    for (size_t i = 0; i < count; i++) {
        const iw_fleet_finding *f = &fleet->findings[i];
        const double y = (double)figure->y.name_count + 1.0;
        char name[IWI_NAME_SIZE];

        (void)iwi_plain_name(name_of(doc, f), NAME_COLUMNS, name);
        iwi_axis_name(figure, &figure->y, name);
        add_lengths(figure, own, own_longest, &f->lengths, y + NODE_FROM, y + NODE_TO);
        add_lengths(figure, others, others_longest, &f->others_lengths, y + OTHERS_FROM, y + OTHERS_TO);
    }
}

void iwi_fleet_show_lengths_figure(struct iwi_document *doc, const iw_fleet *fleet)
{
    const size_t count = fleet->finding_count < MOST_ROWS ? fleet->finding_count : MOST_ROWS;
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (count == 0 || !(fleet->findings[0].lengths.longest_ns > 0.0)) {
        return;
    }
    status = iwi_figure_new(doc->log, "Lengths of detours that stand out", &figure);
    if (status == IW_OK) {
        figure->is_wide = true;
        figure->height = 0.15 + 0.075 * (double)count;
        figure->x =
            (struct iwi_figure_axis){.label = "Length of a detour", .unit = IWI_AXIS_NS, .is_log = true};
        figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
        add_rows(doc, figure, fleet, count);
        figure->message =
            iwi_figure_text(figure, "From the median to the 99th percentile; dots: the longest.%s",
                            count < fleet->finding_count ? " The first of what stands out." : "");
    }
    iwi_show_figure(doc, status, figure);
}
