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

/* Adds how ranks meet the CPUs of recordings: "ranks_per_node", "recorded_cpus" and, where only some are
 * used, "noise_cpus"; nothing where nothing is recorded. */
void iwi_json_add_nodes(json_t *object, uint64_t ranks_per_node, uint64_t recorded_cpus,
                        const iw_cpu_set *cpus);

/* Writes an object and a newline, and lets it go; NULL: there was no memory for it. `what`: for messages. */
IW_NODISCARD iw_status iwi_json_write(const iw_log *log, json_t *object, FILE *out, const char *what);

/* Reads a file of JSON. IW_ERR_IO, IW_ERR_FORMAT. */
IW_NODISCARD iw_status iwi_json_load(const iw_log *log, const char *path, json_t **object_p);

/* Whether there is a file of JSON whose "schema" begins so: "idlewave.bench/". */
bool iwi_json_has_schema(const char *path, const char *beginning);

#endif
