/* What a job meets of recorded detours: the longest of each phase, by a model of bins of lengths.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A job loses, phase by phase, the longest detour that any of its places (CPUs) meets. A detour of length d_i
 * that all places together meet r_i times a second is the longest in w of a phase if it comes and no longer
 * one does:
 *
 *   longest(w) = sum_i d_i (exp(-w C_(i-1)) - exp(-w C_i)),   C_i = r_1 + ... + r_i, the longest first
 *
 * The job also waits for what is under way when it begins: d_i is under way at r_i d_i places, and what is
 * left of it is uniform. So its first phase loses
 *
 *   first(w) = integral over x >= 0 of 1 - exp(-sum_(d_i > x) r_i (d_i - x + w))
 *
 * Noise goes on while the job waits: what begins then on other places is under way when it goes on. So a job
 * of T0 with R phases that takes T loses T - T0 = first(T/R) + (R-1) longest(T/R): between the longest detour
 * of all (R = 1) and the sum of all detours (R without end). What a simulation lost tells R, whatever the
 * program is, and R tells what other recordings would have cost. Detours are counted in bins of lengths, each
 * an eleventh of the next.
 */
#ifndef IWI_LENGTH_BINS_H
#define IWI_LENGTH_BINS_H

#include <stddef.h>
#include <stdint.h>

enum { IWI_LENGTH_BINS = 384 };

struct iwi_length_bins {
    double rate_hz[IWI_LENGTH_BINS];
    double lost[IWI_LENGTH_BINS];   /* rate x length: time lost a second */
    double events[IWI_LENGTH_BINS]; /* that were recorded */
};

/* A detour that is met so often. `events`: 1, or its part of one that hit several CPUs. */
void iwi_bins_add(struct iwi_length_bins *bins, int64_t ns, double rate_hz, double events);

/* Adds `times` of `more`. */
void iwi_bins_add_all(struct iwi_length_bins *bins, const struct iwi_length_bins *more, double times);

/* longest(w) in seconds. */
double iwi_bins_longest_s(const struct iwi_length_bins *bins, double window_s);

/* first(w) in seconds. */
double iwi_bins_first_s(const struct iwi_length_bins *bins, double window_s);

/* What a job of T0 loses in so many phases, relative to T0. */
double iwi_bins_slowdown(const struct iwi_length_bins *bins, double quiet_s, double phases);

/* Of that slowdown, the part that is left if what is at least as long as some length comes as seldom as it
 * may: the least over all lengths. n events are 0.05 exactly to at least so many on average (Garwood 1936).
 */
double iwi_bins_least_part(const struct iwi_length_bins *bins, double quiet_s, double phases);

/* The bin from which on there are at most so many events: the longest of them. */
size_t iwi_bins_rare_from(const struct iwi_length_bins *bins, double events);

/* The bins from there on come `times` as often. */
void iwi_bins_thin(struct iwi_length_bins *bins, size_t first, double times);

/* R of a job that has that slowdown; at least 1, at most 10^12. */
double iwi_bins_phases(const struct iwi_length_bins *bins, double quiet_s, double slowdown);

#endif
