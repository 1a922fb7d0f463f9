/* idlewave/result.h - estimates, results of simulations as text, JSON and CSV, and how files are written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_RESULT_H
#define IW_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <idlewave/log.h>
#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Estimates ========
 * Numbers about samples. Pure functions: arrays in, numbers out.
 */

/** A value and its 95 % interval; low = high = value where it is exact. */
typedef struct iw_estimate {
    double value, low, high;
} iw_estimate;

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

/* ======== Results of simulations ======== */

typedef struct iw_noise_set iw_noise_set; /* idlewave/whatif.h */
typedef struct iw_certainty iw_certainty;

/** What a result was made from, for its origin. Strings are borrowed. */
typedef struct iw_origin {
    const char *what;    /* "allreduce:dissemination" or the file's name */
    const char *command; /* the command line */
    const iw_net *net;
    const iw_noise *noise;         /* NULL: none */
    const iw_noise_set *set;       /* that it was made of, or NULL */
    const iw_certainty *certainty; /* what recordings in it can say, or NULL */
    size_t delay_count;            /* injected delays: what the noiseless time leaves out besides noise */
    const iw_traced *traced;       /* the run that was traced; NULL: the program is no trace */
} iw_origin;

/** One JSON object, schema "idlewave.simulate/2" (docs/reference/formats/simulate-json.md), and a newline. */
IW_API IW_NODISCARD iw_status iw_result_write_json(const iw_log *log, const iw_sim_result *result,
                                                   const iw_origin *origin, FILE *out);

/** For people: the verdict, the numbers, how sure we are. 80 columns. */
IW_API IW_NODISCARD iw_status iw_result_write_text(const iw_log *log, const iw_sim_result *result,
                                                   const iw_origin *origin, FILE *out);

/** A header line and one line a trial: trial,makespan_ns,slowdown. */
IW_API IW_NODISCARD iw_status iw_result_write_csv(const iw_log *log, const iw_sim_result *result,
                                                  const iw_origin *origin, FILE *out);

/** A header line and one line a rank (and trial, if there are several): [trial,]rank,end_ns. */
IW_API IW_NODISCARD iw_status iw_result_write_end_times(const iw_log *log, const iw_sim_result *result,
                                                        const char *path);

/* ---- reports of a file that iw_result_write_json() has written; IW_ERR_IO, IW_ERR_FORMAT ---- */

/** What iw_result_write_text() says, and when the trials, or the ranks of a single one, end. */
IW_API IW_NODISCARD iw_status iw_result_report_text(const iw_log *log, const char *path, FILE *out);

/** All its times: kind,name,time_ns,slowdown (docs/reference/formats/simulate-json.md). */
IW_API IW_NODISCARD iw_status iw_result_report_csv(const iw_log *log, const char *path, FILE *out);

/** Data and a script for gnuplot, in the folder `dir`, which is made. */
IW_API IW_NODISCARD iw_status iw_result_report_gnuplot(const iw_log *log, const char *path, const char *dir);

/** One HTML page, nothing from elsewhere. */
IW_API IW_NODISCARD iw_status iw_result_write_html(const iw_log *log, const char *path, FILE *out);

/* ======== Files ========
 * Written whole or not at all.
 *
 *     static iw_status write_it(const iw_log *log, void *arg, FILE *out) { ... fprintf(out, ...) ... }
 *     status = iw_write_file(log, "result.json", write_it, &result);
 *
 * Every file that the library writes goes this way (docs/decisions/0022-how-files-are-written.md): it is made
 * beside the old one under another name, reaches the disk, and then takes its place with the old one's mode.
 * Links of other users are not followed. Devices, pipes and /dev/stdout are written straight. Where a limit
 * of file sizes is set, a program that wants an error for every file ignores SIGXFSZ, as the command does.
 */

/** Writes the content; `out` may be written and flushed, nothing else. Whether it was accepted need not be
 *  asked for: iw_write_file() does. */
typedef iw_status (*iw_write_fn)(const iw_log *log, void *arg, FILE *out);

/** The file `path` by `write`. Unless it returns IW_OK, nothing has changed. IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_write_file(const iw_log *log, const char *path, iw_write_fn write,
                                            void *arg);

/** Whether `path` could be written, without changing anything: for what takes long before it writes.
 *  `needs_regular`: devices, pipes and standard output will not do. IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_output_check(const iw_log *log, const char *path, bool needs_regular);

#ifdef __cplusplus
}
#endif
#endif
