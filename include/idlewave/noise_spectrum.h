/* idlewave/noise_spectrum.h - which frequencies the noise of a recording has.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_NOISE_SPECTRUM_H
#define IW_NOISE_SPECTRUM_H

#include <stdio.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Noise that comes again and again at the same distance. */
typedef struct iw_spectral_line {
    double frequency_hz; /* of the fundamental, also where only its multiples stand out */
    double ratio;        /* power over the floor, of the strongest of its multiples */
    double share;        /* of the time that it takes, about; the root of the mean square over the CPUs */
    size_t harmonics;    /* multiples that stand out, without the fundamental */
} iw_spectral_line;

/** A source that is periodic by itself. */
typedef struct iw_spectral_source {
    uint32_t source;  /* number in the recording's list */
    double period_ns; /* as iw_noise_row has it */
    double share;
    size_t line; /* that it carries; line_count if it carries none */
} iw_spectral_source;

typedef struct iw_spectrum_opts {
    double max_frequency_hz; /* 0: 5 kHz, or as far as quanta and length allow */
    int64_t cpu;             /* only this one; -1: the mean of all */
} iw_spectrum_opts;

#define IW_SPECTRUM_OPTS_INIT              \
    {                                      \
        .max_frequency_hz = 0.0, .cpu = -1 \
    }

/** The signal is the share of time that is lost. Its spectrum is the mean over CPUs and over windows of time
 * that overlap by half (Welch, with Hann's window). */
typedef struct iw_noise_spectrum {
    iw_spectrum_opts opts;   /* as given, but for max_frequency_hz: what was reached */
    size_t count;            /* of frequencies: 0, step_hz, 2 step_hz, ... */
    double step_hz;          /* one over the length of a window */
    double resolution_hz;    /* lines closer than this are one */
    double lowest_hz;        /* what is below cannot be told from a drift */
    double *power;           /* one-sided density, 1/Hz */
    double *floor;           /* what it is around there without lines: a running median */
    double window_ns;        /* length of a window */
    double quanta_hz;        /* their rate, 0 for detours; what is above half of it shows up folded back */
    size_t cpu_count;        /* that were long enough */
    size_t windows;          /* transformed, of all CPUs */
    size_t possible_windows; /* that there are; long recordings are sampled evenly */
    double freedom;          /* degrees of freedom of a value of `power` */
    double least_ratio;      /* lines must rise above the floor so many times */
    double false_alarm;      /* probability that noise without lines shows any */
    double highest_ratio;    /* of all frequencies */
    size_t line_count;       /* the strongest first */
    iw_spectral_line *lines;
    size_t source_count; /* periodic ones; quanta know none */
    iw_spectral_source *sources;
} iw_noise_spectrum;

/** IW_ERR_RANGE: no such CPU, a frequency that is not above 0, or a recording too short. */
IW_API IW_NODISCARD iw_status iw_noise_spectrum_new(const iw_log *log, const iw_recording *recording,
                                                    const iw_spectrum_opts *opts,
                                                    iw_noise_spectrum **spectrum_p);
IW_API void iw_noise_spectrum_free(iw_noise_spectrum *spectrum);

/** Verdict, lines and the sources that carry them, a plot, how sure; 80 columns. */
IW_API IW_NODISCARD iw_status iw_spectrum_write_text(const iw_log *log, const iw_recording *recording,
                                                     const iw_noise_spectrum *spectrum, const char *name,
                                                     FILE *out);

/** One JSON object, schema "idlewave.noise-spectrum/1". */
IW_API IW_NODISCARD iw_status iw_spectrum_write_json(const iw_log *log, const iw_recording *recording,
                                                     const iw_noise_spectrum *spectrum, const char *name,
                                                     FILE *out);

/** frequency_hz,power: one line each. */
IW_API IW_NODISCARD iw_status iw_spectrum_write_csv(const iw_log *log, const iw_noise_spectrum *spectrum,
                                                    FILE *out);

/** As iw_noise_plot(). */
IW_API IW_NODISCARD iw_status iw_spectrum_plot(const iw_log *log, const iw_recording *recording,
                                               const iw_noise_spectrum *spectrum, const char *name,
                                               const char *path);

#ifdef __cplusplus
}
#endif
#endif
