/* What the writers of models share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MODEL_REPORT_H
#define IWI_MODEL_REPORT_H

#include <idlewave/model.h>

#include "report/kinds/report.h"

/* "1,023", "2.30 * 10^27", "-" for none */
const char *iwi_any_ranks_text(double ranks, char buf[IWI_NUMBER_SIZE]);

/* The source that slows most at that row, or NULL. */
const iw_source *iwi_model_dominant(const iw_model_report *report, size_t row);

/* "bench", or the class of sources without name. */
const char *iwi_model_source_name(const iw_source *source);

/* Both bounds are one number. */
bool iwi_model_is_exact(const iw_model_report *report);

/* Verdict, and what follows the tables: how sure, where it ends. */
void iwi_write_model_verdict(FILE *out, const iw_model_report *report);
void iwi_write_model_limits(FILE *out, const iw_model_report *report);

#endif
