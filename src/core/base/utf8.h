/* Characters of text that may be no UTF-8.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_UTF8_H
#define IWI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* U+FFFD, for what is none. */
#define IWI_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the UTF-8 character that begins there, and its code; 0: it is none. */
size_t iwi_utf8_size(const char *text, uint32_t *code_p);

/* Bytes of what begins there, at least 1; *is_plain_p: a character that terminals print and do not obey. */
size_t iwi_utf8_plain_size(const char *text, bool *is_plain_p);

/* In place: ends of lines and tabs become blanks, and all else that is not plain '?'. */
void iwi_utf8_clean(char *text);

#endif
