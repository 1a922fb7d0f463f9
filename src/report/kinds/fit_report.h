/* What the writers of fits share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIT_REPORT_H
#define IWI_FIT_REPORT_H

#include <idlewave/analysis.h>

#include "report/kinds/noise_report.h"

/* A fit is within chance from this p on. */
static const double IWI_FIT_WITHIN_CHANCE = 0.05;

/* "irq local_timer", "3 other sources", "all". */
const char *iwi_fit_group_name(const iw_recording *recording, const iw_fit_group *group, size_t columns,
                               char buf[IWI_NAME_SIZE]);

/* "median 3.10 us, sigma 0.42". */
const char *iwi_fit_parameters(iw_fit_law law, const iw_duration_fit *fit, char buf[IWI_NAME_SIZE]);

/* "3.10 us", "0.52 ns". */
const char *iwi_fit_scale_text(double ns, char buf[IWI_NUMBER_SIZE]);

/* How detours that are no beats come. */
enum iwi_manner { IWI_AT_RANDOM, IWI_NEARLY_AT_RANDOM, IWI_IN_BURSTS, IWI_IN_STEP };
enum iwi_manner iwi_fit_manner(const iw_arrivals *arrivals);

/* "0.34"; "-" for none. */
const char *iwi_fit_p_text(double p, char buf[IWI_NUMBER_SIZE]);

/* What there is to say first; how sure it is, a sentence or two each. */
void iwi_fit_verdict(const iw_recording *recording, const iw_noise_fit *fit, const char *name,
                     char text[IWI_PARAGRAPH_SIZE]);
void iwi_fit_notes(const iw_noise_fit *fit, iwi_warning_fn note, void *arg);

/* What noise that was made of the specs has in common with the recording. */
void iwi_fit_agreement_text(const iw_noise_fit *fit, char text[IWI_PARAGRAPH_SIZE]);

/* Whether the specs together are another law than the best one of all detours. */
bool iwi_fit_has_mixture(const iw_noise_fit *fit);

/* Share of detours that last longer, recorded and fitted, both axes logarithmic. Nothing for less than two
 * lengths. */
void iwi_write_fit_plot(FILE *out, const iw_recording *recording, const iw_noise_fit *fit);

#endif
