/* Between the parts of iw_noise_spectrum_new().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPECTRUM_H
#define IWI_SPECTRUM_H

#include <stdbool.h>

#include <idlewave/analysis.h>

/* Power and what belongs to it: chooses windows, transforms them. spectrum->opts is given. */
IW_NODISCARD iw_status iwi_welch(const iw_log *log, const iw_recording *detours, iw_noise_spectrum *spectrum);

/* spectrum->floor, freedom, least_ratio: from the power. */
IW_NODISCARD iw_status iwi_find_floor(const iw_log *log, iw_noise_spectrum *spectrum);

/* A maximum that stands out. */
struct iwi_peak {
    double frequency_hz; /* between the frequencies of the spectrum */
    double ratio;        /* over the floor */
    double line_power;   /* above the floor, summed over its width: amplitude^2 / 2 */
    bool is_taken;       /* belongs to a line */
};

/* *peaks_p in the order of frequency, to be freed. */
IW_NODISCARD iw_status iwi_find_peaks(const iw_log *log, const iw_noise_spectrum *spectrum,
                                      struct iwi_peak **peaks_p, size_t *count_p);

/* spectrum->lines: peaks that are multiples of the same frequency are one line. */
IW_NODISCARD iw_status iwi_group_peaks(const iw_log *log, struct iwi_peak *peaks, size_t count,
                                       iw_noise_spectrum *spectrum);

/* A comb that explains the peak at `peak_hz` as one of many weak multiples. `is_known`, by bin: belongs to
 * other lines. False: there is none. */
struct iwi_weak_comb {
    double frequency_hz;
    double line_power; /* of a multiple, on average */
};

/* The first bin that counts. */
enum { IWI_LOWEST_BIN = 3 };

#endif
