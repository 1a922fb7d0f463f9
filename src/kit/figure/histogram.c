/* Figures of how many have how much.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/histogram.h"

#include <math.h>

/* Where the axis begins: a bar of one still has a height. */
static const double LEAST_COUNT = 0.7, ROOM_ABOVE = 1.6;

void iwi_histogram_axes(struct iwi_figure *figure, const char *label, const char *count_label)
{
    figure->height = 0.46;
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = label, .unit = IWI_AXIS_NS, .is_log = true};
    figure->y = (struct iwi_figure_axis){
        .label = count_label, .unit = IWI_AXIS_COUNT, .is_log = true, .low = LEAST_COUNT, .high = 1.0};
}

void iwi_histogram_bar(struct iwi_figure *figure, struct iwi_mark *bars, double from, double to, double count,
                       const char *name)
{
    if (count > 0.0) {
        figure->y.high = fmax(figure->y.high, count * ROOM_ABOVE);
        iwi_mark_add_named(figure, bars, (double[]){from, to, LEAST_COUNT, count}, name, false);
    }
}
