/* Between the parts of iw_noise_fit_new().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIT_H
#define IWI_FIT_H

#include <idlewave/fit.h>

#include "kit/doc/doc.h"

/* ---- laws (fit_law.c) ---- */

/* What the likelihoods need to know of durations x >= cut. */
struct iwi_fit_sample {
    double count;
    double cut_ns;
    double least_ns, mean_ns;
    double log_mean, log_variance; /* of ln(x / ns) */
};

/* Fits a law that is not IW_FIT_FIXED: all but distance and p. */
void iwi_fit_one_law(iw_fit_law law, const struct iwi_fit_sample *sample, iw_duration_fit *fit);

/* P(X > x) of the whole law. */
double iwi_law_above(iw_fit_law law, double scale_ns, double shape, double ns);

/* INFINITY: has none. */
double iwi_law_mean_ns(iw_fit_law law, double scale_ns, double shape);

/* x with P(X > x | X > cut) = u. */
double iwi_law_exceeded_ns(iw_fit_law law, const iw_duration_fit *fit, double cut_ns, double u);

/* The beginning of a spec's DIST. */
const char *iwi_law_spec_name(iw_fit_law law);

/* ---- durations ---- */

/* Of values in any order. */
struct iwi_fit_sample iwi_fit_sample(const int64_t *values_ns, size_t count, double cut_ns);

double iwi_fit_distance(iw_fit_law law, const iw_duration_fit *fit, double cut_ns, const int64_t *sorted_ns,
                        size_t count);

/* fit->p of a fit to `count` values, whose distance is known. */
IW_NODISCARD iw_status iwi_fit_goodness(const iw_log *log, iw_fit_law law, const iw_fit_opts *opts,
                                        double cut_ns, size_t count, iw_duration_fit *fit);

/* What they were found in: the share of the time that they take at random is 0 if they come in beats. */
struct iwi_fit_above {
    double threshold_ns, random_share;
};

/* Fits all laws; sorts the durations. */
IW_NODISCARD iw_status iwi_fit_durations(const iw_log *log, const iw_fit_opts *opts,
                                         struct iwi_fit_above above, int64_t *duration_ns, size_t count,
                                         iw_durations *durations);
void iwi_durations_release(iw_durations *durations);

/* ---- overlap ---- */

/* The mean of single detours over that of recorded ones, if these take `share` of the time. */
double iwi_overlap_mean_factor(double share);

/* The best law, of single detours. */
struct iwi_single_law {
    double scale_ns, shape;
    bool is_by_mean; /* only its mean is right: its form is that of the recorded ones */
};

/* Of durations whose best law is not IW_FIT_FIXED. */
IW_NODISCARD iw_status iwi_fit_overlap(const iw_log *log, const iw_fit_opts *opts,
                                       const iw_durations *durations, double watched_ns, double share,
                                       struct iwi_single_law *single);

/* ---- arrivals ---- */

/* Detours of a group: CPU by CPU, each in the order of time. */
struct iwi_fit_events {
    size_t count;
    int64_t *start_ns, *duration_ns;
    uint8_t *is_beat;
    size_t cpu_count;
    size_t *end; /* of each CPU */
};

/* Marks the beats of one CPU: events that follow each other at the period. With `tolerance`, a share of the
 * period, a beat may be early or late. `is_among_others`: most events may be no beats. Returns how many. */
size_t iwi_mark_beats(const int64_t *start_ns, size_t count, double period_ns, double tolerance,
                      bool is_among_others, uint8_t *is_beat);

/* Where to look for a period that few of the events have. */
struct iwi_fit_lines {
    const iw_recording *recording; /* in its spectrum, or NULL */
    double period_ns;              /* else at this one, if it is not 0 */
};

/* Fills arrivals and events->is_beat. */
IW_NODISCARD iw_status iwi_fit_arrivals(const iw_log *log, const iw_fit_opts *opts,
                                        struct iwi_fit_lines lines, double watched_ns,
                                        struct iwi_fit_events *events, iw_arrivals *arrivals);

/* ---- what comes of it ---- */

/* fit->specs, left_out_share. */
IW_NODISCARD iw_status iwi_fit_specs(const iw_log *log, iw_noise_fit *fit);

/* ---- what the document of fits and its figures share ---- */

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
