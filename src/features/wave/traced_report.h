/* Between the document of a traced run and the page of its timeline.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACED_REPORT_H
#define IWI_TRACED_REPORT_H

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include "kit/doc/doc.h"

/* Paragraphs of the verdict: the run, then its waves, or why none are shown. */
void iwi_traced_say_verdict(struct iwi_document *doc, const iw_traced_run *run);

/* A section: the time in each MPI function. */
void iwi_traced_say_functions(struct iwi_document *doc, const iw_trace_summary *summary);

#endif
