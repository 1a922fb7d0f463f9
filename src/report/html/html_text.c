/* Text and tables of HTML pages, escaped.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/utf8.h"
#include "report/kinds/report.h"

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

static const char *entity(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

/* Where no line is to be broken. */
enum breaks { BREAK_ANYWHERE, BREAK_NOT_AT_PERCENT, BREAK_AFTER_TO };

static bool is_fixed_space(const char *text, const char *at, enum breaks breaks)
{
    if (*at != ' ') {
        return false;
    }
    if (breaks == BREAK_AFTER_TO) {
        return at < text + 2 || at[-2] != 't' || at[-1] != 'o';
    }
    return breaks == BREAK_NOT_AT_PERCENT && at > text && at[-1] >= '0' && at[-1] <= '9' && at[1] == '%';
}

/* Bytes that are written as they are, whatever the breaks. */
static size_t plain_length(const char *text)
{
    size_t length = 0;

    while (text[length] > ' ' && text[length] < 0x7f && entity((unsigned char)text[length]) == NULL) {
        length++;
    }
    return length;
}

static void write_text(FILE *out, const char *text, enum breaks breaks)
{
    const char *at = text + plain_length(text);

    (void)fwrite(text, 1, (size_t)(at - text), out);
    while (*at != '\0') {
        uint32_t code;
        const size_t size = iwi_utf8_size(at, &code);
        const char *escaped = entity((unsigned char)*at);
        size_t plain;

        if (escaped != NULL) {
            (void)fputs(escaped, out);
        } else if (size == 0 || is_control((unsigned char)*at)) {
            (void)fputs(IWI_UTF8_REPLACEMENT, out);
        } else if (is_fixed_space(text, at, breaks)) {
            (void)fputs("&nbsp;", out);
        } else {
            (void)fwrite(at, 1, size, out);
        }
        at += size > 0 ? size : 1;
        plain = plain_length(at);
        (void)fwrite(at, 1, plain, out);
        at += plain;
    }
}

void iwi_html_text(FILE *out, const char *text)
{
    write_text(out, text, BREAK_ANYWHERE);
}

void iwi_html_prose(FILE *out, const char *text)
{
    write_text(out, text, BREAK_NOT_AT_PERCENT);
}

static void format_list(FILE *out, enum breaks breaks, const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) >= 0) {
        write_text(out, text, breaks);
        free(text);
    }
}

void iwi_html_section(FILE *out, const char *id, const char *title)
{
    (void)fprintf(out, "<h2 id=\"%s\">", id);
    iwi_html_text(out, title);
    (void)fputs("</h2>\n", out);
}

void iwi_html_paragraph(FILE *out, const char *class_name, const char *format, ...)
{
    va_list args;

    if (class_name != NULL) {
        (void)fprintf(out, "<p class=\"%s\">", class_name);
    } else {
        (void)fputs("<p>", out);
    }
    va_start(args, format);
    format_list(out, BREAK_NOT_AT_PERCENT, format, args);
    va_end(args);
    (void)fputs("</p>\n", out);
}

/* ---- tables ---- */

void iwi_html_table_begin(FILE *out, const char *caption)
{
    (void)fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    iwi_html_text(out, caption);
    (void)fputs("\">\n<table><caption><span>", out);
    iwi_html_text(out, caption);
    (void)fputs("</span></caption>\n<thead><tr>", out);
}

void iwi_html_table_body(FILE *out)
{
    (void)fputs("</tr></thead>\n<tbody>\n", out);
}

void iwi_html_table_end(FILE *out)
{
    (void)fputs("</tbody></table>\n</div>\n", out);
}

void iwi_html_head(FILE *out, bool is_words, const char *format, ...)
{
    va_list args;

    (void)fputs(is_words ? "<th scope=\"col\" class=\"words\">" : "<th scope=\"col\">", out);
    va_start(args, format);
    format_list(out, BREAK_NOT_AT_PERCENT, format, args);
    va_end(args);
    (void)fputs("</th>", out);
}

void iwi_html_row_begin(FILE *out)
{
    (void)fputs("<tr>", out);
}

void iwi_html_row_end(FILE *out)
{
    (void)fputs("</tr>\n", out);
}

void iwi_html_cell(FILE *out, enum iwi_html_cell kind, const char *format, ...)
{
    static const char *const begins[] = {
        [IWI_CELL_NUMBER] = "<td>",
        [IWI_CELL_WORDS] = "<td class=\"words\">",
        [IWI_CELL_ROW_HEAD] = "<th scope=\"row\">",
        [IWI_CELL_ROW_HEAD_WORDS] = "<th scope=\"row\" class=\"words\">",
    };
    va_list args;

    (void)fputs(begins[kind], out);
    va_start(args, format);
    format_list(out,
                kind == IWI_CELL_NUMBER || kind == IWI_CELL_ROW_HEAD ? BREAK_AFTER_TO : BREAK_NOT_AT_PERCENT,
                format, args);
    va_end(args);
    (void)fputs(kind == IWI_CELL_NUMBER || kind == IWI_CELL_WORDS ? "</td>" : "</th>", out);
}
