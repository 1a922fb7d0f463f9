/* The parts of a recording's text, in their order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_TEXT_H
#define IWI_NOISE_TEXT_H

#include "report/kinds/noise_report.h"

void iwi_write_noise_verdict(FILE *out, const iw_recording *recording, const iw_noise_facts *facts,
                             const char *name);
void iwi_write_noise_origin(FILE *out, const iw_recording *recording, const iw_noise_facts *facts);

/* Rates of interrupts, where nothing better tells the sources. */
void iwi_write_interrupts(FILE *out, const iw_recording *recording, const iw_noise_facts *facts);

/* Tables of sources (selfish only) and of CPUs (if there are several). */
IW_NODISCARD iw_status iwi_write_noise_tables(const iw_log *log, FILE *out, const iw_recording *recording,
                                              const iw_noise_facts *facts);

#endif
