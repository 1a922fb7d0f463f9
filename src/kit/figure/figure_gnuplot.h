/* What the files that draw figures by gnuplot share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIGURE_GNUPLOT_H
#define IWI_FIGURE_GNUPLOT_H

#include "kit/figure/figure_sheet.h"

struct iwi_plot {
    FILE *script;
    const struct iwi_figure *figure;
    struct iwi_scale x, y;
    const char *file; /* whose ".dat" has the data, or NULL: blocks within the script have it */
};

/* Whether gnuplot gets logarithms to the base of 2 of this axis. */
bool iwi_gnuplot_has_powers(const struct iwi_figure_axis *axis);

/* A place on the x axis, a blank before it. */
void iwi_gnuplot_x(const struct iwi_plot *plot, double value);

/* Rectangles with texts. */
void iwi_gnuplot_frames(const struct iwi_plot *plot, const struct iwi_mark *mark);

/* The rules as arrows, then the command that plots all marks. *block_p: the number of the next block of data.
 */
void iwi_gnuplot_marks(const struct iwi_plot *plot, size_t *block_p);

#endif
