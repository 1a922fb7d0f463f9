/* Writes texts in the quotes of YAML, with what these need to be escaped.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/yaml_text.h"

#include <inttypes.h>

#include "core/base/base.h"
#include "core/base/utf8.h"

/* Line breaks of all kinds, and what YAML does not take as it is. */
static bool needs_escape(uint32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static void write_character(FILE *out, const char *bytes, size_t size, uint32_t code)
{
    if (code == '"' || code == '\\') {
        (void)fprintf(out, "\\%c", (char)code);
    } else if (needs_escape(code)) {
        (void)fprintf(out, "\\u%04" PRIx32, code);
    } else {
        (void)fwrite(bytes, 1, size, out);
    }
}

void iwi_yaml_write_text(FILE *out, const char *text, size_t most_bytes)
{
    (void)fputc('"', out);
    for (size_t done = 0; *text != '\0';) {
        uint32_t code = 0xfffd;
        const size_t size = iwi_utf8_size(text, &code);
        const size_t read_back = size != 0 ? size : sizeof IWI_UTF8_REPLACEMENT - 1;

        done += read_back;
        if (done > most_bytes) {
            break;
        }
        write_character(out, size != 0 ? text : IWI_UTF8_REPLACEMENT, read_back, code);
        text += size != 0 ? size : 1;
    }
    (void)fputc('"', out);
}
