/* Numbers and texts as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/csv.h"

#include <string.h>

#include "core/base/base.h"
#include "core/base/utf8.h"

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

/* Spreadsheets compute what begins so; "-" alone is no formula. */
static bool is_formula(const char *text)
{
    return text[0] != '\0' && text[1] != '\0' && strchr("=+-@", text[0]) != NULL;
}

void iwi_csv_put(const char *text, iwi_csv_put_fn put, void *arg)
{
    const bool is_quoted = strpbrk(text, ",\"") != NULL;

    put(arg, "\"", is_quoted);
    put(arg, "'", is_formula(text));
    for (size_t size; *text != '\0'; text += size) {
        bool is_plain;

        size = iwi_utf8_plain_size(text, &is_plain);
        put(arg, "\"", *text == '"');
        put(arg, is_plain ? text : "?", is_plain ? size : 1);
    }
    put(arg, "\"", is_quoted);
}

static void put_to_file(void *out, const char *bytes, size_t count)
{
    (void)fwrite(bytes, 1, count, out);
}

void iwi_write_csv_field(FILE *out, const char *text)
{
    iwi_csv_put(text, put_to_file, out);
}
