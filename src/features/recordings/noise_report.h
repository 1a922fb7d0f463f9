/* What is shown of a recording: the cost of its noise in collectives, and figures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_REPORT_H
#define IWI_NOISE_REPORT_H

#include <idlewave/analysis.h>

#include "kit/doc/doc.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* By simulation. A recording that cannot be simulated, or not on so many ranks, has no costs: cost_p->network
 * is NULL then. */
IW_NODISCARD iw_status iwi_noise_cost_find(const iw_recording *recording, iw_noise_cost *cost_p);

/* The share of durations that are at least so long, ascending, each length once; thinned towards the short
 * ones. To be freed. */
IW_NODISCARD iw_status iwi_duration_points_new(const iw_log *log, const int64_t *sorted_ns, size_t count,
                                               iw_duration_point **points_p, size_t *point_count_p);

/* ---- the figures of recordings ---- */

/* The picture of the report has at least one point. Detours over time, by source or, for media without
 * colours, all alike; how often they take at least how long, by source; how many took how long. */
IW_NODISCARD iw_status iwi_noise_scatter_figure(const iw_log *log, const iw_noise_report *report,
                                                bool is_by_source, struct iwi_figure **figure_p);
IW_NODISCARD iw_status iwi_noise_rates_figure(const iw_log *log, const iw_noise_report *report,
                                              struct iwi_figure **figure_p);
IW_NODISCARD iw_status iwi_noise_histogram_figure(const iw_log *log, const iw_noise_report *report,
                                                  struct iwi_figure **figure_p);

/* ---- spectra: their sentences, also in reports of recordings ---- */

extern const struct iwi_schema iwi_spectrum_schema; /* iw_noise_spectrum */

/* Of a file: what the table cannot say. */
IW_NODISCARD iw_status iwi_spectrum_check(const iw_log *log, const char *name,
                                          const iw_noise_spectrum *spectrum);

/* What there is to say first; the lines and the figure; how sure it all is, as items. */
const char *iwi_spectrum_verdict(struct iwi_document *doc, const iw_noise_spectrum *spectrum);
void iwi_spectrum_show(struct iwi_document *doc, const iw_noise_spectrum *spectrum);
void iwi_spectrum_notes(struct iwi_document *doc, const iw_noise_spectrum *spectrum);

#endif
