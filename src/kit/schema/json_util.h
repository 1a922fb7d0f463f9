/* Values of JSON that all writers make alike.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JSON_UTIL_H
#define IWI_JSON_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <idlewave/log.h>
#include <idlewave/noise.h>

/* Whole numbers are written without a decimal point, what is no number as null. */
json_t *iwi_json_number(double value);
json_t *iwi_json_count(uint64_t value);

/* Paths need not be UTF-8, JSON must be: bytes that are not ASCII are replaced where the whole is no UTF-8.
 */
json_t *iwi_json_text(const char *string);

/* Writes an object and a newline, and lets it go; NULL: there was no memory for it. `what`: for messages. */
IW_NODISCARD iw_status iwi_json_write(const iw_log *log, json_t *object, FILE *out, const char *what);

/* Whether there is a file of JSON whose "schema" begins so: "idlewave.bench/". */
bool iwi_json_has_schema(const char *path, const char *beginning);

#endif
