/* Between the parts of iw_noise_facts_new().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SOURCE_ROWS_H
#define IWI_SOURCE_ROWS_H

#include <idlewave/analysis.h>

/* One row without its period. Reorders the durations. */
iw_noise_row iwi_noise_row_of(double *durations_ns, size_t count, double watched_ns);

/* Fills the rows of facts->sources, one for each source of the recording; facts->watched_ns is known. */
IW_NODISCARD iw_status iwi_describe_sources(const iw_log *log, const iw_recording *recording,
                                            iw_noise_facts *facts);

#endif
