/* idlewave/analysis.h - what recordings say: numbers, comparisons, spectra; fitted laws are in fit.h.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_ANALYSIS_H
#define IW_ANALYSIS_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Facts ========
 * Numbers of a recording, by source and by CPU, and how they are shown.
 */

/** One line of a table: all of a recording, one source, or one CPU. FWQ and FTQ: each quantum counts as one
 * detour that took what the quantum lost against the best one of its CPU. */
typedef struct iw_noise_row {
    uint64_t count;        /* of a source: detours in which it takes part */
    double rate_hz, share; /* of the time watched, on the average CPU */
    double median_ns, p99_ns, max_ns;
    double period_ns; /* 0: not periodic */
} iw_noise_row;

/** A source that took time. */
typedef struct iw_noise_origin {
    iw_source source;
    uint32_t number; /* in the recording's list */
    bool is_kernel;  /* a thread of the kernel, where the recording tells */
    iw_noise_row row;
} iw_noise_origin;

/** A CPU, as iw_detours describes it. */
typedef struct iw_noise_cpu {
    uint32_t cpu;
    int64_t length_ns;
    double t_min_ns, threshold_ns;
    uint64_t dropped;
    iw_noise_row row;
} iw_noise_cpu;

typedef struct iw_noise_facts {
    iw_probe probe;
    iw_attribution_level attribution;
    bool has_sources;   /* detours have known sources */
    int64_t quantum_ns; /* FWQ, FTQ; else 0 */
    double watched_ns;  /* summed over CPUs */
    iw_noise_row all;
    size_t source_count; /* the largest share first */
    iw_noise_origin *sources;
    size_t cpu_count;
    iw_noise_cpu *cpus;
    size_t attribute_count;
    const iw_attribute *attributes; /* the recording's own */
    uint64_t dropped;
    iw_load load;
    iw_caveats caveats;
    /* Sources rarer than this (mean time between) may have been missed: a third of the shortest CPU's length
     * (rule of three, 95 %). */
    double rare_limit_ns;
} iw_noise_facts;

IW_API IW_NODISCARD iw_status iw_noise_facts_new(const iw_log *log, const iw_recording *recording,
                                                 iw_noise_facts **facts_p);
IW_API void iw_noise_facts_free(iw_noise_facts *facts);

/** A detour that is drawn. */
typedef struct iw_noise_point {
    double start_ns, duration_ns;
    uint32_t cpu;
    uint32_t source; /* its place in the list of the facts */
} iw_noise_point;

/** The largest sources are drawn one by one, all others as the last one. */
enum { IW_NOISE_SERIES = 7 };

/** How many took from from_ns to to_ns. */
typedef struct iw_noise_bin {
    double from_ns, to_ns;
    uint64_t count;
    double time_ns;
    uint64_t by_source[IW_NOISE_SERIES]; /* of these the count */
} iw_noise_bin;

/** What is drawn of a recording. */
typedef struct iw_noise_picture {
    double length_ns;     /* of the axis of time */
    uint64_t count;       /* of detours that took time; some of them are points: */
    size_t longest_count; /* first the longest ones, */
    size_t stride;        /* then every so many of the rest, sorted by duration */
    size_t point_count;
    iw_noise_point *points;
    size_t bin_count; /* ascending, from the first that is not empty to the last */
    iw_noise_bin *bins;
} iw_noise_picture;

/** What collectives pay for the noise, by simulation: many of them back to back on a built-in network, ranks
 * on CPUs as recorded. Slowdowns are those of one of them once the start of a run is over, T/T0 - 1
 * (iw_steady of idlewave/noise_set.h). Their intervals count the trials. */
typedef struct iw_noise_cost {
    const char *network; /* "hdr-fat-tree"; NULL: nothing was simulated */
    uint32_t ranks;
    uint64_t repeat, trials;
    double used_ns; /* so much of the recording, from its beginning */
    iw_estimate barrier_slowdown;
    iw_estimate allreduce_slowdown; /* of 8 bytes */
    bool is_bound;                  /* the recording is too short for so many ranks: .low are lower bounds */
    bool is_rare;                   /* detours that count are too rare for so short a simulation: the same */
    uint32_t from_ranks; /* the least power of two on which a barrier takes 5 % longer; 0: none is */
    uint32_t most_ranks; /* up to that many */
} iw_noise_cost;

typedef struct iw_noise_report_opts {
    size_t size;      /* IW_NOISE_REPORT_OPTS_INIT */
    const char *name; /* of the recording: its file */
    bool has_spectrum;
    bool has_cost; /* not of busy nodes, whose load is no noise */
} iw_noise_report_opts;

#define IW_NOISE_REPORT_OPTS_INIT                                   \
    {                                                               \
        sizeof(iw_noise_report_opts), "the recording", false, false \
    }

/** All that is shown of a recording. */
typedef struct iw_noise_report {
    const char *name;
    iw_noise_facts facts;
    iw_noise_cost cost;
    iw_noise_picture picture;
    struct iw_noise_spectrum *spectrum; /* NULL: there is none, */
    char *no_spectrum;                  /* and why, if it was asked for */
    const iw_recording *recording;      /* for its detours as CSV */
} iw_noise_report;

/** The recording is needed as long as the report. */
IW_API IW_NODISCARD iw_status iw_noise_report_init(const iw_log *log, const iw_recording *recording,
                                                   const iw_noise_report_opts *opts, iw_noise_report *report);
IW_API void iw_noise_report_release(iw_noise_report *report);

/** CSV has a line for each detour: cpu,start_ns,duration_ns,class,source; FWQ and FTQ: for each quantum,
 * cpu,start_ns,duration_ns or cpu,start_ns,work. A report from a file has none. */
IW_API iw_doc iw_noise_doc(const iw_noise_report *report);

/** A recording that an edit has made. */
typedef struct iw_edit_report {
    const char *file; /* where it was saved */
    iw_edit edit;
    iw_noise_report noise;
} iw_edit_report;

IW_API iw_doc iw_edit_doc(const iw_edit_report *report);

/* ======== Comparisons ========
 * Is one recording noisier than another, beyond chance, and because of what?
 *
 * Detours come in bursts, and those of neighbouring CPUs come together. So chance is judged by a block
 * bootstrap: each recording is cut into blocks of time that hold all of its CPUs, and blocks are drawn with
 * replacement until they make up a recording again, over and over.
 */

typedef enum iw_compare_metric {
    IW_COMPARE_SHARE, /* of the time watched, on the average CPU */
    IW_COMPARE_RATE,  /* detours a second, on the average CPU; quanta have none */
    IW_COMPARE_MEDIAN,
    IW_COMPARE_P99,     /* durations in ns */
    IW_COMPARE_LONGEST, /* has no interval: it hangs on one detour */
    IW_COMPARE_METRICS
} iw_compare_metric;

/** Numbers that do not exist are NaN. */
typedef struct iw_compare_value {
    double a, b;
    iw_estimate difference; /* b - a, 95 % interval */
} iw_compare_value;

/** The share of detours that last at least so long. */
typedef struct iw_duration_point {
    double ns, above;
} iw_duration_point;

/** Between the distributions of durations. */
typedef struct iw_compare_distance {
    double distance;
    double by_chance; /* 95 of 100 pairs of recordings of the same noise are less apart; may be infinite */
    double p;         /* share of such pairs that are at least so far apart */
} iw_compare_distance;

typedef struct iw_compare_source {
    iw_source source;
    bool is_in_a, is_in_b;
    iw_compare_value share;
} iw_compare_source;

typedef struct iw_compare_side {
    const char *name; /* as given, or "A", "B" */
    iw_probe probe;
    iw_attribution_level attribution;
    int64_t quantum_ns; /* FWQ, FTQ; else 0 */
    size_t cpu_count;
    double watched_ns; /* summed over CPUs */
    int64_t length_ns; /* of the longest CPU */
    int64_t block_ns;
    size_t block_count;
    double threshold_ns; /* of its coarsest CPU */
    uint64_t count;      /* detours that were compared, or quanta */
    uint64_t left_out;   /* shorter than the common threshold */
    uint64_t dropped;
    size_t point_count; /* the distribution of durations, thinned, ascending */
    iw_duration_point *points;
} iw_compare_side;

/** What is known of both nodes, and differs; the texts are those of the recordings. */
typedef struct iw_compare_origin {
    const char *name; /* "kernel" */
    const char *a, *b;
} iw_compare_origin;

enum { IW_COMPARE_ORIGINS = 6 };

typedef enum iw_compare_verdict {
    IW_COMPARE_SAME,   /* no difference beyond chance */
    IW_COMPARE_BETTER, /* b is better */
    IW_COMPARE_SLIGHT, /* b is worse, but perhaps not by more than the tolerance */
    IW_COMPARE_WORSE,
    IW_COMPARE_UNKNOWN /* cannot tell: too few detours for a percentile */
} iw_compare_verdict;

typedef struct iw_compare_opts {
    size_t size;              /* IW_COMPARE_OPTS_INIT */
    iw_compare_metric metric; /* that the verdict is about; share, rate or p99 */
    double tolerance;         /* b may be so much above a: a share of time, or of a's rate or p99 */
    uint64_t seed;
    size_t replicates;
    const char *name_a, *name_b; /* of the recordings, for reports; NULL: none */
} iw_compare_opts;

#define IW_COMPARE_OPTS_INIT                                                \
    {                                                                       \
        sizeof(iw_compare_opts), IW_COMPARE_SHARE, 0.0, 1, 2000, NULL, NULL \
    }

typedef struct iw_noise_comparison {
    iw_compare_opts opts;
    iw_compare_verdict verdict;
    iw_compare_side a, b;
    double threshold_ns; /* shorter detours are left out of both */
    iw_compare_value metrics[IW_COMPARE_METRICS];
    iw_compare_distance ks;             /* Kolmogorov and Smirnov: largest difference of the shares */
    iw_compare_distance wasserstein_ns; /* first order: mean shift of the durations */
    bool has_sources;                   /* both recordings name sources, and by the same means */
    size_t source_count;                /* of both, the largest difference first; 0 without sources */
    iw_compare_source *sources;
    size_t stretch_count; /* 1 to 3: so few stretches of one recording carry the difference; else 0 */
    int64_t stretch_ns;   /* their length together */
    size_t origin_count;
    iw_compare_origin origins[IW_COMPARE_ORIGINS];
    iw_caveats caveats; /* of both */
} iw_noise_comparison;

/** IW_ERR_UNSUPPORTED: one has detours and the other one quanta. IW_ERR_RANGE: one watched no time, or the
 * options are out of range. */
IW_API IW_NODISCARD iw_status iw_noise_compare(const iw_log *log, const iw_recording *a,
                                               const iw_recording *b, const iw_compare_opts *opts,
                                               iw_noise_comparison **comparison_p);
IW_API void iw_noise_comparison_free(iw_noise_comparison *comparison);

/** "share", "rate", "median", "p99", "longest". */
IW_API const char *iw_compare_metric_name(iw_compare_metric metric);

/** CSV has a line for each source. */
IW_API iw_doc iw_compare_doc(const iw_noise_comparison *comparison);

/* ======== Spectra ========
 * Which frequencies the noise of a recording has.
 */

/** Noise that comes again and again at the same distance. */
typedef struct iw_spectral_line {
    double frequency_hz; /* of the fundamental, also where only its multiples stand out */
    double ratio;        /* power over the floor, of the strongest of its multiples */
    double share;        /* of the time that it takes, about; the root of the mean square over the CPUs */
    size_t harmonics;    /* multiples that stand out, without the fundamental */
    double power;        /* the highest at the fundamental, 1/Hz */
    double tick_hz;      /* of the kernel's tick, if it may be that; else 0 */
} iw_spectral_line;

/** A source that is periodic by itself. */
typedef struct iw_spectral_source {
    iw_source source;
    double period_ns; /* as iw_noise_row has it */
    double share;
    size_t line; /* that it carries, counted from 1; 0: none */
} iw_spectral_source;

/** A stretch of frequencies as pictures show it. */
typedef struct iw_spectral_point {
    double frequency_hz; /* its middle */
    double power;        /* the highest */
    double floor;
} iw_spectral_point;

typedef struct iw_spectrum_opts {
    size_t size;             /* IW_SPECTRUM_OPTS_INIT */
    double max_frequency_hz; /* 0: 5 kHz, or as far as quanta and length allow */
    int64_t cpu;             /* only this one; -1: the mean of all */
    const char *name;        /* of the recording, for reports; NULL: none */
} iw_spectrum_opts;

#define IW_SPECTRUM_OPTS_INIT                   \
    {                                           \
        sizeof(iw_spectrum_opts), 0.0, -1, NULL \
    }

/** The signal is the share of time that is lost. Its spectrum is the mean over CPUs and over windows of time
 * that overlap by half (Welch, with Hann's window). */
typedef struct iw_noise_spectrum {
    iw_spectrum_opts opts; /* as given, but for max_frequency_hz: what was reached */
    const char *host;      /* as the recording has it, whose text it is; NULL: it has none */
    iw_probe probe;
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
    bool is_tick_known;      /* the recording says the rate of the tick; else usual rates are tried */
    size_t line_count;       /* the strongest first */
    iw_spectral_line *lines;
    size_t source_count; /* periodic ones; quanta know none */
    iw_spectral_source *sources;
    size_t point_count; /* for pictures: of equal length on a logarithmic axis */
    iw_spectral_point *points;
    iw_caveats caveats;
} iw_noise_spectrum;

/** IW_ERR_RANGE: no such CPU, a frequency that is not above 0, or a recording too short. */
IW_API IW_NODISCARD iw_status iw_noise_spectrum_new(const iw_log *log, const iw_recording *recording,
                                                    const iw_spectrum_opts *opts,
                                                    iw_noise_spectrum **spectrum_p);
IW_API void iw_noise_spectrum_free(iw_noise_spectrum *spectrum);

/** CSV has all of it: frequency_hz,power. A spectrum from a file has none. */
IW_API iw_doc iw_noise_spectrum_doc(const iw_noise_spectrum *spectrum);

#ifdef __cplusplus
}
#endif
#endif
