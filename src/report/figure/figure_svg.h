/* What the files that draw figures as SVG share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIGURE_SVG_H
#define IWI_FIGURE_SVG_H

#include "report/figure/figure_parts.h"

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

void iwi_svg_mark(const struct iwi_svg *svg, const struct iwi_mark *mark);

#endif
