/* Text and tables of HTML pages, escaped.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/text/words.h"

void iwi_html_prose(FILE *out, const char *text)
{
    iwi_html_escape(out, text, IWI_BREAK_NOT_AT_PERCENT);
}

static void format_list(FILE *out, enum iwi_breaks breaks, const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) >= 0) {
        iwi_html_escape(out, text, breaks);
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
    format_list(out, IWI_BREAK_NOT_AT_PERCENT, format, args);
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
    format_list(out, IWI_BREAK_NOT_AT_PERCENT, format, args);
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
                kind == IWI_CELL_NUMBER || kind == IWI_CELL_ROW_HEAD ? IWI_BREAK_AFTER_TO
                                                                     : IWI_BREAK_NOT_AT_PERCENT,
                format, args);
    va_end(args);
    (void)fputs(kind == IWI_CELL_NUMBER || kind == IWI_CELL_WORDS ? "</td>" : "</th>", out);
}
