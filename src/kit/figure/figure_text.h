/* What the files that draw figures with characters share: a canvas between axes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIGURE_TEXT_H
#define IWI_FIGURE_TEXT_H

#include "kit/figure/figure_parts.h"

struct iwi_canvas {
    FILE *out;
    const struct iwi_figure *figure;
    struct iwi_figure_look look;
    struct iwi_scale x, y; /* places are columns and rows, from the lower left corner */
    size_t columns, rows, label_columns;
    uint32_t *signs; /* codes of characters, [row from the top * columns + column]; 0: blank */
    bool *is_pinned; /* by column: a sign on the axis */
};

/* As UTF-8; where a terminal has only ASCII, documents write others instead. */
void iwi_write_sign(FILE *out, uint32_t sign);

/* What stands for a curve in plot and legend: the `index`-th that is not filled; filled ones. */
uint32_t iwi_curve_sign(size_t index);
uint32_t iwi_fill_sign(const struct iwi_mark *mark);

/* Where a value falls among `steps` steps of an axis; what lies on its upper end belongs to the last one. */
size_t iwi_step_of(double share, size_t steps);

/* ---- marks ---- */

void iwi_canvas_dots(struct iwi_canvas *canvas);
void iwi_canvas_curves(struct iwi_canvas *canvas);

/* How many cells a terminal shows, for a look with lines and columns. */
struct iwi_cells_size {
    size_t columns, lines, pixel_rows, label_columns;
};
struct iwi_cells_size iwi_cells_size(double highest, uint32_t count, const struct iwi_figure_look *look);

/* A figure of cells, with axes, legend and all. */
void iwi_text_cells(struct iwi_canvas *canvas, const struct iwi_mark *cells);

/* A figure of frames. */
void iwi_text_frames(struct iwi_canvas *canvas);

/* Boxes as rows, with an axis above them. */
void iwi_text_boxes(const struct iwi_canvas *canvas);

/* ---- axes ---- */

/* The line of the x axis and its labels. */
void iwi_canvas_x_axis(const struct iwi_canvas *canvas);

/* What begins line `row` from the top: the label of a tick that falls into it, and the axis. */
void iwi_canvas_y_label(const struct iwi_canvas *canvas, size_t row);

#endif
