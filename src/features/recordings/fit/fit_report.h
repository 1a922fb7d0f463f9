/* What the document of fits and its figures share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIT_REPORT_H
#define IWI_FIT_REPORT_H

#include <idlewave/fit.h>

#include "kit/doc/doc.h"

/* "all", "3 other sources", "irq local_timer". */
const char *iwi_fit_group_name(struct iwi_document *doc, const iw_fit_group *group);

/* "mean 20.1 us", "median 3.02 us, sigma 0.61". */
const char *iwi_fit_parameters(struct iwi_document *doc, const iw_duration_fit *fit);

/* "2.7 ns", "20.1 us"; "0.34", "0.002", "-". */
const char *iwi_fit_scale(struct iwi_document *doc, double ns);
const char *iwi_fit_p(struct iwi_document *doc, double p);

/* Whether the specs together are another law than the best one of all detours. */
bool iwi_fit_has_mixture(const iw_noise_fit *fit);

/* p-values from here on are no reason to doubt a law. */
#define IWI_FIT_WITHIN_CHANCE 0.05

/* How detours come that are not periodic. */
enum iwi_manner { IWI_AT_RANDOM, IWI_NEARLY_AT_RANDOM, IWI_IN_BURSTS, IWI_IN_STEP };
enum iwi_manner iwi_fit_manner(const iw_arrivals *a);

/* ---- sentences (fit_words.c) ---- */

void iwi_fit_verdict(struct iwi_document *doc, const iw_noise_fit *fit);

/* How well noise made of the specs agrees with the recording. */
void iwi_fit_say_agreement(struct iwi_document *doc, const iw_noise_fit *fit);

/* Items of the section "certainty". */
void iwi_fit_notes(struct iwi_document *doc, const iw_noise_fit *fit);

#endif
