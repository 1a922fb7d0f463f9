/* Spectra: their sentences, also in reports of recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPECTRUM_REPORT_H
#define IWI_SPECTRUM_REPORT_H

#include <idlewave/analysis.h>

#include "kit/doc/doc.h"
#include "kit/text/words.h"

extern const struct iwi_schema iwi_spectrum_schema; /* iw_noise_spectrum */

/* Of a file: what the table cannot say. */
IW_NODISCARD iw_status iwi_spectrum_check(const iw_log *log, const char *name,
                                          const iw_noise_spectrum *spectrum);

/* What there is to say first; the lines and the figure; how sure it all is, as items. */
const char *iwi_spectrum_verdict(struct iwi_document *doc, const iw_noise_spectrum *spectrum);
void iwi_spectrum_show(struct iwi_document *doc, const iw_noise_spectrum *spectrum);
void iwi_spectrum_notes(struct iwi_document *doc, const iw_noise_spectrum *spectrum);

#endif
