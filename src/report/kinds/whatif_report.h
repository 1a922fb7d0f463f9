/* What the reports of a what-if share: the object of schema "idlewave.whatif/1", made from an answer or read
 * from a file, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WHATIF_REPORT_H
#define IWI_WHATIF_REPORT_H

#include <idlewave/whatif.h>
#include <jansson.h>

#include "report/kinds/report.h"

/* *object_p is to be released by json_decref(). */
IW_NODISCARD iw_status iwi_whatif_new(const iw_log *log, const iw_whatif *whatif,
                                      const iw_whatif_origin *origin, json_t **object_p);

/* What iw_whatif_write_json() has written; the numbers that all writers need are there. IW_ERR_IO,
 * IW_ERR_FORMAT. */
IW_NODISCARD iw_status iwi_whatif_load(const iw_log *log, const char *path, json_t **object_p);

/* ---- values; files may lack any of them ---- */

/* Of "now", or of "slowdown" or "saving" of a change; NaN where there is none. */
iw_estimate iwi_whatif_estimate(const json_t *object, const char *key);

/* The changes of one kind ("source") or, with NULL, of all, the largest saving first; NULL behind the last.
 */
const json_t *iwi_whatif_change(const json_t *whatif, const char *kind, size_t index);

/* ---- words ---- */

enum { IWI_ESTIMATE_SIZE = 96, IWI_CHANGE_NAME_SIZE = 112 };

/* "7.10 % (6.20 % to 8.00 %)", without the brackets where it is exact or has no interval. */
const char *iwi_whatif_slowdown_text(iw_estimate estimate, char buf[IWI_ESTIMATE_SIZE]);

/* A saving in points of percent: "5.40 points (4.60 to 6.10)". */
const char *iwi_whatif_points_text(iw_estimate estimate, char buf[IWI_ESTIMATE_SIZE]);

/* "irq/eno1", "all of class irq", "all noise", "all nodes at the same time". */
const char *iwi_whatif_change_name(const json_t *change, char buf[IWI_CHANGE_NAME_SIZE]);

/* "move the interrupt: write the CPUs ...": of the object "remedy". */
void iwi_whatif_append_remedy(const json_t *remedy, char paragraph[IWI_PARAGRAPH_SIZE]);

/* What it comes to, for somebody who reads nothing else. */
void iwi_whatif_verdict(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);

/* Sentences on further questions; nothing is added where there is nothing to say. */
void iwi_whatif_interaction(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_whatif_order(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_whatif_target(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_whatif_reserve(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_whatif_together(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);
void iwi_whatif_certainty(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE]);

/* A saving that is more than chance: its interval lies above 0. */
bool iwi_whatif_is_worth_it(const json_t *change);

/* The same as CSV. */
void iwi_write_whatif_csv(const json_t *whatif, FILE *out);

/* What `whatif` prints. */
void iwi_write_whatif_text(const json_t *whatif, FILE *out);

#endif
