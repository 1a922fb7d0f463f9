/* Sheets: where their figures are, and how they get into files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIGURE_SHEET_H
#define IWI_FIGURE_SHEET_H

#include "kit/figure/figure_parts.h"

#define IWI_SHEET_CM 17.5 /* its width, as on paper */
#define IWI_LEGEND_CM 0.5 /* a line of the legend */

/* In cm from the upper left corner: the plot without the texts around it, where its title stands and its
 * legend begins. */
struct iwi_place {
    double left_cm, top_cm, width_cm, height_cm, title_cm, legend_cm;
    size_t legend_columns;
    bool has_y_labels; /* else the figure to the left has the same axis */
};

struct iwi_layout {
    double height_cm;
    struct iwi_place *places; /* one for each figure */
};

void iwi_sheet_write_svg(const struct iwi_sheet *sheet, const struct iwi_layout *layout, FILE *out);

/* The commands that draw the sheet, for any terminal; its data, block after block. */
void iwi_sheet_write_script(const struct iwi_sheet *sheet, const struct iwi_layout *layout, const char *file,
                            FILE *script);
void iwi_sheet_write_data(const struct iwi_sheet *sheet, bool is_file, FILE *out);

#endif
