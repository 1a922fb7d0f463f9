/* The figures of recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_FIGURE_H
#define IWI_NOISE_FIGURE_H

#include "report/figure/figure.h"
#include "report/kinds/noise_report.h"

/* Detours over time, by source; `facts` may be NULL: then all are one series. The longest, and some of the
 * rest, up to so many; 0: all. *figure_p is NULL where there is none. */
IW_NODISCARD iw_status iwi_noise_scatter_figure(const iw_log *log, const iw_recording *detours,
                                                const iw_noise_facts *facts, size_t most_points,
                                                struct iwi_figure **figure_p);
enum { IWI_SCATTER_POINTS = 20000 }; /* of a page or file */

/* How often they take at least how long, by source. */
IW_NODISCARD iw_status iwi_noise_rates_figure(const iw_log *log, const iw_recording *detours,
                                              const iw_noise_facts *facts, struct iwi_figure **figure_p);

/* How many took how long. */
IW_NODISCARD iw_status iwi_noise_histogram_figure(const iw_log *log, const iw_recording *detours,
                                                  double watched_ns, struct iwi_figure **figure_p);

/* ---- for both files ---- */

/* The largest sources have series of their own, the rest is one. */
struct iwi_source_series {
    size_t count;
    char labels[IWI_SERIES_INKS][IWI_NAME_SIZE];
    enum iwi_ink inks[IWI_SERIES_INKS];
    uint8_t *series_of; /* by number of the source */
};
IW_NODISCARD iw_status iwi_source_series_new(const iw_log *log, const iw_recording *detours,
                                             const iw_noise_facts *facts, struct iwi_source_series *series);

#endif
