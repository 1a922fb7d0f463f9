/* What the writers of comparisons share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COMPARE_REPORT_H
#define IWI_COMPARE_REPORT_H

#include <idlewave/analysis.h>

#include "report/kinds/noise_report.h"

/* How sure the comparison is, and what differs besides the noise: one item each. */
typedef void (*iwi_note_fn)(void *arg, const char *text);
void iwi_compare_notes(const iw_compared *compared, iwi_note_fn note, void *arg);

#endif
