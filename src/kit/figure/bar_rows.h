/* Figures of rows: a name, and below it a bar from 0 to its value with the interval as a line.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BAR_ROWS_H
#define IWI_BAR_ROWS_H

#include <idlewave/estimate.h>

#include "kit/figure/figure.h"

/* Axes for so many rows, and the mark that takes their bars. */
struct iwi_mark *iwi_bar_rows_begin(struct iwi_figure *figure, const char *label, enum iwi_axis_unit unit,
                                    size_t count);

/* The next row; `text` says its value. Without an interval there is no line. */
void iwi_bar_rows_add(struct iwi_figure *figure, struct iwi_mark *bars, const char *name, iw_estimate value,
                      const char *text, bool is_hot);

#endif
