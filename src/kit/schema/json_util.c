/* Numbers and strings as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/json_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/output.h"

/* Fifteen digits show every decimal fraction as it was meant (130.2, not 130.19999999999999) and are exact
 * to the picosecond below 1000 s, in nanoseconds; longer times take all seventeen. */
enum { REAL_DIGITS = 15, LONG_DIGITS = 17 };
#define LONG_NS 1e12

json_t *iwi_json_number(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    if (value == floor(value) && fabs(value) < 0x1p53) {
        return json_integer((json_int_t)value);
    }
    return json_real(value);
}

json_t *iwi_json_text(const char *string)
{
    json_t *value = json_string(string);
    char *ascii;

    if (value != NULL || (ascii = strdup(string)) == NULL) {
        return value;
    }
    for (char *c = ascii; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    value = json_string(ascii);
    free(ascii);
    return value;
}

json_t *iwi_json_count(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static bool has_long_times(const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_real(json)) {
        return fabs(json_real_value(json)) >= LONG_NS;
    }
    json_array_foreach(json, i, value)
    {
        if (has_long_times(value)) {
            return true;
        }
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, value) /* the library's iterator is not const */
    {
        if (has_long_times(value)) {
            return true;
        }
    }
    return false;
}

iw_status iwi_json_write(const iw_log *log, json_t *object, FILE *out, const char *what)
{
    if (object == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for %s", what);
    }
    if (json_dumpf(object, out,
                   JSON_INDENT(2) | JSON_REAL_PRECISION(
                                        (size_t)(has_long_times(object) ? LONG_DIGITS : REAL_DIGITS))) == 0) {
        (void)fputc('\n', out);
    }
    json_decref(object);
    return iwi_check_written(log, out, what);
}

bool iwi_json_has_schema(const char *path, const char *beginning)
{
    json_t *object = json_load_file(path, 0, NULL);
    const char *schema = json_string_value(json_object_get(object, "schema"));
    const bool has_it = schema != NULL && strncmp(schema, beginning, strlen(beginning)) == 0;

    json_decref(object);
    return has_it;
}
