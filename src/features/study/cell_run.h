/* One cell: simulated, summed up, written as a line.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CELL_RUN_H
#define IWI_CELL_RUN_H

#include <idlewave/caveat.h>
#include <idlewave/sim.h>

#include "features/study/tasks.h"

/* The line (with its newline, to be freed) depends on the cell only, not on `threads`. */
IW_NODISCARD iw_status iwi_cell_run(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                                    uint32_t threads, iw_progress progress, char **line_p);

/* Those that are known, as a line has them. NULL: none is. Returns `buf` otherwise. */
enum { IWI_CELL_CAVEATS_SIZE = IW_CAVEATS_MOST * sizeof(iw_caveat) };
char *iwi_cell_caveats(const iw_caveats *caveats, char buf[IWI_CELL_CAVEATS_SIZE]);

/* Summary of the makespans of all trials, in nanoseconds, which are put in order. */
IW_NODISCARD iw_status iwi_cell_sum_up(const iw_log *log, double *values, size_t count,
                                       iw_cell_result *result);

#endif
