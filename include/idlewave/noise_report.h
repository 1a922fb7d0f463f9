/* idlewave/noise_report.h - what a recording says: numbers by source and CPU, and how they are shown.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_NOISE_REPORT_H
#define IW_NOISE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One line of a table: all of a recording, one source, or one CPU. FWQ and FTQ: each quantum counts as one
 * detour that took what the quantum lost against the best one of its CPU. */
typedef struct iw_noise_row {
    uint64_t count;        /* of a source: detours in which it takes part */
    double rate_hz, share; /* of the time watched, on the average CPU */
    double median_ns, p99_ns, max_ns;
    double period_ns; /* 0: not periodic */
} iw_noise_row;

typedef struct iw_noise_facts {
    double watched_ns; /* summed over CPUs */
    iw_noise_row all;
    iw_noise_row *by_source; /* recording->source_count */
    iw_noise_row *by_cpu;    /* recording->cpu_count */
    uint64_t dropped;
    double long_ns; /* as given */
    /* Ranks from which on noise dominates a barrier: ranks x share of time in long detours is about 1, the
     * inflection point of Hoefler, Schneider, Lumsdaine (SC'10). 0: not up to 2^40. */
    double critical_ranks;
    /* Sources rarer than this (mean time between) may have been missed: a third of the shortest CPU's length
     * (rule of three, 95 %). */
    double rare_limit_ns;
} iw_noise_facts;

/** `long_ns`: detours at least this long count for critical_ranks. */
IW_API IW_NODISCARD iw_status iw_noise_facts_new(const iw_log *log, const iw_recording *recording,
                                                 double long_ns, iw_noise_facts **facts_p);
IW_API void iw_noise_facts_free(iw_noise_facts *facts);

/** Verdict, table by source, per CPU, warnings, scatter plot over time and histogram; 80 columns. */
IW_API IW_NODISCARD iw_status iw_noise_write_text(const iw_log *log, const iw_recording *recording,
                                                  const iw_noise_facts *facts, const char *name, FILE *out);

/** The same, and the spectrum, with what carries its lines; a sentence where a recording is too short for
 * one. */
IW_API IW_NODISCARD iw_status iw_noise_write_report(const iw_log *log, const iw_recording *recording,
                                                    const iw_noise_facts *facts, const char *name, FILE *out);

/** One JSON object, schema "idlewave.noise/1". */
IW_API IW_NODISCARD iw_status iw_noise_write_json(const iw_log *log, const iw_recording *recording,
                                                  const iw_noise_facts *facts, const char *name, FILE *out);

/** A header line and one line a detour: cpu,start_ns,duration_ns,class,source; FWQ and FTQ: one line a
 * quantum, cpu,start_ns,duration_ns or cpu,start_ns,work. */
IW_API IW_NODISCARD iw_status iw_noise_write_csv(const iw_log *log, const iw_recording *recording, FILE *out);

/** One HTML page, nothing from elsewhere: verdict, sources, plots with the tables behind them, spectrum,
 * origin. */
IW_API IW_NODISCARD iw_status iw_noise_write_html(const iw_log *log, const iw_recording *recording,
                                                  const iw_noise_facts *facts, const char *name, FILE *out);

/** Detours over time and their distribution by source, drawn into `path`: .svg, or by gnuplot .png and .pdf;
 * .gp is the script for it. IW_ERR_USAGE (another suffix), IW_ERR_IO (no gnuplot, or it failed). */
IW_API IW_NODISCARD iw_status iw_noise_plot(const iw_log *log, const iw_recording *recording,
                                            const iw_noise_facts *facts, const char *name, const char *path);

#ifdef __cplusplus
}
#endif
#endif
