/* What the writers of results share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REPORT_H
#define IWI_REPORT_H

#include <idlewave/result.h>

#include "base/output.h"
#include "schema/csv.h"

enum { IWI_NS_TEXT_SIZE = 24 };

/* Times as nanoseconds without loss: "130200", "0.58"; returns `buf`. */
char *iwi_ns_text(iw_time ps, char buf[IWI_NS_TEXT_SIZE]);

/* Names of enums for tables: NULL behind the last. */
const char *iwi_sync_name(unsigned sync);
const char *iwi_split_name(unsigned parallel); /* iw_parallel */

/* ---- text ---- */

enum {
    IWI_TEXT_COLUMNS = 80,
    IWI_PARAGRAPH_SIZE = 1024,
    IWI_PHRASE_SIZE = 256,
    IWI_NUMBER_SIZE = 32,
    IWI_RANGE_SIZE = 2 * IWI_NUMBER_SIZE + 4
};

/* Appends to what the paragraph holds already. */
void iwi_append(char paragraph[IWI_PARAGRAPH_SIZE], const char *format, ...) IW_PRINTF(2, 3);

/* Writes `text` wrapped at spaces; as an item of a list, "- " before it and its further lines indented. */
void iwi_write_wrapped(FILE *out, const char *text);
void iwi_write_item(FILE *out, const char *text);

/* Numbers for people, in `buf`: "3.20 %"; "147.8"; "225 M" (with a space behind a number without prefix);
 * "1.234 ms", with "-" for no time. */
const char *iwi_percent_text(double share, char buf[IWI_NUMBER_SIZE]);
const char *iwi_factor_text(double factor, char buf[IWI_NUMBER_SIZE]);
const char *iwi_si_text(double value, char buf[IWI_NUMBER_SIZE]);
const char *iwi_ns_time_text(double ns, char buf[IWI_NUMBER_SIZE]);

/* How much slower, T/T0 - 1, in the one notation of all reports (docs/explanation/statistics.md): "41.0 %"
 * longer below twice the time, "2.431x" as long from there on, "-" where there is none. */
const char *iwi_slowdown_text(double slowdown, char buf[IWI_NUMBER_SIZE]);

/* "41.0 % to 52.3 %", "1.410x to 2.431x": in the unit of the larger end. Where there is little room
 * "41.0-52.3 %", "1.410-2.431x", "-" where an end is missing. */
const char *iwi_slowdown_range_text(double low, double high, char buf[IWI_RANGE_SIZE]);
const char *iwi_slowdown_span_text(double low, double high, char buf[IWI_RANGE_SIZE]);

/* "takes 2.431 times as long as", "is 41.0 % slower than", "is not slower than". */
const char *iwi_slower_text(double slowdown, char buf[IWI_PHRASE_SIZE]);

/* A bar of up to `columns` columns for a share of 1, in eighths of a column; returns how many it takes. */
int iwi_write_bar(FILE *out, double share, int columns);

#endif
