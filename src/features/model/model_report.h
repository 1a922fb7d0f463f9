/* What the files of models share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MODEL_REPORT_H
#define IWI_MODEL_REPORT_H

#include <idlewave/model.h>

#include "kit/doc/doc.h"

/* "1,023", "2.30 * 10^27", "-" for none */
const char *iwi_any_ranks(struct iwi_document *doc, double ranks);

/* Verdict, and what follows the tables: the question, how sure, where it ends. */
void iwi_say_model_verdict(struct iwi_document *doc, const iw_model_report *report);
void iwi_say_model_limits(struct iwi_document *doc, const iw_model_report *report);

#endif
