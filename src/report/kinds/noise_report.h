/* What the writers of recordings share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_REPORT_H
#define IWI_NOISE_REPORT_H

#include <idlewave/analysis.h>

#include "report/kinds/report.h"
#include "schema/schema.h"

/* ---- tables ---- */
extern const struct iwi_schema iwi_source_schema; /* iw_source: "class" and "name" */

/* Names of enums for tables: NULL behind the last. */
const char *iwi_class_at(unsigned kind);
const char *iwi_probe_at(unsigned probe);
const char *iwi_rung_at(unsigned rung);

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

#endif
