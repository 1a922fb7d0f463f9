/* idlewave/result.h - results of simulations as text for people and as JSON, CSV for programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_RESULT_H
#define IW_RESULT_H

#include <stdio.h>

#include <idlewave/certainty.h>
#include <idlewave/sim.h>
#include <idlewave/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
