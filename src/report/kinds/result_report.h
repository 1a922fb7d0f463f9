/* One simulation as its writers see it: the object of schema "idlewave.simulate/2", made from a result or
 * read from a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RESULT_REPORT_H
#define IWI_RESULT_REPORT_H

#include <jansson.h>

#include "report/kinds/report.h"

/* *object_p is to be released by json_decref(). */
IW_NODISCARD iw_status iwi_result_new(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                                      json_t **object_p);

/* Its member "explain"; result->explain is there. */
IW_NODISCARD iw_status iwi_explain_object(const iw_log *log, const iw_sim_result *result,
                                          const iw_origin *origin, json_t **object_p);

/* What iw_result_write_json() has written; the numbers that all writers need are there. IW_ERR_IO,
 * IW_ERR_FORMAT. */
IW_NODISCARD iw_status iwi_result_load(const iw_log *log, const char *path, json_t **object_p);

/* ---- values; files may lack any of them ---- */

/* NaN if there is none. */
double iwi_result_number(const json_t *object, const char *key);

/* 0 if there is none, or none that can be a count. */
uint64_t iwi_result_count(const json_t *object, const char *key);

/* "-" if there is none. */
const char *iwi_result_text(const json_t *object, const char *key);

/* Of "makespan_ns" or "slowdown". */
iw_summary iwi_result_summary(const json_t *result, const char *key);

/* iw_nodes_text() of what iwi_json_add_nodes() has added; "" where it has not. */
const char *iwi_result_nodes(const json_t *object, char buf[IW_NODES_TEXT_SIZE]);

/* Number of noise sources; whether there is noise or a delay, so that the noiseless time is another one. */
size_t iwi_result_sources(const json_t *result);
bool iwi_result_is_disturbed(const json_t *result);

/* ---- how the end times are distributed ---- */

enum { IWI_QUANTILES = 11, IWI_MOST_TRIAL_VALUES = 1000 };

struct iwi_distribution {
    bool is_of_ranks; /* of one trial; else of the trials */
    size_t count;     /* of the quantiles, at least 1 */
    double percent[IWI_QUANTILES], time_ns[IWI_QUANTILES];
    const json_t *values_ns; /* of all trials in their order, or NULL */
};

/* The member "distribution"; of files without it, from the summary. */
void iwi_result_distribution(const json_t *result, struct iwi_distribution *distribution);

/* That member, from a result; NULL: there was no memory for it. */
json_t *iwi_distribution_object(const iw_log *log, const iw_sim_result *result);

/* Nanoseconds of picoseconds; what is no number is null. */
json_t *iwi_json_ns(double ps);

/* T/T0 - 1 of a time of this result; NaN where nothing takes time without noise. */
double iwi_result_slowdown(const json_t *result, double time_ns);

/* ---- words ---- */

/* "takes 2.887 times as long ...", and how sure that is; nothing is added where there is nothing to say. */
void iwi_result_verdict(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_result_certainty(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE]);

/* A part of the critical path in words: "latency (L)" for "L"; others are what they are called. */
const char *iwi_part_words(const char *name);

/* Of the member "explain": what one of its "worst" did ("irq eno1 took 1.2 ms of rank 17 at 34.5 ms"); which
 * trials its "average" is of; what their largest detours have in common. */
void iwi_hit_words(const json_t *hit, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_average_words(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_largest_words(const json_t *average, char paragraph[IWI_PARAGRAPH_SIZE]);

/* What the shares of its paths do not tell; nothing where no noise is on them. */
void iwi_share_words(const json_t *explain, char paragraph[IWI_PARAGRAPH_SIZE]);

/* The member "traced". */
json_t *iwi_traced_object(const iw_traced *traced);

/* Writes one row of a table with two columns. */
typedef void (*iwi_row_writer)(FILE *out, const char *label, const char *text);

/* How long the traced run took, what of it is in the prediction, what replicas can and cannot show; nothing
 * for programs that are no traces. */
void iwi_write_traced(const json_t *result, iwi_row_writer write_row, FILE *out);

/* "  label      text", in further lines where that is too wide for one. */
void iwi_write_result_row(FILE *out, const char *label, const char *text);

/* Where the time goes: for results with an explanation. */
void iwi_write_explain_text(const json_t *result, FILE *out);

/* What `simulate` prints. */
void iwi_write_result_text(const json_t *result, FILE *out);

#endif
