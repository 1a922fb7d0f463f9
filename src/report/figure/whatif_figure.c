/* The figure of a what-if: what each change saves, with its interval.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/kinds/report.h"
#include "report/kinds/whatif_report.h"

enum { MOST_BARS = 20 };

static void add_interval(struct iwi_figure *figure, iw_estimate saving, double y)
{
    if (saving.low < saving.high && isfinite(saving.high)) {
        struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_TEXT, NULL);

        line->is_thin = true;
        iwi_mark_add(figure, line, (double[]){saving.low, y});
        iwi_mark_add(figure, line, (double[]){saving.high, y});
    }
}

iw_status iwi_whatif_figure(struct iwi_document *doc, const iw_whatif *whatif, struct iwi_figure **figure_p)
{
    const double half = 0.3;
    const size_t count = whatif->change_count < MOST_BARS ? whatif->change_count : MOST_BARS;
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(doc->log, "What each change saves", &figure));
    figure->is_wide = true;
    figure->height = 0.15 + 0.04 * (double)count;
    figure->x = (struct iwi_figure_axis){.label = "Slowdown saved", .unit = IWI_AXIS_SHARE};
    figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
    bars = iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), NULL);
    for (size_t i = 0; i < count; i++) {
        const iw_change *change = &whatif->changes[i];
        const double value = isfinite(change->saving.value) ? change->saving.value : 0.0, y = (double)i + 1.0;

        iwi_axis_name(figure, &figure->y, iwi_change_words(doc, change));
        iwi_mark_add_named(figure, bars, (double[]){fmin(value, 0.0), fmax(value, 0.0), y - half, y + half},
                           iwi_points_words(doc, change->saving), false);
        add_interval(figure, change->saving, y);
    }
    figure->message = iwi_figure_text(figure, "The slowdown now is %s; lines: 95 %% intervals.",
                                      iwi_slower(doc, whatif->now.value));
    *figure_p = figure;
    return IW_OK;
}
