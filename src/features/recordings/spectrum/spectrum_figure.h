/* The figure of a spectrum.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPECTRUM_FIGURE_H
#define IWI_SPECTRUM_FIGURE_H

#include "features/recordings/spectrum/spectrum_report.h"
#include "kit/figure/figure.h"

/* Power and floor over frequency, lines named; *figure_p is NULL where there is no power. */
IW_NODISCARD iw_status iwi_spectrum_figure(const iw_log *log, const iw_noise_spectrum *spectrum,
                                           struct iwi_figure **figure_p);

#endif
