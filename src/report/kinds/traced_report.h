/* Between the parts of the report on a traced run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACED_REPORT_H
#define IWI_TRACED_REPORT_H

#include <idlewave/timeline.h>

#include "report/kinds/report.h"

/* "1.50 MiB" */
const char *iwi_volume_text(uint64_t bytes, char buf[IWI_NUMBER_SIZE]);

/* Longest computation of a rank through the mean one. */
double iwi_trace_imbalance(const iw_trace_summary *summary);

/* Of all functions, over all ranks. */
double iwi_trace_mpi_ps(const iw_trace_summary *summary);

/* Sentences, appended: the run; that several threads call, or nothing; why no waves are shown. */
void iwi_trace_verdict(const iw_trace_summary *summary, char text[IWI_PARAGRAPH_SIZE]);
void iwi_trace_threads(const iw_trace_summary *summary, char text[IWI_PARAGRAPH_SIZE]);
void iwi_trace_no_waves(const iw_trace_summary *summary, const iw_waves *waves,
                        char text[IWI_PARAGRAPH_SIZE]);

#endif
