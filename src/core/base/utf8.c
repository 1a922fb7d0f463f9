/* Decodes UTF-8: the shortest form only, and no halves of pairs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/utf8.h"

#include <string.h>

size_t iwi_utf8_size(const char *text, uint32_t *code_p)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    const size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = size == 1 ? at[0] : at[0] & (0x7fU >> size);

    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3f);
    }
    if (size == 0 ||
        (size > 1 && (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)))) {
        return 0;
    }
    *code_p = code;
    return size;
}

size_t iwi_utf8_plain_size(const char *text, bool *is_plain_p)
{
    uint32_t code = 0;
    const size_t size = iwi_utf8_size(text, &code);

    *is_plain_p = size > 0 && (code >= 0xa0 || (code >= ' ' && code < 0x7f));
    return size > 0 ? size : 1;
}

void iwi_utf8_clean(char *text)
{
    for (size_t i = 0, size; text[i] != '\0'; i += size) {
        bool is_plain;

        size = iwi_utf8_plain_size(&text[i], &is_plain);
        if (!is_plain) {
            memset(&text[i], text[i] == '\n' || text[i] == '\t' ? ' ' : '?', size);
        }
    }
}
