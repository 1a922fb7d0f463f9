/* Figures of rows: a name, and below it a bar from 0 to its value with the interval as a line.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/bar_rows.h"

#include <math.h>

/* Parts of a row's height: drawers write names at its top. */
static const double BAR_FROM = -0.05, BAR_MIDDLE = 0.15, BAR_TO = 0.35;

struct iwi_mark *iwi_bar_rows_begin(struct iwi_figure *figure, const char *label, enum iwi_axis_unit unit,
                                    size_t count)
{
    figure->is_wide = true;
    figure->height = 0.15 + 0.065 * (double)count;
    figure->x = (struct iwi_figure_axis){.label = label, .unit = unit};
    figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
    return iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), NULL);
}

void iwi_bar_rows_add(struct iwi_figure *figure, struct iwi_mark *bars, const char *name, iw_estimate value,
                      const char *text, bool is_hot)
{
    const double end = isfinite(value.value) ? value.value : 0.0, y = (double)figure->y.name_count + 1.0;

    iwi_axis_name(figure, &figure->y, name);
    iwi_mark_add_named(figure, bars, (double[]){fmin(end, 0.0), fmax(end, 0.0), y + BAR_FROM, y + BAR_TO},
                       text, is_hot);
    if (value.low < value.high && isfinite(value.high)) {
        struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_TEXT, NULL);

        line->is_thin = true;
        iwi_mark_add(figure, line, (double[]){value.low, y + BAR_MIDDLE});
        iwi_mark_add(figure, line, (double[]){value.high, y + BAR_MIDDLE});
    }
}
