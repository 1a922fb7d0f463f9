/* Numbers, names and phrases for people, and tables over types of the core.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REPORT_H
#define IWI_REPORT_H

#include <math.h>
#include <stdbool.h>

#include <idlewave/estimate.h>
#include <idlewave/recording.h>
#include <idlewave/time.h>

#include "core/base/output.h"
#include "kit/schema/csv.h"
#include "kit/schema/schema.h"

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

/* From this on people read a factor more easily than a percentage. */
bool iwi_is_large_slowdown(double slowdown);

/* As a column has it whose largest slowdown is `largest`: "2.431x" and "1.410x", or "41.0 %" and "5.82 %". */
const char *iwi_slowdown_column_text(double slowdown, double largest, char buf[IWI_NUMBER_SIZE]);

/* What heads such a column: a slowdown is T/T0 - 1 wherever the word stands, in percent; factors T/T0 are
 * "relative". */
const char *iwi_slowdown_head(double largest);

/* "41.0 to 52.3 %", "1.410 to 2.431x": in the unit of the slowdown beside which it stands. Where there is
 * little room "41.0-52.3 %", "1.410-2.431x", in the unit of the larger end, "-" where an end is missing. */
const char *iwi_slowdown_range_text(double low, double high, double beside, char buf[IWI_RANGE_SIZE]);
const char *iwi_slowdown_span_text(double low, double high, char buf[IWI_RANGE_SIZE]);
const char *iwi_slowdown_span_column_text(double low, double high, double largest, char buf[IWI_RANGE_SIZE]);

/* In percent, however large, behind the word: "a slowdown of 250 %". */
const char *iwi_slowdown_percent_text(double slowdown, char buf[IWI_NUMBER_SIZE]);

/* "takes 2.431x as long as", "is 41.0 % slower than", "is not slower than". */
const char *iwi_slower_text(double slowdown, char buf[IWI_PHRASE_SIZE]);

/* After "would": "take 2.431x as long as", "be 41.0 % slower than"; `limit`: "at most ", or "". */
const char *iwi_be_slower_text(double slowdown, const char *limit, char buf[IWI_PHRASE_SIZE]);

/* A network by its name, where "of" or "on" stands before it: "chic"; "chic with changed costs" of
 * "chic, changed"; "a network without costs" of "none". */
const char *iwi_net_words(const char *name, char buf[IWI_PHRASE_SIZE]);

/* A bar of up to `columns` columns for a share of 1, in eighths of a column; returns how many it takes. */
int iwi_write_bar(FILE *out, double share, int columns);

/* ---- tables ---- */
extern const struct iwi_schema iwi_source_schema;      /* iw_source: "class" and "name" */
extern const struct iwi_schema iwi_caveats_schema;     /* iw_caveats: "caveats", to be inlined */
extern const struct iwi_schema iwi_memory_schema;      /* iw_memory */
extern const struct iwi_schema iwi_remedy_schema;      /* iw_remedy: what helps against a source */
extern const struct iwi_schema iwi_wall_window_schema; /* iw_wall_window */
extern const struct iwi_schema iwi_sensitivity_schema; /* iw_sensitivity */

/* Names of enums for tables: NULL behind the last. */
const char *iwi_class_at(unsigned kind);
const char *iwi_probe_at(unsigned probe);
const char *iwi_attribution_level_at(unsigned level);

/* ---- numbers for people, three digits, at most seven columns: "2.10 us", "1.23k/s", "<.001 %" ---- */
const char *iwi_ns_short_text(double ns, char buf[IWI_NUMBER_SIZE]);
const char *iwi_rate_text(double per_second, char buf[IWI_NUMBER_SIZE]);
const char *iwi_share_text(double share, char buf[IWI_NUMBER_SIZE]);
const char *iwi_count_text(uint64_t count, char buf[IWI_NUMBER_SIZE]);

/* As short as it can be, for round values: "60 s", "4 ms". */
const char *iwi_ns_round_text(double ns, char buf[IWI_NUMBER_SIZE]);

/* `name` fit for a terminal, in `columns` columns at most: control characters and what is not ASCII become
 * '?', the end of what is too long "..". Returns `buf`. */
enum { IWI_NAME_SIZE = 80 };
const char *iwi_plain_name(const char *name, size_t columns, char buf[IWI_NAME_SIZE]);

/* All of it, to be wrapped. */
const char *iwi_plain_text(const char *text, char buf[IWI_PARAGRAPH_SIZE]);

/* Name of a source: its class where it has none. */
const char *iwi_source_name(const iw_source *source);

/* ---- ranks, lengths, bounds ---- */

/* "1,048,576" */
const char *iwi_ranks_text(uint64_t ranks, char buf[IWI_NUMBER_SIZE]);

/* The same for estimates, with three significant digits: "291", "4,930", "123,000", "12.3 M". */
const char *iwi_about_ranks_text(double ranks, char buf[IWI_NUMBER_SIZE]);

/* "10 s", "40 min", "3 h", "2 days": lengths of recordings, two digits. */
const char *iwi_length_text(double seconds, char buf[IWI_NUMBER_SIZE]);

/* A lower bound: there is a lower end, and no upper one. */
static inline bool iwi_is_bound(iw_estimate e)
{
    return !isnan(e.low) && !isfinite(e.high);
}

/* The number that people get, and what tables are sorted and drawn by: of a bound that, else the value. */
static inline double iwi_shown(iw_estimate e)
{
    return iwi_is_bound(e) ? e.low : e.value;
}

/* Of a bound: " takes at least 2.3x as long as without noise: "; of too few trials to have one, what
 * they say: " takes 2.3x as long as without noise, counting recorded events only: ". `without`: "noise". */
void iwi_append_bound(char paragraph[IWI_PARAGRAPH_SIZE], iw_estimate slowdown, const char *without);

/* "If the recording missed three interruptions of 10 ms (in 20 s of CPU time), the job would take 26.4x as
 * long as without noise (mean of 20 trials)." Nothing where the recording watched more than the job uses. */
void iwi_append_sensitivity(char paragraph[IWI_PARAGRAPH_SIZE], const iw_sensitivity *sensitivity);

/* ---- pages ---- */

/* Where no line is to be broken. */
enum iwi_breaks { IWI_BREAK_ANYWHERE, IWI_BREAK_NOT_AT_PERCENT, IWI_BREAK_AFTER_TO };

/* Text of a page as it reads, whatever is in it: markup is escaped, bytes that are no UTF-8 and control
 * characters become U+FFFD. */
void iwi_html_escape(FILE *out, const char *text, enum iwi_breaks breaks);
void iwi_html_text(FILE *out, const char *text); /* broken anywhere */

#endif
