/* What the page and the pictures of timelines share: a part of the timeline as a grid of cells, and lines
 * fitted to waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_REPORT_H
#define IWI_TIMELINE_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

enum { IWI_SHARE_ONE = 65535 }; /* of iw_raster */

/* Some ranks over some time. Row 0 of the raster begins with window.first_rank, column 0 at window.from_ps;
 * the window has no zeros with a meaning of their own. */
struct iwi_grid {
    iw_timeline_window window;
    iw_raster raster;
    uint16_t *cells; /* all of the raster */
};

/* The window without zeros that mean "all", and within the timeline; NULL: all of it. IW_ERR_RANGE. */
IW_NODISCARD iw_status iwi_timeline_clip(const iw_log *log, const iw_timeline *timeline,
                                         const iw_timeline_window *window, iw_timeline_window *clipped_p);

/* At most so many rows and columns: exact where the steps are known, else of the timeline's raster. */
IW_NODISCARD iw_status iwi_grid_new(const iw_log *log, const iw_timeline *timeline,
                                    const iw_timeline_window *window, uint32_t most_rows,
                                    uint32_t most_columns, struct iwi_grid *grid_p);
void iwi_grid_free(struct iwi_grid *grid);

/* Overwrites the cells of which every step is known. */
IW_NODISCARD iw_status iwi_grid_add_steps(const iw_log *log, const iw_timeline *timeline,
                                          struct iwi_grid *grid);

/* Steps of the exact window that touch `window`. */
uint64_t iwi_timeline_count_steps(const iw_timeline *timeline, const iw_timeline_window *window);

/* Whether cells should show their most disturbed rank, so that one of a million stays visible; if most cells
 * have such a rank, the mean of all tells more. */
bool iwi_raster_prefers_max(const iw_raster *raster);

/* ---- waves ---- */

typedef enum iwi_edge { IWI_EDGE_LEAD, IWI_EDGE_TRAIL } iwi_edge;

/* A line: when the edge passes `distance` ranks from the origin, begin_ps + distance * ps_per_rank. NaN where
 * nothing was fitted. */
struct iwi_fit {
    double begin_ps, ps_per_rank;
};
struct iwi_fit iwi_wave_fit(const iw_wave *wave, iwi_edge edge);
double iwi_fit_ps(const struct iwi_fit *fit, uint32_t distance);

/* Whether the wave goes around the end of the ranks between two fronts: no line is drawn there. */
bool iwi_wave_wraps(const iw_timeline *timeline, const iw_front *from, const iw_front *to);

/* ---- the page ---- */

struct iwi_timeline_page {
    const iw_timeline *timeline;
    iw_traced_run run; /* has no summary if it was not traced */
    const char *name;  /* of the file */
};

/* Everything that is drawn, for web/timeline.js. No text of the user's is in it. */
IW_NODISCARD iw_status iwi_timeline_data(const iw_log *log, const struct iwi_timeline_page *page,
                                         json_t **data_p);

/* ---- cells and steps as text; web/timeline_cells.js reads them ---- */

/* A digit is one of 64 characters. Shares of cells, row after row: a digit (0 to 63: all of the time), or a
 * number of cells that repeat the one before, or those of the row below, in digits of their own. */
void iwi_code_cells(FILE *out, const uint16_t *shares, uint32_t rows, uint32_t columns);

/* Steps of one rank in units of time. A digit of 32 and more: the step before comes so many times again,
 * less 31. Below: bit i says that state i differs from the step before; those follow, five bits a digit, the
 * lowest first, 32 added if there is more. */
void iwi_code_steps(FILE *out, const iw_step *steps, size_t count, iw_time unit_ps);

#endif
