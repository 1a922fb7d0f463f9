/* The figures of fits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIT_FIGURE_H
#define IWI_FIT_FIGURE_H

#include "report/figure/figure.h"
#include "report/kinds/fit_report.h"

/* The share of a group's detours that last longer, recorded and by its laws; `is_brief`: only the best law
 * and the specs together, as a terminal can tell them apart. *figure_p is NULL for less than two lengths. */
IW_NODISCARD iw_status iwi_fit_figure(const iw_log *log, const iw_recording *recording,
                                      const iw_noise_fit *fit, size_t group, bool is_brief,
                                      struct iwi_figure **figure_p);

#endif
