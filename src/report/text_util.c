/* Numbers and paragraphs for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/base.h"

/* Columns that UTF-8 text takes: its code points (nothing here is double width). */
static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++) {
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* Lines begin at column `from`; something has been written up to there already. */
static void write_wrapped_from(FILE *out, const char *text, int from)
{
    const size_t first = (size_t)from;
    size_t column = first;

    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        const size_t columns = columns_of(text, length);

        if (column > first && column + 1 + columns > IWI_TEXT_COLUMNS) {
            (void)fprintf(out, "\n%*s", from, "");
            column = first;
        } else if (column > first) {
            (void)fputc(' ', out);
            column++;
        }
        (void)fwrite(text, 1, length, out);
        column += columns;
        text += length + (text[length] == ' ');
    }
    (void)fputc('\n', out);
}

void iwi_write_wrapped(FILE *out, const char *text)
{
    write_wrapped_from(out, text, 0);
}

void iwi_write_item(FILE *out, const char *text)
{
    (void)fputs("- ", out);
    write_wrapped_from(out, text, 2);
}

/* Three significant digits, and no fewer than two decimals below 10 %: "0.41 %", "3.20 %", "87.5 %". */
const char *iwi_percent_text(double share, char buf[IWI_NUMBER_SIZE])
{
    snprintf(buf, IWI_NUMBER_SIZE, "%.*f %%", fabs(share) < 0.1 ? 2 : 1, 100.0 * share);
    return buf;
}

/* Four significant digits: "1.482", "147.8", "12345". */
const char *iwi_factor_text(double factor, char buf[IWI_NUMBER_SIZE])
{
    snprintf(buf, IWI_NUMBER_SIZE, "%.*f",
             factor < 10.0 ? 3 : (factor < 100.0 ? 2 : (factor < 1000.0 ? 1 : 0)), factor);
    return buf;
}

const char *iwi_si_text(double value, char buf[IWI_NUMBER_SIZE])
{
    static const char *const prefixes[] = {"", "k ", "M ", "G ", "T "};
    size_t i = 0;

    while (value >= 999.5 && i < 4) {
        value /= 1000.0;
        i++;
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%.3g %s", value, prefixes[i]);
    return buf;
}

const char *iwi_time_text(double ps, char buf[IWI_NUMBER_SIZE])
{
    return iw_format_time((iw_time)llround(ps), buf, IWI_NUMBER_SIZE);
}

void iwi_append(char paragraph[IWI_PARAGRAPH_SIZE], const char *format, ...)
{
    const size_t used = strlen(paragraph);
    va_list args;

    va_start(args, format);
    vsnprintf(paragraph + used, IWI_PARAGRAPH_SIZE - used, format, args);
    va_end(args);
}
