/* Cells that are training programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CELL_TRAINING_H
#define IWI_CELL_TRAINING_H

#include "features/study/inputs.h"

/* iwi_cell_run() of such a cell. */
IW_NODISCARD iw_status iwi_cell_run_training(const iw_log *log, const struct iwi_inputs *inputs,
                                             const iw_cell *cell, uint32_t threads, iw_progress progress,
                                             char **line_p);

/* Operations of all ranks in the steps of a trial, which count as messages. */
IW_NODISCARD iw_status iwi_cell_count_training(const iw_log *log, const iw_study *study, const iw_cell *cell,
                                               uint64_t *messages_p);

#endif
