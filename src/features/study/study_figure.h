/* The figures of studies.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_FIGURE_H
#define IWI_STUDY_FIGURE_H

#include "features/study/study_report.h"
#include "kit/figure/figure.h"

/* `axis` is what the series are, where they stand side by side.
 *
 * Times of the median over ranks, in times of that without noise, with intervals and where noise takes over;
 * side by side where all have the same single number of ranks. */
IW_NODISCARD iw_status iwi_study_curves_figure(const iw_log *log, const struct iwi_drawn_series *drawn,
                                               size_t count, double threshold, const char *title,
                                               const char *axis, struct iwi_figure **figure_p);

/* How times are distributed, over ranks; several series only where each has one number of ranks. The axis of
 * time has `low_ns` to `high_ns`, so that figures can be compared. */
IW_NODISCARD iw_status iwi_study_boxes_figure(const iw_log *log, const struct iwi_drawn_series *drawn,
                                              size_t count, double threshold, double low_ns, double high_ns,
                                              const char *title, const char *axis,
                                              struct iwi_figure **figure_p);

/* Smallest and largest time of the series; widens what is there (INFINITY, 0 to begin with). */
void iwi_study_limits(const iw_series *series, double *low_ns, double *high_ns);

#endif
