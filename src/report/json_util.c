/* Numbers and strings as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/json_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

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
