/* What other features use of recordings: tables and sections of documents, laws fitted again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDINGS_H
#define IWI_RECORDINGS_H

#include <idlewave/analysis.h>
#include <idlewave/fit.h>

#include "kit/doc/doc.h"

extern const struct iwi_schema iwi_noise_schema; /* iw_noise_report */

/* Of a file: what the table cannot say. */
IW_NODISCARD iw_status iwi_noise_check(const iw_log *log, const char *file, const iw_noise_report *report);

/* An attribute of the recording; NULL: it has none of that name. */
const char *iwi_fact(const iw_noise_facts *facts, const char *name);

/* The same; NULL also for what says nothing. */
const char *iwi_said_fact(const iw_noise_facts *facts, const char *name);

/* The node's name as it calls itself, or else that of the recording. */
const char *iwi_noise_host(const iw_noise_report *report);

/* "irq", "thread", "kernel thread". */
const char *iwi_origin_class(const iw_noise_origin *origin);

/* Sentences: how much is lost; how it was measured; how often interrupts came, where sources are not known;
 * and, as items, what one should know before believing it. */
void iwi_noise_verdict(struct iwi_document *doc, const iw_noise_report *report);
void iwi_noise_provenance(struct iwi_document *doc, const iw_noise_report *report);
void iwi_noise_interrupts(struct iwi_document *doc, const iw_noise_facts *facts);
void iwi_noise_warnings(struct iwi_document *doc, const iw_noise_facts *facts);

/* Figures, for pages and files; tables of sources and CPUs. Nothing where there is nothing to show. */
void iwi_noise_figures(struct iwi_document *doc, const iw_noise_report *report);
void iwi_noise_tables(struct iwi_document *doc, const iw_noise_facts *facts);

/* Fits a recording that was drawn anew from the one of `first`, for its specs alone: p and agreement stay
 * unknown, and a period among others is looked for where `first` has it. That saves the spectrum, which takes
 * nearly all the time of a fit. */
IW_NODISCARD iw_status iwi_fit_redrawn(const iw_log *log, const iw_recording *recording,
                                       const iw_noise_fit *first, iw_noise_fit **fit_p);

#endif
