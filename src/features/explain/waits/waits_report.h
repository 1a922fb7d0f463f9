/* What the files of `waits` share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WAITS_REPORT_H
#define IWI_WAITS_REPORT_H

#include <idlewave/waits.h>

#include "kit/doc/doc.h"
#include "kit/schema/schema.h"

/* Of the time of all ranks. */
double iwi_waits_share(const iw_waits *waits, double ns);

void iwi_waits_say_verdict(struct iwi_document *doc, const iw_waits *waits);
void iwi_waits_say_certainty(struct iwi_document *doc, const iw_waits *waits);

/* What pauses cost. */
extern const struct iwi_schema iwi_waits_cost_schema;

void iwi_waits_show_map(struct iwi_document *doc, const iw_waits *waits);
void iwi_waits_show_times(struct iwi_document *doc, const iw_waits *waits);

#endif
