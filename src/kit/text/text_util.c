/* Numbers and paragraphs for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/text/words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/base.h"

/* Columns that UTF-8 text takes: its code points (nothing here is double width). */
static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++) {
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* Bytes up to the blank at which a line may end; not between a number and its '%'. */
static size_t unbroken_length(const char *text)
{
    size_t length = strcspn(text, " ");

    while (strncmp(text + length, " %", 2) == 0) {
        length += 1 + strcspn(text + length + 1, " ");
    }
    return length;
}

/* Words that are wider than a line are not broken: they may be paths to be copied. */
static void write_wrapped(FILE *out, const char *text, size_t indent)
{
    size_t column = indent;
    bool is_begun = false; /* no blank before the first word of a line */

    while (*text != '\0') {
        const size_t length = unbroken_length(text);
        const size_t wide = columns_of(text, length);

        if (is_begun && column + 1 + wide > IWI_TEXT_COLUMNS) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (is_begun) {
            (void)fputc(' ', out);
            column++;
        }
        is_begun = true;
        (void)fwrite(text, 1, length, out);
        column += wide;
        text += length + (text[length] == ' ');
    }
    (void)fputc('\n', out);
}

void iwi_write_wrapped(FILE *out, const char *text)
{
    write_wrapped(out, text, 0);
}

void iwi_write_item(FILE *out, const char *text)
{
    (void)fputs("- ", out);
    write_wrapped(out, text, 2);
}

/* U+2588 is a full block, U+258F one eighth. */
int iwi_write_bar(FILE *out, double share, int columns)
{
    const int eighths = (int)lround(fmin(fmax(share, 0.0), 1.0) * columns * 8);

    for (int i = 0; i < eighths / 8; i++) {
        (void)fputs("\xe2\x96\x88", out);
    }
    if (eighths % 8 > 0) {
        (void)fprintf(out, "\xe2\x96%c", 0x90 - eighths % 8);
    }
    return (eighths + 7) / 8;
}

/* Three significant digits, and no fewer than two decimals below 10 %: "0.41 %", "3.20 %", "87.5 %". What is
 * too small for a digit has no sign either. */
const char *iwi_percent_text(double share, char buf[IWI_NUMBER_SIZE])
{
    const double percent = fabs(100.0 * share) < 0.005 ? 0.0 : 100.0 * share;

    snprintf(buf, IWI_NUMBER_SIZE, "%.*f %%", fabs(share) < 0.1 ? 2 : 1, percent);
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

const char *iwi_ns_time_text(double ns, char buf[IWI_NUMBER_SIZE])
{
    const double ps = round(ns * 1e3);

    if (!(fabs(ps) < 9e18)) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
        return buf;
    }
    return iw_format_time((iw_time)ps, buf, IWI_NUMBER_SIZE);
}

void iwi_append(char paragraph[IWI_PARAGRAPH_SIZE], const char *format, ...)
{
    const size_t used = strlen(paragraph);
    va_list args;

    va_start(args, format);
    vsnprintf(paragraph + used, IWI_PARAGRAPH_SIZE - used, format, args);
    va_end(args);
}
