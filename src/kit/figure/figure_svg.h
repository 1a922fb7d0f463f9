/* What the files that draw figures as SVG share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIGURE_SVG_H
#define IWI_FIGURE_SVG_H

#include "kit/figure/figure_parts.h"

/* Where a figure is drawn: the places of its scales are pixels. */
struct iwi_svg {
    FILE *out;
    const struct iwi_figure *figure;
    struct iwi_scale x, y;
    bool is_file; /* colours are numbers, as all viewers of files know them */
};

/* A tenth of a pixel is enough, and no locale writes it with a comma. */
void iwi_svg_pixels(FILE *out, double pixels);

/* name="colour" */
void iwi_svg_colour(const struct iwi_svg *svg, const char *name, enum iwi_ink ink);

/* x and y in pixels; `attributes` without colour. */
void iwi_svg_text(const struct iwi_svg *svg, double x, double y, const char *attributes, enum iwi_ink ink,
                  const char *text);

/* Begins the sign of the mark's series, an element that is still open. */
void iwi_svg_sign(const struct iwi_svg *svg, const struct iwi_mark *mark, double x, double y);

/* Where values lie; what is outside of the axis, or below a logarithmic one, ends at its edge. */
double iwi_svg_x(const struct iwi_svg *svg, double value);
double iwi_svg_y(const struct iwi_svg *svg, double value);
double iwi_svg_clipped(const struct iwi_scale *scale, double value);

/* Pieces of paths: a command with its place; a line upwards. */
void iwi_svg_pair(FILE *out, char command, double x, double y);
void iwi_svg_upright(const struct iwi_svg *svg, double x, double from, double to);

/* <title>, which browsers show under the mouse. */
void iwi_svg_title(const struct iwi_svg *svg, const struct iwi_mark *mark, size_t item);

/* The texts of items above them, as far as they do not stand on each other. */
void iwi_svg_names(const struct iwi_svg *svg, const struct iwi_mark *mark, double above);

/* ---- marks ---- */

void iwi_svg_mark(const struct iwi_svg *svg, const struct iwi_mark *mark);

/* Of one that is no area, with items. */
void iwi_svg_line_mark(const struct iwi_svg *svg, const struct iwi_mark *mark);

#endif
