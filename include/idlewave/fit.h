/* idlewave/fit.h - which laws describe recorded detours: how long they last, and when they come.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_fit_opts opts = IW_FIT_OPTS_INIT;
 *     iw_noise_fit *fit;
 *     st = iw_noise_fit_new(log, recording, &opts, &fit);
 *     ... fit->specs[0].text, "poisson:9.87Hz,exp:19.9us", as iw_noise_add() takes it ...
 *     iw_noise_fit_free(fit);
 *
 * Laws are those that simulations draw from. Detours shorter than the threshold were not recorded, so all
 * likelihoods are those of the part of a law above it (left-truncated).
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_FIT_H
#define IW_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include <idlewave/analysis.h>
#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_fit_law {
    IW_FIT_FIXED, /* 95 of 100 are the same, up to 1 % */
    IW_FIT_EXP,
    IW_FIT_PARETO,
    IW_FIT_LOGNORMAL,
    IW_FIT_LAWS
} iw_fit_law;

/** "fixed", "exponential", "Pareto", "lognormal". */
IW_API const char *iw_fit_law_name(iw_fit_law law);

/** One law, fitted by largest likelihood. Intervals are NaN where the fit stands at a limit. */
typedef struct iw_duration_fit {
    iw_fit_law law;
    bool is_fitted;       /* else the law cannot be: too few detours, or none that differ */
    iw_estimate scale_ns; /* T (and its range), MEAN, MIN or MEDIAN */
    iw_estimate shape;    /* Pareto's A, lognormal's SIGMA; else NaN */
    double log_likelihood, aic, bic;
    double distance;  /* Kolmogorov and Smirnov: largest difference of the shares of shorter detours */
    double p;         /* share of samples of the law, fitted again, that are at least so far from their fit */
    double seen;      /* share of the law above the threshold; what is below is inferred */
    bool is_at_limit; /* a law with less above the threshold, or a smaller mean, would be even likelier */
} iw_duration_fit;

/** How long detours last. */
typedef struct iw_durations {
    uint64_t count;    /* at least as long as the threshold: these are described */
    uint64_t left_out; /* shorter: parts of detours, or of CPUs with a finer threshold */
    double cut_ns;     /* the threshold, less half a nanosecond of rounding */
    double total_ns, longest_ns;
    double left_out_ns; /* in those that were left out */
    bool is_fitted;     /* there is a best law */
    iw_fit_law best;
    iw_duration_fit laws[IW_FIT_LAWS];
    /* The tail: tail_share of all detours are longer than this; 0: too few to tell. */
    double tail_share, tail_recorded_ns, tail_fitted_ns;
    double expected_as_long; /* as the longest: how many, by the best law */
    size_t point_count;      /* the distribution, thinned, ascending */
    iw_duration_point *points;
} iw_durations;

/** By a law: the share of the detours above the threshold that are longer than this. */
IW_API double iw_durations_above(const iw_durations *durations, iw_fit_law law, double ns);

/** When detours come, on one CPU. */
typedef struct iw_arrivals {
    double rate_hz;   /* of all */
    double period_ns; /* 0: not periodic */
    uint64_t beats;   /* that are periodic */
    double missing;   /* share of beats that are not there */
    uint64_t others;  /* that come between the beats, or all */
    /* Of the gaps between the others, against the exponential law of random arrivals; NaN: too few. */
    double gap_distance, gap_p;
    double gap_variation; /* standard deviation over mean: 1 at random, above in bursts, below in step */
} iw_arrivals;

typedef enum iw_fit_kind { IW_FIT_ALL, IW_FIT_SOURCE, IW_FIT_OTHERS } iw_fit_kind;

/** Detours that are fitted together. */
typedef struct iw_fit_group {
    iw_fit_kind kind;
    uint32_t source; /* of one source: its number, class and name */
    iw_class source_class;
    char name[IW_SOURCE_NAME_SIZE];
    size_t source_count; /* of others: how many */
    double share;        /* of the time watched */
    iw_arrivals arrivals;
    iw_durations durations; /* of all of them */
    bool has_parts;         /* both are told apart: */
    iw_durations beats, others;
} iw_fit_group;

enum { IW_FIT_SPEC_SIZE = 128, IW_FIT_NAME_SIZE = 256 };

/** A source of noise as simulations take it. */
typedef struct iw_fit_spec {
    size_t group;
    bool is_periodic;
    double rate_hz; /* also of what is below the threshold */
    iw_fit_law law;
    double scale_ns, shape;
    double seen;  /* share above the threshold */
    double share; /* of the time; INFINITY: has no mean */
    /* Of those that come at random: the share that begins within another one and is recorded as one with it.
     * Scale and shape are those of single detours, not of recorded ones. */
    double overlapping;
    bool is_by_mean; /* overlap hides the form of the law, only rate and mean follow from the recording */
    char text[IW_FIT_SPEC_SIZE];
} iw_fit_spec;

/** A recording made of the specs, against the one that was fitted. */
typedef struct iw_fit_agreement {
    bool is_known;
    int64_t length_ns;             /* of the made one; long ones are cut */
    double recorded, made;         /* shares of the time in detours above the threshold */
    iw_estimate difference;        /* made - recorded */
    double recorded_hz, made_hz;   /* rates */
    iw_compare_distance durations; /* between their distributions (Kolmogorov and Smirnov) */
} iw_fit_agreement;

typedef struct iw_fit_opts {
    size_t size; /* IW_FIT_OPTS_INIT */
    uint64_t seed;
    size_t replicates; /* of the bootstrap that gives p: at least 1/(replicates + 1) */
    const char *name;  /* of a recording that does not say its host; NULL: "the recording" */
} iw_fit_opts;

#define IW_FIT_OPTS_INIT                  \
    {                                     \
        sizeof(iw_fit_opts), 1, 999, NULL \
    }

/** Fewer detours are not fitted. */
enum { IW_FIT_LEAST = 10 };

typedef struct iw_noise_fit {
    iw_fit_opts opts;
    char name[IW_FIT_NAME_SIZE]; /* of the node */
    double threshold_ns;         /* of the coarsest CPU */
    double watched_ns;           /* summed over CPUs */
    uint64_t dropped;            /* detours that the recording lost */
    bool has_sources;
    size_t group_count; /* the first is all of it; then sources, the largest share first, and the rest */
    iw_fit_group *groups;
    size_t spec_count; /* of the sources if there are any, else of all */
    iw_fit_spec *specs;
    double left_out_share; /* of the time: what is in no spec */
    iw_fit_agreement agreement;
    iw_caveats caveats;
} iw_noise_fit;

/** IW_ERR_UNSUPPORTED: quanta (FWQ, FTQ), which have no single detours. IW_ERR_RANGE: no time was watched. */
IW_API IW_NODISCARD iw_status iw_noise_fit_new(const iw_log *log, const iw_recording *recording,
                                               const iw_fit_opts *opts, iw_noise_fit **fit_p);
IW_API void iw_noise_fit_free(iw_noise_fit *fit);

/** By the specs together: the share of the detours above the threshold that are longer than this. */
IW_API double iw_noise_fit_above(const iw_noise_fit *fit, double ns);

/** Schema "idlewave.noise-fit/2"; CSV has a line for each law of each group. */
IW_API iw_doc iw_fit_doc(const iw_noise_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
