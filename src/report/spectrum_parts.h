/* What the writers of spectra share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPECTRUM_PARTS_H
#define IWI_SPECTRUM_PARTS_H

#include <idlewave/noise_spectrum.h>

#include "report/noise_parts.h"

/* "1000.00 Hz": with as many decimals as the spectrum can tell. */
const char *iwi_frequency_text(const iw_noise_spectrum *spectrum, double frequency_hz,
                               char buf[IWI_NUMBER_SIZE]);

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

/* Power over frequency, both logarithmic; lines are marked on the axis. Nothing if there is no power. */
void iwi_write_spectrum_plot(FILE *out, const iw_noise_spectrum *spectrum);

#endif
