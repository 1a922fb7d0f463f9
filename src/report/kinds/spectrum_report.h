/* What the writers of spectra share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPECTRUM_REPORT_H
#define IWI_SPECTRUM_REPORT_H

#include <idlewave/analysis.h>

#include "report/kinds/noise_report.h"

/* "1000.00 Hz": with as many decimals as the spectrum can tell. */
const char *iwi_frequency_text(const iw_noise_spectrum *spectrum, double frequency_hz,
                               char buf[IWI_NUMBER_SIZE]);

/* "1385", "12.5"; over a million only that it is. */
const char *iwi_ratio_text(double ratio, char buf[IWI_NUMBER_SIZE]);

/* What there is to say first; the sources that carry a line, "irq local_timer, softirq TIMER, ..", may be
 * none; how sure it all is, a sentence or two each. */
void iwi_spectrum_verdict(const iw_recording *recording, const iw_noise_spectrum *spectrum, const char *name,
                          char text[IWI_PARAGRAPH_SIZE]);
void iwi_spectrum_carriers(const iw_recording *recording, const iw_noise_spectrum *spectrum, size_t line,
                           char text[IWI_PARAGRAPH_SIZE]);
void iwi_spectrum_notes(const iw_recording *recording, const iw_noise_spectrum *spectrum, iwi_warning_fn note,
                        void *arg);

/* The spectrum as reports show it. A recording too short for one: *spectrum_p is NULL, and `why_not` a
 * sentence that says so. */
IW_NODISCARD iw_status iwi_report_spectrum(const iw_log *log, const iw_recording *recording,
                                           iw_noise_spectrum **spectrum_p, char why_not[IWI_PARAGRAPH_SIZE]);

/* The rate of the kernel's tick that a line has: as the recording says (*is_known_p), or a usual one. 0: it
 * is none. */
double iwi_tick_of(const iw_recording *recording, const iw_spectral_line *line, bool *is_known_p);

/* Frequencies that a column of a plot stands for: of `columns` on a logarithmic axis. */
struct iwi_spectrum_column {
    double frequency_hz; /* its middle */
    double power;        /* the highest */
    double floor;
};
struct iwi_spectrum_column iwi_spectrum_column(const iw_noise_spectrum *spectrum, size_t column,
                                               size_t columns);

/* Powers of ten around all powers that a plot of so many columns shows; what lies far below the highest is
 * rounding. False: there is no power. */
bool iwi_spectrum_decades(const iw_noise_spectrum *spectrum, size_t columns, double *low_p, double *high_p);

/* Power over frequency, both logarithmic; lines are marked on the axis. Nothing if there is no power. */
void iwi_write_spectrum_plot(FILE *out, const iw_noise_spectrum *spectrum);

#endif
