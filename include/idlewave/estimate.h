/* idlewave/estimate.h - numbers about samples. Pure functions: arrays in, numbers out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_ESTIMATE_H
#define IW_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A value and its 95 % interval; low = high = value where it is exact. */
typedef struct iw_estimate {
    double value, low, high;
} iw_estimate;

/** What a job would cost if a kind of interruption was there that came by chance not once while W of CPU time
 * was watched: what comes three times in W on average is missed by one recording of twenty. */
typedef struct iw_sensitivity {
    int64_t
        length_ns;   /* of one: 10 ms, or the longest that was recorded; 0: the job is too small to meet it */
    double every_s;  /* CPU time from one to the next: W/3 */
    uint64_t trials; /* that were simulated with it, at most 10; 0: they would hardly meet it */
    double slowdown; /* mean; a bound of it where none was simulated: none costs more than it lasts */
} iw_sensitivity;

/** Fewest trials that have 95 % intervals: six lie on both sides of their median in 96.9 % of cases, five in
 *  93.8 %. Of fewer the lowest and the highest say what there is to say. */
enum { IW_LEAST_TRIALS = 6 };

/** What trials say; docs/explanation/statistics.md has the definitions and how often the intervals cover. */
typedef struct iw_summary {
    size_t count;
    double min, q1, median, q3, max, mean;
    double median_low, median_high; /* 95 % intervals; NaN for fewer than IW_LEAST_TRIALS values */
    double mean_low, mean_high;
} iw_summary;

/** Quantile q of sorted values, linear interpolation between order statistics (R's type 7). count > 0. */
IW_API double iw_quantile_sorted(const double *sorted, size_t count, double q);

/** The chance of the interval of a median of `count` values to hold it, whatever their law: 0.95 or a little
 *  more; NaN for fewer than IW_LEAST_TRIALS. */
IW_API double iw_median_level(size_t count);

/** Summary of `count` > 0 values (not changed). */
IW_API IW_NODISCARD iw_status iw_summarize(const iw_log *log, const double *values, size_t count,
                                           iw_summary *summary_p);

struct iw_sim_result; /* idlewave/sim.h */

/** Summary of the makespans of all trials, in nanoseconds: what every verb that simulates tells. */
IW_API IW_NODISCARD iw_status iw_summarize_trials(const iw_log *log, const struct iw_sim_result *result,
                                                  iw_summary *makespan_ns_p);

#ifdef __cplusplus
}
#endif
#endif
