/* Numbers and texts as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/csv.h"

#include <ctype.h>
#include <string.h>

#include "core/base/base.h"

void iwi_write_real(FILE *out, double value)
{
    char digits[32];
    char *comma;

    snprintf(digits, sizeof digits, "%.15g", value);
    comma = strchr(digits, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    (void)fputs(digits, out);
}

bool iwi_csv_needs_quotes(const char *text)
{
    bool is_odd = false;

    for (; *text != '\0' && !is_odd; text++) {
        is_odd = *text == ',' || *text == '"' || iscntrl((unsigned char)*text);
    }
    return is_odd;
}

void iwi_write_csv_field(FILE *out, const char *text)
{
    if (!iwi_csv_needs_quotes(text)) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            (void)fputc('"', out);
        }
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}
