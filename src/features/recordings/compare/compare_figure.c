/* The figures of comparisons: what each source adds, and how long detours last in both recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/compare/compare_report.h"
#include "kit/figure/bar_rows.h"

enum { MOST_ROWS = 12 };

/* What is more beyond chance has the colour of noise. */
static void add_row(struct iwi_document *doc, struct iwi_figure *figure, struct iwi_mark *bars,
                    const char *name, iw_estimate difference)
{
    iwi_bar_rows_add(figure, bars, name, difference,
                     iwi_compare_change(doc, IW_COMPARE_SHARE, difference.value), difference.low > 0.0);
}

iw_status iwi_compare_sources_figure(struct iwi_document *doc, const iw_noise_comparison *c,
                                     struct iwi_figure **figure_p)
{
    const size_t count = c->source_count < MOST_ROWS ? c->source_count : MOST_ROWS;
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(doc->log, count > 0 ? "Where the difference comes from" : "Time lost", &figure));
    bars = iwi_bar_rows_begin(figure, "Time lost, B - A", IWI_AXIS_SHARE, count + 1);
    add_row(doc, figure, bars, "all noise", c->metrics[IW_COMPARE_SHARE].difference);
    for (size_t i = 0; i < count; i++) {
        add_row(doc, figure, bars, iwi_compare_source_name(doc, &c->sources[i].source),
                c->sources[i].share.difference);
    }
    figure->message =
        iwi_figure_text(figure, "To the right B loses more time, to the left less. Lines: 95 %% intervals; "
                                "what is more beyond chance has the colour of noise.");
    *figure_p = figure;
    return IW_OK;
}

/* ---- durations ---- */

/* The axis is logarithmic: quanta that lost nothing are left out. */
static size_t first_drawn(const iw_compare_side *side)
{
    return side->point_count > 0 && side->points[0].ns <= 0.0 ? 1 : 0;
}

static void add_side(struct iwi_figure *figure, const char *letter, const iw_compare_side *side,
                     size_t series)
{
    struct iwi_mark *steps = iwi_figure_mark(figure, IWI_MARK_STEP, iwi_series_ink(series),
                                             iwi_figure_text(figure, "%s: %s", letter, side->name));

    for (size_t i = first_drawn(side); i < side->point_count; i++) {
        const bool is_last = i + 1 == side->point_count;

        if (i == first_drawn(side)) {
            iwi_mark_add(figure, steps, (double[]){figure->x.low, side->points[i].above});
        }
        iwi_mark_add(
            figure, steps,
            (double[]){side->points[i].ns, is_last ? 0.1 * figure->y.low : side->points[i + 1].above});
    }
}

/* Widens the axes to what the side has. */
static void measure(struct iwi_figure *figure, const iw_compare_side *side)
{
    const size_t first = first_drawn(side);

    if (first < side->point_count) {
        figure->x.low = fmin(figure->x.low, 0.8 * side->points[first].ns);
        figure->x.high = fmax(figure->x.high, 1.5 * side->points[side->point_count - 1].ns);
        figure->y.low =
            fmin(figure->y.low, pow(10.0, floor(log10(side->points[side->point_count - 1].above))));
    }
}

iw_status iwi_compare_durations_figure(struct iwi_document *doc, const iw_noise_comparison *c,
                                       struct iwi_figure **figure_p)
{
    const bool is_quanta = iwi_compare_is_quanta(c);
    struct iwi_figure *figure;

    *figure_p = NULL;
    if (first_drawn(&c->a) >= c->a.point_count && first_drawn(&c->b) >= c->b.point_count) {
        return IW_OK;
    }
    IW_TRY(iwi_figure_new(doc->log,
                          is_quanta ? "Share of quanta that lose more" : "Share of detours that last longer",
                          &figure));
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = is_quanta ? "Loss of a quantum" : "Duration",
                                         .unit = IWI_AXIS_NS,
                                         .is_log = true,
                                         .low = INFINITY};
    figure->y =
        (struct iwi_figure_axis){.label = is_quanta ? "Share that loses more" : "Share that lasts longer",
                                 .unit = IWI_AXIS_POWER,
                                 .is_log = true,
                                 .low = 0.1,
                                 .high = 1.0};
    measure(figure, &c->a);
    measure(figure, &c->b);
    add_side(figure, "A", &c->a, 0);
    add_side(figure, "B", &c->b, 1);
    figure->message = iwi_figure_text(figure,
                                      "Both axes are logarithmic. Where a line is higher, there are "
                                      "more %s that are at least so long.",
                                      is_quanta ? "losses" : "detours");
    *figure_p = figure;
    return IW_OK;
}
