/* The figures of single simulations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RESULT_FIGURE_H
#define IWI_RESULT_FIGURE_H

#include "report/figure/figure.h"
#include "report/kinds/result_report.h"

/* When its trials end, or the ranks of a single one. */
IW_NODISCARD iw_status iwi_result_times_figure(const iw_log *log, const json_t *result,
                                               struct iwi_figure **figure_p);

/* What the critical path is made of, from the member "explain": of the last rank, of an average one, and on
 * average over trials where that is known. */
IW_NODISCARD iw_status iwi_result_path_figure(const iw_log *log, const json_t *explain,
                                              struct iwi_figure **figure_p);

#endif
