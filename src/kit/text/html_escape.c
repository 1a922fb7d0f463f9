/* Text of HTML pages and of SVG, escaped.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "core/base/utf8.h"
#include "kit/text/words.h"

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

static bool is_fixed_space(const char *text, const char *at, enum iwi_breaks breaks)
{
    if (*at != ' ') {
        return false;
    }
    if (breaks == IWI_BREAK_AFTER_TO) {
        return at < text + 2 || at[-2] != 't' || at[-1] != 'o';
    }
    return breaks == IWI_BREAK_NOT_AT_PERCENT && at > text && at[-1] >= '0' && at[-1] <= '9' && at[1] == '%';
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

void iwi_html_escape(FILE *out, const char *text, enum iwi_breaks breaks)
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
    iwi_html_escape(out, text, IWI_BREAK_ANYWHERE);
}
