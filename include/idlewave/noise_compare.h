/* idlewave/noise_compare.h - is one recording noisier than another, beyond chance, and because of what?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Detours come in bursts, and those of neighbouring CPUs come together. So chance is judged by a block
 * bootstrap: each recording is cut into blocks of time that hold all of its CPUs, and blocks are drawn with
 * replacement until they make up a recording again, over and over.
 */
#ifndef IW_NOISE_COMPARE_H
#define IW_NOISE_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    double low, high; /* of b - a, 95 % interval */
} iw_compare_value;

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
    size_t cpu_count;
    double watched_ns; /* summed over CPUs */
    int64_t length_ns; /* of the longest CPU */
    int64_t block_ns;
    size_t block_count;
    double threshold_ns; /* of its coarsest CPU */
    uint64_t count;      /* detours that were compared, or quanta */
    uint64_t left_out;   /* shorter than the common threshold */
    uint64_t dropped;
} iw_compare_side;

typedef enum iw_compare_verdict {
    IW_COMPARE_SAME,   /* no difference beyond chance */
    IW_COMPARE_BETTER, /* b is better */
    IW_COMPARE_SLIGHT, /* b is worse, but perhaps not by more than the tolerance */
    IW_COMPARE_WORSE,
    IW_COMPARE_UNKNOWN /* cannot tell: too few detours for a percentile */
} iw_compare_verdict;

typedef struct iw_compare_opts {
    iw_compare_metric metric; /* that the verdict is about; share, rate or p99 */
    double tolerance;         /* b may be so much above a: a share of time, or of a's rate or p99 */
    uint64_t seed;
    size_t replicates;
} iw_compare_opts;

#define IW_COMPARE_OPTS_INIT                                                        \
    {                                                                               \
        .metric = IW_COMPARE_SHARE, .tolerance = 0.0, .seed = 1, .replicates = 2000 \
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
} iw_noise_comparison;

/** IW_ERR_UNSUPPORTED: one has detours and the other one quanta. IW_ERR_RANGE: one watched no time, or the
 * options are out of range. */
IW_API IW_NODISCARD iw_status iw_noise_compare(const iw_log *log, const iw_recording *a,
                                               const iw_recording *b, const iw_compare_opts *opts,
                                               iw_noise_comparison **comparison_p);
IW_API void iw_noise_comparison_free(iw_noise_comparison *comparison);

/** "share", "rate", "median", "p99", "longest". */
IW_API const char *iw_compare_metric_name(iw_compare_metric metric);

/** What a report of a comparison needs. */
typedef struct iw_compared {
    const iw_recording *a, *b;
    const char *name_a, *name_b;
    const iw_noise_comparison *comparison;
} iw_compared;

/** Verdict, table of metrics, table of sources, how sure; 80 columns. */
IW_API IW_NODISCARD iw_status iw_compare_write_text(const iw_log *log, const iw_compared *compared,
                                                    FILE *out);

/** One JSON object, schema "idlewave.noise-compare/1". */
IW_API IW_NODISCARD iw_status iw_compare_write_json(const iw_log *log, const iw_compared *compared,
                                                    FILE *out);

/** The table of sources: class,source,share_a,share_b,difference,low,high. */
IW_API IW_NODISCARD iw_status iw_compare_write_csv(const iw_log *log, const iw_compared *compared, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
