/* Between the parts of the report on waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WAVE_REPORT_H
#define IWI_WAVE_REPORT_H

#include <idlewave/wave.h>

#include "report/report.h"

/* "up" and "down" on a line, "+0" and "-2" along a dimension of a grid. */
const char *iwi_wave_direction(const iw_timeline_about *about, const iw_wave *wave,
                               char buf[IWI_NUMBER_SIZE]);

/* Writes the verdict as a paragraph. */
void iwi_waves_write_verdict(const iw_timeline *timeline, const iw_waves *waves, FILE *out);

#endif
