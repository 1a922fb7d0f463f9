/* What the document of comparisons and its figures share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COMPARE_REPORT_H
#define IWI_COMPARE_REPORT_H

#include <idlewave/analysis.h>

#include "core/base/order.h"
#include "kit/doc/doc.h"

/* "0.41 %", "263/s", "2.02 us"; "-" if there is none. The same of a difference, with its sign. */
const char *iwi_compare_number(struct iwi_document *doc, iw_compare_metric metric, double value);
const char *iwi_compare_change(struct iwi_document *doc, iw_compare_metric metric, double value);

/* "-0.13 % to +0.02 %"; "" if there is none. */
const char *iwi_compare_interval(struct iwi_document *doc, iw_compare_metric metric, iw_estimate difference);

/* "thread cron" */
const char *iwi_compare_source_name(struct iwi_document *doc, const iw_source *source);

static inline bool iwi_compare_is_quanta(const iw_noise_comparison *comparison)
{
    return iw_probe_has_quanta(comparison->a.probe);
}

/* ---- sentences (compare_words.c) ---- */

void iwi_compare_say_verdict(struct iwi_document *doc, const iw_noise_comparison *comparison);

/* How sure it is, and what differs besides the noise: items of the section "certainty". */
void iwi_compare_say_notes(struct iwi_document *doc, const iw_noise_comparison *comparison);

/* ---- figures: none where there is nothing to draw ---- */

#endif
