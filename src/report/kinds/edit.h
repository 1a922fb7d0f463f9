/* What the writers of edits share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_EDIT_H
#define IWI_EDIT_H

#include <idlewave/recording.h>

#include "report/kinds/noise_report.h"

/* Edits say nothing about barriers; the facts want a number. */
#define IWI_EDIT_LONG_NS 20000.0

/* What the recording amounts to: CPUs, detours and samples. */
iw_edit iwi_edit_after(const iw_recording *recording);

/* Share of time that was noise before; NaN where it is not known: nothing was before, or there are only
 * samples. */
double iwi_edit_share(const iw_edit *edit, const iw_recording *recording);

#endif
