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

/* A place on the x axis, a blank before it. */

/* Rectangles with texts. */

/* The rules as arrows, then the command that plots all marks. *block_p: the number of the next block of data.
 */

#endif
