/* The pieces of a study's figures for papers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_GNUPLOT_H
#define IWI_STUDY_GNUPLOT_H

#include "report/study_parts.h"

enum { IWI_FIGURE_NAME_SIZE = 96 };

/* One panel as a figure. */
struct iwi_figure {
    FILE *script;
    const struct iwi_panel *panel;
    char name[IWI_FIGURE_NAME_SIZE]; /* of its files, without suffix: "panel-1-allreduce-ring" */
    double threshold;
    bool is_flat; /* one number of ranks: systems stand side by side in one plot */
};

/* The column of the data, from 1, that has this number of a cell: x and the ranks come first. */
static inline int iwi_figure_column(enum iwi_cell_column column)
{
    return (int)column + 3;
}

/* Where a cell stands on the x axis: log2(ranks), or its system's number from 1. */
double iwi_figure_x(const struct iwi_figure *figure, const iw_cell_result *cell, size_t series);

/* ---- places and axes ---- */

#define IWI_FIGURE_WIDTH_CM 17.5

struct iwi_layout {
    size_t columns, rows; /* of box plots */
    double height_cm;
    double box_top_cm, box_cm, box_step_cm; /* of the first row, of a plot, from row to row */
    double curve_top_cm, curve_cm;
    bool has_slanted_names;
};

struct iwi_range {
    double low, high;
};

struct iwi_layout iwi_figure_layout(const struct iwi_figure *figure);

/* Leaves out what is not finite. */
void iwi_widen(struct iwi_range *range, double value);

void iwi_write_margins(FILE *script, const struct iwi_layout *layout, double left_cm, double width_cm,
                       double top_cm, double height_cm);

/* Powers of 2, at most so many, or the systems, with or without their names. */
void iwi_write_x_axis(const struct iwi_figure *figure, const struct iwi_layout *layout, size_t most_tics,
                      bool has_names);

/* A logarithmic y axis with labels by `text`, or none if NULL. */
void iwi_write_log_tics(FILE *script, struct iwi_range range, const char *(*text)(double, char *));

/* ---- the script ---- */

void iwi_write_figure_script(const struct iwi_figure *figure);

#endif
