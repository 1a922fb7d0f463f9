/* One benchmark as its writers see it: the object of schema "idlewave.bench/1", made from a result or read
 * from a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_REPORT_H
#define IWI_BENCH_REPORT_H

#include <idlewave/internal/bench.h>

#include <jansson.h>

#include "report/html/html.h"
#include "report/kinds/result_report.h"

/* NULL: there was no memory for it. To be released by json_decref(). */
json_t *iwi_bench_object(const iw_bench_result *result, const iw_bench_origin *origin);

/* What iw_bench_write_json() has written. IW_ERR_IO, IW_ERR_FORMAT. */
IW_NODISCARD iw_status iwi_bench_load(const iw_log *log, const char *path, json_t **object_p);

/* "p99.9" of a number of a quantile. */
const char *iwi_bench_quantile_key(size_t index);

/* A number of an object in an object: of "quiet", "qtbt_ns", "mean" say. NaN if there is none. */
double iwi_bench_number(const json_t *object, const char *first, const char *second, const char *key);

/* "1.20 % to 3.40 %" of the member "ci95" of a slowdown; "" if there is none. */
const char *iwi_bench_interval_text(const json_t *slowdown, char buf[IWI_RANGE_SIZE]);

/* "barrier"; "allreduce of 8 bytes"; "halo exchange of 8 bytes". */
const char *iwi_bench_operation_text(const json_t *bench, char buf[IWI_NUMBER_SIZE]);

/* The sentences that begin text and page; nothing is added where there is nothing to say. */
void iwi_bench_verdict(const json_t *bench, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_bench_prediction(const json_t *bench, char paragraph[IWI_PARAGRAPH_SIZE]);

/* How sure we are; false: there is no such note. */
enum { IWI_BENCH_NOTES = 6 };
bool iwi_bench_note(const json_t *bench, int number, char paragraph[IWI_PARAGRAPH_SIZE]);

void iwi_bench_text(const json_t *bench, FILE *out);

/* `bench`: an object of the schema. */
IW_NODISCARD iw_status iwi_bench_html(const iw_log *log, const json_t *bench, FILE *out);

#endif
