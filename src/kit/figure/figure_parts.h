/* What the drawers of figures share: where numbers lie on an axis, and how they read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIGURE_PARTS_H
#define IWI_FIGURE_PARTS_H

#include "kit/figure/figure.h"
#include "kit/text/words.h"

enum { IWI_MOST_TICKS = 24, IWI_MOST_SIGNS = 80, IWI_MOST_LARGE_DOTS = 400 };

/* "xyy": which axis each number of an item is on. */
const char *iwi_mark_roles(enum iwi_mark_kind kind);
const double *iwi_mark_item(const struct iwi_mark *mark, size_t item);

/* Whether the items of a line are shown one by one. */
bool iwi_mark_has_signs(const struct iwi_mark *mark);

/* How much of a cell the layer covers. */
double iwi_cell_share(const struct iwi_layer *layer, size_t cell);

/* The colour of a cell, all layers over each other: red << 16 | green << 8 | blue. */
uint32_t iwi_cell_rgb(const struct iwi_mark *cells, size_t cell);

/* NULL: it has none. */
const char *iwi_mark_text(const struct iwi_mark *mark, size_t item);
bool iwi_mark_is_hot(const struct iwi_mark *mark, size_t item);

/* Values `low` to `high` on the places `from` to `to`. */
struct iwi_scale {
    const struct iwi_figure_axis *axis;
    double low, high, from, to;
};

/* Whether the y axis goes down. */
bool iwi_axis_is_down(const struct iwi_figure_axis *axis);

/* As the axes say, or as the marks need it. The places are 0 to 1. */
void iwi_figure_scales(const struct iwi_figure *figure, struct iwi_scale *x, struct iwi_scale *y);

/* Where a value lies; NaN for values that a logarithmic axis does not have. */
double iwi_scale_at(const struct iwi_scale *scale, double value);

/* Round values, at most `wanted` or a few more; returns how many. */
size_t iwi_scale_ticks(const struct iwi_scale *scale, size_t wanted, double ticks[IWI_MOST_TICKS]);

/* A value as it reads at a tick; returns `buf`. */
const char *iwi_axis_text(const struct iwi_figure_axis *axis, double value, char buf[IWI_PHRASE_SIZE]);

/* What an item says of itself: "chic: 2,048 ranks, 1.23x". */
void iwi_item_text(const struct iwi_figure *figure, const struct iwi_mark *mark, size_t item,
                   char text[IWI_PARAGRAPH_SIZE]);

/* Entry number `index` of the legend: a mark with a label, or a layer of cells, which looks like a bar.
 * False: there is none. */
bool iwi_legend_entry(const struct iwi_figure *figure, size_t index, struct iwi_mark *entry);

/* Whether there is more than one thing to tell apart. */
bool iwi_figure_has_legend(const struct iwi_figure *figure);

#endif
