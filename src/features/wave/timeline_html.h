/* The page of a timeline: what its files share. web/timeline_cells.js reads what timeline_code.c writes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_HTML_H
#define IWI_TIMELINE_HTML_H

#include <stdio.h>

#include <jansson.h>

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include "features/wave/timeline_report.h"

struct iwi_timeline_page {
    const iw_timeline *timeline;
    iw_traced_run run; /* has no summary if it was not traced */
    const char *name;  /* of the file */
};

/* Everything that is drawn, for web/timeline.js. No text of the user's is in it. */
IW_NODISCARD iw_status iwi_timeline_data(const iw_log *log, const struct iwi_timeline_page *page,
                                         json_t **data_p);

/* ---- cells and steps as text ----
 * A digit is one of 64 characters. Shares of cells, row after row: a digit (0 to 63: all of the time), or a
 * number of cells that repeat the one before, or those of the row below, in digits of their own. */
void iwi_code_cells(FILE *out, const uint16_t *shares, uint32_t rows, uint32_t columns);

/* Steps of one rank in units of time. A digit of 32 and more: the step before comes so many times again,
 * less 31. Below: bit i says that state i differs from the step before; those follow, five bits a digit, the
 * lowest first, 32 added if there is more. */
void iwi_code_steps(FILE *out, const iw_step *steps, size_t count, iw_time unit_ps);

#endif
